"""A single run as a job: from what is asked, checked key by key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dpsco_bench.backend.namespace import get_namespace
from dpsco_bench.errors import DpscoError, InputError, checked_count
from dpsco_bench.execution.cell import Cell, check_data_sets, located, pinned, without_places
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.library import check_run, check_sampled, check_size
from dpsco_bench.execution.request import check_cell
from dpsco_bench.execution.run_config import RunConfig
from dpsco_bench.jsonio import digest
from dpsco_bench.problems.registry import get_problem, problem_class

DTYPES = ("float64", "float32")
DEFAULT_RECORDS = 4096


def single_job(asked: RunConfig) -> Job:
    """Check what is asked and turn it into a job, with a ``key`` over everything but code that affects its numbers.

    Raises InputError or Refusal naming the key, its value and what is allowed.
    """
    cell = single_cell(asked)
    check_pair(cell, asked)
    return _job(cell, asked)


def single_cell(asked: RunConfig) -> Cell:
    """Check all keys, whether or not the algorithm takes the problem.

    Raises InputError naming the key, its value and what is allowed.
    """
    backend = asked.backend
    check_run(asked.calibration, asked.replicates, asked.seed)
    if not isinstance(asked.data_root, str):
        raise InputError("data.root", asked.data_root, "a folder")
    check_data_sets(asked.problem.name, checked_count("data_sets", asked.data_sets))
    if isinstance(asked.d, int):
        check_size("d", asked.d)
    _check_record(asked.record)
    if backend.dtype not in DTYPES:
        raise InputError("backend.dtype", backend.dtype, "one of " + ", ".join(DTYPES))
    if not isinstance(backend.fused, bool):
        raise InputError("backend.fused", backend.fused, "true or false")
    get_namespace(backend.name)
    cell = _cell(asked)
    check_sampled(cell)
    _check_data(cell, asked.data_root)
    return cell


def check_pair(cell: Cell, asked: RunConfig) -> None:
    """Check that the algorithm takes the problem, and has a plan there. Raises InputError or Refusal."""
    check_cell(cell)
    located(_planned(cell), asked.data_root).plan(asked.calibration, asked.seed)


def _job(cell: Cell, asked: RunConfig) -> Job:
    job = Job(
        claim="run",
        part=cell.algorithm_entry.id,
        kind="run",
        calibration=asked.calibration,
        seed=asked.seed,
        backend=asked.backend.name,
        dtype=asked.backend.dtype,
        fused=asked.backend.fused,
        replicates=asked.replicates,
        data_sets=asked.data_sets,
        record=asked.record,
        plugins=asked.plugins,
        data_root=asked.data_root,
        cells=(pinned(_planned(cell), asked.data_root),),
    )
    return replace(job, key=digest(job.numbers([without_places(cell) for cell in job.cells]))[:16])


def _cell(asked: RunConfig) -> Cell:
    algorithm, problem, n = asked.algorithm, asked.problem, asked.n
    cls = problem_class(problem.name)
    options = {k: v for k, v in problem.options.items() if v is not None and (k != "root" or cls.needs_data_root)}
    if n is None:
        n = get_problem(cls.name, asked.d, **options).records or DEFAULT_RECORDS
    return Cell(
        algorithm.id,
        problem.name,
        n,
        asked.epsilon,
        asked.delta,
        asked.d,
        algorithm.variant,
        {k: v for k, v in algorithm.options.items() if v is not None},
        options,
    )


def _planned(cell: Cell) -> Cell:
    """A cell as plans have it: named by its method, over n, and without the place of its data."""
    return replace(
        cell,
        algorithm=cell.algorithm_entry.id,
        problem_options={k: v for k, v in cell.problem_options.items() if k != "root"},
        d=cell.problem_entry.dimension,
        epsilon=float(cell.epsilon),
        delta=float(cell.delta),
        method=cell.algorithm_entry.id.partition(".")[2],
        parameter="n",
        value=float(cell.n),
    )


def _check_data(cell: Cell, root: Any) -> None:
    reason = problem_class(cell.problem).unavailable(Path(root))
    if reason:
        raise DpscoError(f"problem = {cell.problem}, data.root = {root}: {reason}")


def _check_record(record: Any) -> None:
    number = isinstance(record, int | float) and not isinstance(record, bool)
    if record is not None and not (number and 0 < record < float("inf")):
        raise InputError("record", record, "null or a finite number > 0 (checkpoint spacing in units of n)")
