"""A single run as a job: from a resolved configuration to rows and to the one line that people read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import stdtrit

from dpsco_bench.backend.namespace import get_namespace
from dpsco_bench.errors import DpscoError, InputError, checked_count
from dpsco_bench.execution.cell import Cell, check_data_sets, located, pinned, without_places
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.library import check_run, check_sampled, check_size, standard_error
from dpsco_bench.execution.measures import risk_kind
from dpsco_bench.execution.plan import digest
from dpsco_bench.execution.request import check_cell
from dpsco_bench.execution.results import FINAL, read_extras
from dpsco_bench.problems.registry import get_problem, problem_class
from dpsco_bench.samplers.evidence import NOT_CERTIFIED, unsettled

DTYPES = ("float64", "float32")
DEFAULT_RECORDS = 4096
HELD_OUT = ("held_out_loss", "held_out_accuracy")
"""Extras of rows of a problem that holds records out."""
LARGEST_Z = 4.0
"""Standard errors that chains may be away from a known law."""
_KEPT = (
    *("algorithm", "variant", "problem", "n", "d", "calibration", "epsilon_claimed", "delta", "epsilon_real"),
    *("epsilon_real_kind", "privacy_status", "accountant", "planned_evaluations", "delta_large", "warnings"),
    *("epsilon_law", "tau", "sampler_status"),
)


def single_job(config: Mapping[str, Any]) -> Job:
    """Check a resolved configuration of ``conf/run.yaml`` and turn it into a job.

    Returns a Job with a ``key`` over everything that affects its numbers except the code. Raises InputError or Refusal
    naming the key, its value and what is allowed.

    Parameters
    ----------
    config : mapping
        ``algorithm`` (id, variant, options), ``problem`` (name, options), ``calibration``, ``backend``, ``n``, ``d``,
        ``epsilon``, ``delta``, ``replicates``, ``data_sets``, ``seed``, ``record``, ``plugins``, ``data``.
    """
    cell = single_cell(config)
    check_pair(cell, config)
    return _job(cell, config)


def single_cell(config: Mapping[str, Any]) -> Cell:
    """Check the keys of a resolved configuration, whether or not the algorithm takes the problem.

    Raises InputError naming the key, its value and what is allowed.
    """
    calibration, backend = config["calibration"]["name"], config["backend"]
    check_run(calibration, config["replicates"], config["seed"])
    if not isinstance(config["data"]["root"], str):
        raise InputError("data.root", config["data"]["root"], "a folder")
    check_data_sets(config["problem"]["name"], checked_count("data_sets", config["data_sets"]))
    if isinstance(config["d"], int):
        check_size("d", config["d"])
    _check_record(config["record"])
    if backend["dtype"] not in DTYPES:
        raise InputError("backend.dtype", backend["dtype"], "one of " + ", ".join(DTYPES))
    if not isinstance(backend.get("fused", True), bool):
        raise InputError("backend.fused", backend["fused"], "true or false")
    get_namespace(backend["name"])
    cell = _cell(config)
    check_sampled(cell)
    _check_data(cell, config["data"]["root"])
    return cell


def check_pair(cell: Cell, config: Mapping[str, Any]) -> None:
    """Check that the algorithm takes the problem, and has a plan there. Raises InputError or Refusal."""
    _check(cell, config).plan(config["calibration"]["name"], config["seed"])


def _job(cell: Cell, config: Mapping[str, Any]) -> Job:
    backend = config["backend"]
    job = Job(
        claim="run",
        part=cell.algorithm_entry.id,
        kind="run",
        calibration=config["calibration"]["name"],
        seed=config["seed"],
        backend=backend["name"],
        dtype=backend["dtype"],
        fused=backend.get("fused", True),
        replicates=config["replicates"],
        data_sets=config["data_sets"],
        record=config["record"],
        plugins=tuple(config["plugins"]),
        data_root=config["data"]["root"],
        cells=(pinned(_planned(cell).to_json(), config["data"]["root"]),),
    )
    return replace(job, key=digest(job.numbers([without_places(cell) for cell in job.cells]))[:16])


def _cell(config: Mapping[str, Any]) -> Cell:
    algorithm, problem = config["algorithm"], config["problem"]
    cls = problem_class(problem["name"])
    options = {k: v for k, v in problem["options"].items() if v is not None and (k != "root" or cls.needs_data_root)}
    n = config["n"]
    if n is None:
        n = get_problem(cls.name, config["d"], **options).records or DEFAULT_RECORDS
    return Cell(
        algorithm["id"],
        problem["name"],
        n,
        config["epsilon"],
        config["delta"],
        config["d"],
        algorithm["variant"],
        {k: v for k, v in algorithm["options"].items() if v is not None},
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


def _check(cell: Cell, config: Mapping[str, Any]) -> Cell:
    """The cell with its data root, where its problem has one."""
    check_cell(cell)
    return located(_planned(cell), config["data"]["root"])


def _check_data(cell: Cell, root: Any) -> None:
    reason = problem_class(cell.problem).unavailable(Path(root))
    if reason:
        raise DpscoError(f"problem = {cell.problem}, data.root = {root}: {reason}")


def _check_record(record: Any) -> None:
    number = isinstance(record, int | float) and not isinstance(record, bool)
    if record is not None and not (number and 0 < record < float("inf")):
        raise InputError("record", record, "null or a finite number > 0 (checkpoint spacing in units of n)")


def summarise(job: Job, table: pa.Table) -> dict[str, Any]:
    """Mean risk with its standard error, privacy and cost of a job's final outputs.

    The standard error is over replicates, or over the data sets' means where there are several.
    """
    final = table.filter(pc.equal(table["checkpoint"], FINAL))
    risk, sets = final["risk"].to_numpy(), final["data_set"].to_numpy()
    means = np.array([risk[sets == number].mean() for number in np.unique(sets)])
    row, extras, cell = final.slice(0, 1).to_pylist()[0], read_extras(final), job.cells[0]
    chains = "" if row["sampler_status"] == "proven_tv" else _chains(extras)
    said = (row["warnings"], chains)
    return {
        **{key: row[key] for key in _KEPT},
        "warnings": "; ".join(text for text in said if text),
        "risk_kind": risk_kind(problem_class(cell.problem).population, cell.algorithm_entry.measure),
        "risk": float(means.mean()),
        "stderr": standard_error(means if means.size > 1 else risk),
        "start_risk": row["start_risk"],
        "gradient_evaluations": float(final["gradient_evaluations"].to_numpy().mean()),
        "replicates": job.replicates,
        "data_sets": job.data_sets,
        "seed": job.seed,
        "key": job.key,
        **({"held_out": held_out(located(cell, job.data_root), job.seed, extras)} if HELD_OUT[0] in extras else {}),
    }


def half_interval(summary: Mapping[str, Any]) -> float:
    """Half of the 95 % interval of a summary's mean risk, with Student's quantile; NaN for a single value."""
    size = summary["data_sets"] if summary["data_sets"] > 1 else summary["replicates"]
    return float(stdtrit(size - 1, 0.975)) * summary["stderr"] if size > 1 else math.nan


def held_out(cell: Cell, seed: int, extras: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Mean loss and, of classes, accuracy on the records that are held out, of the outputs and of what stands beside.

    Returns ``{"loss", "accuracy", "trivial": {...}, "without_privacy": {...}}``: of the starting point, and of the
    minimiser of the risk on the records that are used.
    """
    problem, data = cell.problem_entry, cell.draw_data(seed, 0)
    beside = {"trivial": problem.start, "without_privacy": problem.minimiser(data)}

    def named(values: Mapping[str, np.ndarray]) -> dict[str, Any]:
        return {name.removeprefix("held_out_"): float(np.mean(values[name])) for name in HELD_OUT if name in values}

    return {**named(extras), **{name: named(problem.beside(x[None], data)) for name, x in beside.items()}}


def _chains(extras: Mapping[str, np.ndarray]) -> str:
    """Why the chains that drew the outputs are not certified; empty where they are, and where there are none."""
    if "chain_risk" not in extras:
        return ""
    rhat, ess = extras.get("rhat"), extras.get("ess")  # constant chains have none
    reason = unsettled(np.inf if rhat is None else float(rhat.max()), 0.0 if ess is None else float(ess.min()))
    if reason or "z_score" not in extras:
        return (
            reason or f"{NOT_CERTIFIED}: they have settled, but the law of this instance is not known to compare with"
        )
    z = float(np.abs(extras["z_score"]).max())
    return "" if z <= LARGEST_Z else f"{NOT_CERTIFIED}: {z:.2g} standard errors from the known law"
