"""A job: all cells and replicates of one claim part under one calibration. Pure function of its JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from dpsco_bench.execution.cell import Cell, located, without_places
from dpsco_bench.execution.measures import get_measure
from dpsco_bench.execution.results import CERTIFIED, FINAL, build_table
from dpsco_bench.execution.run import Trace, replicate_blocks, run_block
from dpsco_bench.problems.objective import Objective

Progress = Callable[[int, int], None]
FINEST_CERTIFICATE = 1e-12
PLACES = ("data_root", "plugins")
"""Keys of a job that say where things are; results do not store them."""


def execute(
    job: Mapping[str, Any], calibrations: Mapping[str, Any], progress: Progress = lambda done, all: None
) -> pa.Table:
    """Run a job.

    Parameters
    ----------
    job : mapping
        A resolved job of the plan: ``cells``, ``calibration``, ``replicates``, ``data_sets``, ``seed``, ``backend``,
        ``dtype``, ``record``, ``evaluation`` and its identity.
    calibrations : mapping
        ``{"cells": [...]}`` as the calibration step wrote it, one entry per cell.
    progress : callable
        Called with cells done and cells in all.

    Returns
    -------
    pyarrow.Table
        Rows of `results.RESULT_SCHEMA`, with the job and its calibrations as metadata.
    """
    rows: list[dict[str, Any]] = []
    if job.get("skipped"):
        return build_table(rows, {"job": {"skipped": job["skipped"]}, "calibrations": {}})
    entries = list(zip(job["cells"], calibrations["cells"], strict=True))
    for done, (entry, calibrated) in enumerate(entries):
        cell = located(entry, job["data_root"])
        make = _closed_form_rows if job.get("evaluation") == "closed_form" else _run_rows
        columns = _cell_columns(job, cell, calibrated)
        rows.extend(_merged(columns, row) for row in make(job, cell, calibrated))
        progress(done + 1, len(entries))
    stored = {key: value for key, value in job.items() if key not in PLACES}
    stored["cells"] = [without_places(entry) for entry in job["cells"]]
    return build_table(rows, {"job": stored, "calibrations": dict(calibrations)})


def _merged(columns: Mapping[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """A row with its cell's columns; the warnings of both."""
    warnings = [text for text in (columns["warnings"], row.pop("warnings", "")) if text]
    return {**columns, **row, "warnings": "; ".join(warnings)}


def _cell_columns(job: Mapping[str, Any], cell: Cell, calibrated: Mapping[str, Any]) -> dict[str, Any]:
    delta_large = cell.delta >= 1.0 / cell.n
    warnings = ["delta >= 1/n"] * delta_large + list(calibrated["warnings"])
    return {
        "claim": job["claim"],
        "part": job["part"],
        "calibration": job["calibration"],
        "cell": cell.cell,
        "method": cell.method or cell.algorithm,
        "algorithm": cell.algorithm_entry.id,
        "variant": calibrated["variant"],
        "problem": cell.problem,
        "n": cell.n,
        "d": cell.problem_entry.dimension,
        "parameter": cell.parameter,
        "value": float(cell.value),
        "planned_evaluations": float(calibrated["gradient_evaluations"]),
        "epsilon_claimed": float(cell.epsilon),
        "delta": float(cell.delta),
        "epsilon_real": math.nan if calibrated["epsilon_real"] is None else float(calibrated["epsilon_real"]),
        "epsilon_real_kind": calibrated["epsilon_real_kind"],
        "privacy_status": calibrated["privacy_status"],
        "accountant": calibrated["accountant"],
        "delta_large": delta_large,
        "warnings": "; ".join(warnings),
    }


def _run_rows(job: Mapping[str, Any], cell: Cell, calibrated: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for data_set in range(job["data_sets"]):
        data = cell.draw_data(job["seed"], data_set)
        for first, count in replicate_blocks(cell.n, job["replicates"]):
            trace = run_block(
                cell,
                job["calibration"],
                calibrated["scales"],
                data,
                root_seed=job["seed"],
                data_set=data_set,
                first_replicate=first,
                replicates=count,
                backend=job["backend"],
                dtype=job["dtype"],
                record=job.get("record"),
            )
            yield from _trace_rows(trace, data_set, first)


def _trace_rows(trace: Trace, data_set: int, first: int) -> Iterator[dict[str, Any]]:
    last = trace.risk.shape[1] - 1
    for replicate in range(trace.risk.shape[0]):
        for checkpoint in range(last + 1):
            yield {
                "data_set": data_set,
                "replicate": first + replicate,
                "checkpoint": FINAL if checkpoint == last else checkpoint,
                "gradient_evaluations": float(trace.evaluations[replicate, checkpoint]),
                "risk": float(trace.risk[replicate, checkpoint]),
                "start_risk": trace.start_risk,
                "warnings": _certificate(trace.certificate),
            }


def _certificate(gradient_norm: float | None) -> str:
    """How exact a minimiser is: a power of ten, and 1e-12 for all that is better, so that no rounding error shows."""
    if gradient_norm is None:
        return ""
    power = math.ceil(math.log10(max(gradient_norm, FINEST_CERTIFICATE)))
    return f"{CERTIFIED}: gradient below 1e{power:d} of the linear term and G"


def _closed_form_rows(job: Mapping[str, Any], cell: Cell, calibrated: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row: the exact expectation that the problem knows for the algorithm."""
    measure = get_measure(cell.algorithm_entry.measure)
    schedule, scales = calibrated["schedule"], calibrated["scales"]
    risk = measure.closed_form(cell.problem_entry, cell.algorithm_entry.id, schedule, scales)
    objective = Objective(cell.problem_entry, cell.draw_data(job["seed"], 0), 1)
    yield {
        "data_set": 0,
        "replicate": 0,
        "checkpoint": FINAL,
        "gradient_evaluations": float(calibrated["gradient_evaluations"]),
        "risk": risk,
        "start_risk": measure.at_start(objective),
    }
