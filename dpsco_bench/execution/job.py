"""Compute a job: a pure function of the job and its calibrations, in units that may be shared out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa

from dpsco_bench.execution.cell import (
    EPSILON_VALUES,
    CalibratedCell,
    Calibrations,
    Cell,
    ChargedCell,
    epsilons,
    located,
    without_places,
)
from dpsco_bench.execution.jobs import CLOSED_FORM, RUN, Block, Job, Metering, Progress
from dpsco_bench.execution.results import CERTIFIED, DEMOTED, EXTRAS, FINAL, ROUNDED, Columns, build_block, join_blocks
from dpsco_bench.execution.run import (
    BLOCK_SCORES,
    Reuse,
    Trace,
    get_measure,
    make_objective,
    replicate_blocks,
    run_block,
    signal_groups,
)
from dpsco_bench.plain import Plain
from dpsco_bench.registry import Registry

FINEST_CERTIFICATE = 1e-12
Evaluate = Callable[[Job, Cell, CalibratedCell], Columns]
"""Takes a cell of a job that is not run; gives what the cell's row has of its own: its risk, warnings and extras."""
AUDIT, AUDIT_OUTPUT = "audit", "audit_output"
EVALUATIONS: Registry[Evaluate] = Registry("evaluation", "evaluations", core="audit")


@dataclass(frozen=True)
class Unit:
    """The least piece of a job: cells run at once, on one data set, for ``count`` replicates from ``first`` on."""

    chunk: tuple[ChargedCell, ...]
    data_set: int = 0
    first: int = 0
    count: int = 1


def execute(
    job: Job,
    calibrations: Calibrations,
    progress: Progress = lambda done, all: None,
    *,
    block: Block | None = None,
    share: tuple[int, int] = (0, 1),
    meter: Metering = lambda cells: nullcontext(),
    reuse: Reuse | None = None,
) -> pa.Table:
    """Run a job, or one of its blocks, or of that the ``share`` (number, of how many).

    Returns rows of `results.RESULT_SCHEMA`, with the job and its calibrations as metadata. The tables of all blocks, or
    of all shares of one, joined (`join_parts`), are those of the whole. ``progress`` is called with cells done and
    cells in all.
    """
    tables: list[pa.Table] = []
    reuse, run, (number, of) = reuse or Reuse(job.seed), job.evaluation == RUN, share
    for chunk, units in groupby(job_units(job, calibrations, block)[number::of], lambda unit: unit.chunk):
        with meter([cell.cell for cell, _ in chunk]):
            tables += map(build_block, _run(job, chunk, units, reuse) if run else [_evaluated(job, *chunk[0])])
        progress(chunk[-1][0].cell + 1, len(job.cells))
    return join_blocks(tables, job_metadata(job, calibrations))


def job_metadata(job: Job, calibrations: Calibrations) -> Plain:
    """Describe a result table: all that its numbers come from, without names and places."""
    stored = job.numbers([without_places(cell) for cell in job.cells])
    return {"job": {**stored, "key": job.key}, "calibrations": calibrations}


def job_units(job: Job, calibrations: Calibrations, block: Block | None = None) -> list[Unit]:
    """List the units of a job, or of one of its blocks, in the order of its rows; cells that were refused have none."""
    blocks = job.blocks if block is None else [block]
    kept = block.cells if block and block.cells else range(len(job.cells))
    charged = [
        (located(cell, job.data_root), found)
        for number, (cell, found) in enumerate(zip(job.cells, calibrations, strict=True))
        if isinstance(found, CalibratedCell) and number in kept
    ]
    if job.evaluation != RUN:
        return [Unit((one,)) for one in charged]
    return [unit for group in signal_groups(charged) for unit in _units(job, group, blocks)]


def _units(job: Job, group: Sequence[ChargedCell], blocks: Sequence[Block]) -> Iterator[Unit]:
    """Units of cells that may be run at once: as many signals as memory allows (one, where the problem says so)."""
    first = group[0][0]
    row_size = first.problem_entry.row_size(first.n)
    size = max(1, BLOCK_SCORES // row_size) if _several(first) else 1
    for chunk in (tuple(group[start : start + size]) for start in range(0, len(group), size)):
        for data_set in range(job.data_sets):
            for whole in blocks:
                for start, count in replicate_blocks(row_size * len(chunk), whole.count):
                    yield Unit(chunk, data_set, whole.first + start, count)


def _several(cell: Cell) -> bool:
    """Check whether cells that differ only in their signal can be run at once."""
    return cell.signal is not None and cell.problem_entry.with_signals(np.array([cell.signal])) is not None


def _cell_columns(job: Job, cell: Cell, calibrated: CalibratedCell) -> Columns:
    """Columns of a result that are the same in all rows of a cell."""
    delta_large = cell.delta >= 1.0 / cell.n
    warnings = ["delta >= 1/n"] * delta_large + list(calibrated.warnings)
    return {
        "claim": job.claim,
        "part": job.part,
        "calibration": job.calibration,
        "cell": cell.cell,
        "method": cell.method or cell.algorithm,
        "algorithm": cell.algorithm_entry.id,
        "variant": calibrated.variant,
        "problem": cell.problem,
        "n": cell.n,
        "d": cell.problem_entry.dimension,
        "parameter": cell.parameter,
        "value": float(cell.value),
        "planned_evaluations": float(calibrated.gradient_evaluations),
        "epsilon_claimed": float(cell.epsilon),
        "delta": float(cell.delta),
        **epsilons(calibrated),
        "privacy_status": calibrated.privacy_status,
        "accountant": calibrated.accountant,
        "delta_large": delta_large,
        "warnings": "; ".join(warnings),
        **calibrated.law,
    }


def _run(job: Job, chunk: Sequence[ChargedCell], units: Iterable[Unit], reuse: Reuse) -> Iterator[Columns]:
    """Rows of each cell of a chunk, in the order of the units."""
    cell, calibrated = chunk[0]
    plan = calibrated.plan_for(cell)
    signals = [float(other.signal) for other, _ in chunk if other.signal is not None] if _several(cell) else []
    how = {name: getattr(job, name) for name in ("backend", "dtype", "fused", "record", "rounds")}
    how |= {"root_seed": job.seed, "signals": signals, "reuse": reuse}
    traces = []
    for unit in units:
        how |= {"data_set": unit.data_set, "first_replicate": unit.first, "replicates": unit.count}
        data = reuse.data(cell, unit.data_set)
        traces.append((unit, run_block(cell, plan, calibrated.scales, data, **how)))
    for number, (other, charged) in enumerate(chunk):
        columns = _cell_columns(job, other, charged)
        for unit, trace in traces:
            part = slice(number * unit.count, (number + 1) * unit.count)
            yield _rows(columns, trace, part, unit)


def _rows(columns: Columns, trace: Trace, part: slice, unit: Unit) -> Columns:
    """Rows of the replicates of one signal, which are the ``part`` of a trace, checkpoints of a replicate together.

    Privacy is that of the cell's ``columns``, but for replicates that have lost their plan's proof.
    """
    risk = trace.risk[part]
    replicates, checkpoints = risk.shape
    extras = {name: np.full((replicates, checkpoints), math.nan) for name in trace.extras}
    for name, values in trace.extras.items():
        extras[name][:, -1] = values[part]
    said = columns["warnings"]
    if trace.certificate is not None:  # a power of ten, and 1e-12 for all that is better: no rounding error shows
        power = math.ceil(math.log10(max(trace.certificate, FINEST_CERTIFICATE)))
        certified = f"{CERTIFIED}: gradient below 1e{power:d} of the linear term and G"
        said = f"{said}; {certified}" if said else certified
    rounded, lost = (np.repeat(rows[part], checkpoints) for rows in (trace.rounded, trace.demoted))
    found = {
        **columns,
        "data_set": unit.data_set,
        "replicate": np.repeat(unit.first + np.arange(replicates), checkpoints),
        "checkpoint": np.tile([*range(checkpoints - 1), FINAL], replicates),
        "gradient_evaluations": trace.evaluations[part].ravel(),
        "risk": risk.ravel(),
        "start_risk": np.repeat(trace.start_risk[part], checkpoints),
        "warnings": np.where(rounded, f"{said}; {ROUNDED}", said) if rounded.any() else said,
        EXTRAS: {name: values.ravel() for name, values in extras.items()},
    }
    if lost.any() and columns["privacy_status"] != "none":
        found |= {name: np.where(lost, DEMOTED, columns[name]) for name in ("privacy_status", "sampler_status")}
        found |= {name: np.where(lost, math.nan, np.asarray(columns[name], np.float64)) for name in EPSILON_VALUES}
    return found


def _evaluated(job: Job, cell: Cell, calibrated: CalibratedCell) -> Columns:
    """Make the only row of a cell that is not run, at the gradients that are planned."""
    columns, found = _cell_columns(job, cell, calibrated), EVALUATIONS.get(job.evaluation)(job, cell, calibrated)
    at = {"data_set": 0, "replicate": 0, "checkpoint": FINAL, "gradient_evaluations": columns["planned_evaluations"]}
    warnings = "; ".join(filter(None, (columns["warnings"], found["warnings"])))
    return {**columns, **at, **found, "warnings": warnings}


def _closed_form(job: Job, cell: Cell, calibrated: CalibratedCell) -> Columns:
    """Compute the exact expectation that the problem knows for the algorithm."""
    entry, measure = cell.problem_entry, get_measure(cell.algorithm_entry.measure)
    known = (cell.algorithm_entry.law, calibrated.schedule, calibrated.scales)
    objective = make_objective(cell, cell.draw_data(job.seed, 0), (job.seed, 0, 0, 1))
    return {
        "risk": np.array([measure.closed_form(entry, *known)]),
        "start_risk": measure.at_start(objective)[:1],
        "warnings": entry.closed_form_remark,
        "sampler_status": "",  # nothing is drawn
        EXTRAS: {name: np.array([value]) for name, value in entry.expected_extras(*known).items()},
    }


EVALUATIONS.add(CLOSED_FORM, _closed_form, __name__)
