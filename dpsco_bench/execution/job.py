"""A job: all cells and replicates of one claim part under one calibration. Pure function of its JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dpsco_bench.execution.calibrated import CalibratedCell, Calibrations
from dpsco_bench.execution.cell import Cell, located, without_places
from dpsco_bench.execution.measures import get_measure
from dpsco_bench.execution.results import CERTIFIED, DEMOTED, EXTRAS, FINAL, ROUNDED, build_block, join_blocks
from dpsco_bench.execution.reuse import Reuse
from dpsco_bench.execution.run import BLOCK_SCORES, Trace, make_objective, replicate_blocks, run_block
from dpsco_bench.execution.signals import signal_groups

Progress = Callable[[int, int], None]
Block = dict[str, Any]
"""Columns of some rows of a cell: arrays, or one value for all."""
FINEST_CERTIFICATE = 1e-12
PLACES = ("data_root", "plugins")
"""Keys of a job that say where things are; results do not store them."""


def execute(
    job: Mapping[str, Any], calibrations: Calibrations, progress: Progress = lambda done, all: None
) -> pa.Table:
    """Run a job.

    Parameters
    ----------
    job : mapping
        A resolved job of the plan: ``cells``, ``calibration``, ``replicates``, ``data_sets``, ``seed``, ``backend``,
        ``dtype``, ``record``, ``evaluation`` and its identity.
    calibrations : tuple
        As the calibration step wrote it, one entry per cell.
    progress : callable
        Called with cells done and cells in all.

    Returns
    -------
    pyarrow.Table
        Rows of `results.RESULT_SCHEMA`, with the job and its calibrations as metadata.
    """
    if job.get("skipped"):
        return join_blocks([], {"job": {"skipped": job["skipped"]}, "calibrations": []})
    tables: list[pa.Table] = []
    done, reuse = 0, Reuse(job["seed"])
    entries = zip(job["cells"], calibrations, strict=True)
    known = [(entry, found) for entry, found in entries if isinstance(found, CalibratedCell)]
    for group in signal_groups(known):
        cells = [located(entry, job["data_root"]) for entry, _ in group]
        make = _closed_form if job.get("evaluation") == "closed_form" else partial(_run, reuse=reuse)
        for cell, (_, calibrated), found in zip(cells, group, make(job, cells, group[0][1]), strict=True):
            columns = _cell_columns(job, cell, calibrated)
            tables.extend(build_block(_merged(columns, block)) for block in found)
        done += len(group)
        progress(done, len(job["cells"]))
    stored = {key: value for key, value in job.items() if key not in PLACES}
    stored["cells"] = [without_places(entry) for entry in job["cells"]]
    return join_blocks(tables, {"job": stored, "calibrations": calibrations})


def _merged(columns: Mapping[str, Any], block: Mapping[str, Any]) -> dict[str, Any]:
    """A block with its cell's columns; the warnings of both."""
    said, own = columns["warnings"], block["warnings"]
    if isinstance(own, np.ndarray):
        return {**columns, **block, "warnings": np.array([_joined(said, text) for text in own], dtype=object)}
    return {**columns, **block, "warnings": _joined(said, own)}


def _joined(*warnings: str) -> str:
    return "; ".join(text for text in warnings if text)


def _cell_columns(job: Mapping[str, Any], cell: Cell, calibrated: CalibratedCell) -> dict[str, Any]:
    delta_large = cell.delta >= 1.0 / cell.n
    warnings = ["delta >= 1/n"] * delta_large + list(calibrated.warnings)
    return {
        "claim": job["claim"],
        "part": job["part"],
        "calibration": job["calibration"],
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
        "epsilon_real": calibrated.epsilon_real,
        "epsilon_real_kind": calibrated.epsilon_real_kind,
        "privacy_status": calibrated.privacy_status,
        "accountant": calibrated.accountant,
        "delta_large": delta_large,
        "warnings": "; ".join(warnings),
        **calibrated.law,
    }


def _run(job: Mapping[str, Any], cells: Sequence[Cell], calibrated: CalibratedCell, reuse: Reuse) -> list[list[Block]]:
    """Rows of each cell of a group, at as many signals at once as memory allows (one, where the problem says so)."""
    problem = cells[0].problem_entry
    row_size = problem.row_size(cells[0].n)
    several = cells[0].signal is not None and problem.with_signals(np.array([cells[0].signal])) is not None
    size = max(1, BLOCK_SCORES // row_size) if several else 1
    chunks = [cells[first : first + size] for first in range(0, len(cells), size)]
    return [blocks for chunk in chunks for blocks in _run_chunk(job, chunk, calibrated, row_size, several, reuse)]


def _run_chunk(
    job: Mapping[str, Any],
    cells: Sequence[Cell],
    calibrated: CalibratedCell,
    row_size: int,
    several: bool,
    reuse: Reuse,
) -> list[list[Block]]:
    found: list[list[Block]] = [[] for _ in cells]
    cell = cells[0]
    plan = calibrated.plan_for(cell)
    signals = [float(other.signal) for other in cells if other.signal is not None] if several else []
    for data_set in range(job["data_sets"]):
        data = reuse.data(cell, data_set)
        for first, count in replicate_blocks(row_size * len(cells), job["replicates"]):
            trace = run_block(
                cell,
                plan,
                calibrated.scales,
                data,
                root_seed=job["seed"],
                data_set=data_set,
                first_replicate=first,
                replicates=count,
                backend=job["backend"],
                dtype=job["dtype"],
                record=job.get("record"),
                signals=signals,
                rounds=job.get("rounds", ""),
                reuse=reuse,
            )
            for number, blocks in enumerate(found):
                part = slice(number * count, (number + 1) * count)
                blocks.append({**_block(trace, data_set, first, part), **_demoted(trace, part, calibrated)})
    return found


def _block(trace: Trace, data_set: int, first: int, part: slice) -> Block:
    """Rows of the replicates of one signal, which are the ``part`` of a trace, checkpoints of a replicate together."""
    risk = trace.risk[part]
    replicates, checkpoints = risk.shape
    extras = {name: np.full((replicates, checkpoints), math.nan) for name in trace.extras}
    for name, values in trace.extras.items():
        extras[name][:, -1] = values[part]
    return {
        "data_set": data_set,
        "replicate": np.repeat(first + np.arange(replicates), checkpoints),
        "checkpoint": np.tile([*range(checkpoints - 1), FINAL], replicates),
        "gradient_evaluations": trace.evaluations[part].ravel(),
        "risk": risk.ravel(),
        "start_risk": np.repeat(trace.start_risk[part], checkpoints),
        "warnings": _exactness(trace, part),
        EXTRAS: {name: values.ravel() for name, values in extras.items()},
    }


def _demoted(trace: Trace, part: slice, calibrated: CalibratedCell) -> Block:
    """Privacy columns of a block in which some replicates have lost their plan's proof; empty where none has."""
    lost = np.repeat(trace.demoted[part], trace.risk.shape[1])
    if not lost.any() or calibrated.privacy_status == "none":
        return {}
    return {
        "epsilon_real": np.where(lost, math.nan, calibrated.epsilon_real),
        "privacy_status": np.where(lost, DEMOTED, calibrated.privacy_status),
        "sampler_status": np.where(lost, DEMOTED, calibrated.sampler_status),
    }


def _exactness(trace: Trace, part: slice) -> str | np.ndarray:
    """What each row says about its minimiser: the certificate, and whether rounding stopped it too early."""
    text, rounded = _certificate(trace.certificate), np.repeat(trace.rounded[part], trace.risk.shape[1])
    return np.where(rounded, f"{text}; {ROUNDED}", text) if rounded.any() else text


def _certificate(gradient_norm: float | None) -> str:
    """How exact a minimiser is: a power of ten, and 1e-12 for all that is better, so that no rounding error shows."""
    if gradient_norm is None:
        return ""
    power = math.ceil(math.log10(max(gradient_norm, FINEST_CERTIFICATE)))
    return f"{CERTIFIED}: gradient below 1e{power:d} of the linear term and G"


def _closed_form(job: Mapping[str, Any], cells: Sequence[Cell], calibrated: CalibratedCell) -> list[list[Block]]:
    """One row a cell: the exact expectation that the problem knows for the algorithm."""
    measure = get_measure(cells[0].algorithm_entry.measure)
    found: list[list[Block]] = []
    for cell in cells:
        entry = cell.problem_entry
        known = (cell.algorithm_entry.id, calibrated.schedule, calibrated.scales)
        risk = measure.closed_form(entry, *known)
        extras = {name: np.array([value]) for name, value in entry.expected_extras(*known).items()}
        objective = make_objective(cell, cell.draw_data(job["seed"], 0), (job["seed"], 0, 0, 1))
        block = {
            "data_set": 0,
            "replicate": 0,
            "checkpoint": FINAL,
            "gradient_evaluations": float(calibrated.gradient_evaluations),
            "risk": np.array([risk]),
            "start_risk": measure.at_start(objective)[:1],
            "warnings": entry.closed_form_remark,
            "sampler_status": "",  # nothing is drawn
            EXTRAS: extras,
        }
        found.append([block])
    return found
