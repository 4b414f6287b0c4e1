"""How long jobs will take, which decides how work is packed only: what was recorded, else a simple model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import CLOSED_FORM, Job
from dpsco_bench.fused.registry import has_steps
from dpsco_bench.jsonio import dumps_canonical, loads, write_atomic
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait
from dpsco_bench.problems.data import form_of

ONE, BATCH, ALL, MEAN = "one record", "a batch", "all records", "their mean"
"""Records that a step looks at; a mean is known without them if it is affine."""
FEW, MOST = 3.0, 0.5
"""Up to so many gradients a step looks at one record (it may look twice); from this share of n on at all."""
Terms = Mapping[str, float]
"""Seconds of one unit of what a cell does, by the names of `amounts`."""
WORK = ("cell", "row", "row n", "step", "row step", "row step d", "row seen", "row seen d")
"""Names of `amounts` to which the model gives a price."""
MEASURED = (
    *("n d", "row n d", "row dd", "row ddd", "row step dd"),
    *("gradient", "gradient d", "row gradient", "row gradient d"),
)
"""Further ones, by which methods are measured."""
COSTS = {
    (True, ONE): (2.3e-03, 6.6e-06, 1.2e-07, 0.0, 1.9e-08, 3.1e-10, 7.8e-09, 1.6e-09),
    (True, BATCH): (4.7e-03, 0.0, 3.2e-08, 0.0, 7.0e-07, 5.7e-09, 5.4e-09, 0.0),
    (True, ALL): (3.5e-03, 0.0, 2.1e-08, 1.1e-05, 0.0, 9.7e-08, 1.5e-09, 0.0),
    (True, MEAN): (3.4e-03, 1.0e-04, 4.1e-10, 0.0, 1.3e-07, 4.1e-09, 0.0, 0.0),
    (False, ONE): (3.6e-03, 0.0, 0.0, 2.5e-05, 0.0, 1.0e-08, 9.1e-08, 1.3e-09),
    (False, BATCH): (3.0e-03, 0.0, 7.9e-12, 2.7e-06, 7.8e-08, 2.9e-09, 1.5e-07, 1.9e-09),
    (False, ALL): (4.3e-03, 0.0, 9.0e-09, 5.4e-06, 0.0, 0.0, 1.7e-09, 8.6e-11),
    (False, MEAN): (6.1e-03, 0.0, 7.0e-11, 0.0, 0.0, 8.7e-10, 1.6e-12, 1.2e-15),
}
"""Seconds on one core of each of `WORK`, by whether a run is fused, and what its steps look at.

`docs/kinds.py` fits them to recorded times of cells.
"""
TIMED_RUNS = 2.0
"""Runs of a job by one replicate at a time, in units of a replicate's share of its batched run."""
UNKNOWN_SECONDS = {"calibrate": 0.2, "run": 1.0, "time": 5.0}
"""Assumed seconds of a job of which nothing is known."""
MODEL_LIMIT = 600.0
"""Most that the model is believed: an algorithm may take its planned gradients all at once."""
Seconds = Mapping[str, Mapping[str, tuple[float, float, float]]]
"""Claim -> job -> CPU seconds of its calibration and of its run, and what the model says of its run."""


def rounds_of(plan: Plan) -> int:
    """Sequential rounds of a run: the most releases of a query."""
    return max((query.releases for query in plan.queries), default=1)


def kind_of(cell: Cell, plan: Plan, fused: bool = True) -> tuple[bool, str]:
    """Return the key of `COSTS`: whether a run is compiled, and what its steps look at."""
    problem = cell.problem_entry
    compiled = fused and has_steps(cell.algorithm) and form_of(problem) is not None
    each = plan.gradient_evaluations / max(sum(query.releases for query in plan.queries), 1)
    if each <= FEW:
        return compiled, ONE
    if each < MOST * cell.n:
        return compiled, BATCH
    return compiled, MEAN if problem.traits & {Trait.LINEAR_LOSS, Trait.COMMON_HESSIAN} else ALL


def amounts(cell: Cell, plan: Plan, replicates: int) -> dict[str, float]:
    """How much a cell does of everything that takes time, for so many replicates of all data sets.

    A ``row`` is a replicate, a ``step`` a release, ``seen`` the gradients that are looked at one by one: a problem may
    know the gradient of all its records by their sum. ``d``, ``dd`` and ``ddd`` are powers of the dimension.
    """
    problem, d = cell.problem_entry, float(cell.problem_entry.dimension)
    gradients = float(plan.gradient_evaluations)
    factors = {
        "cell": 1.0,
        "n": cell.n,
        "d": d,
        "dd": d * d,
        "ddd": d * d * d,
        "row": float(replicates),
        "step": float(sum(query.releases for query in plan.queries)),
        "gradient": gradients,
        "seen": gradients * (min(1.0, problem.row_size(cell.n) / cell.n) if problem.draws_per_replicate else 1.0),
    }
    return {name: math.prod(factors[factor] for factor in name.split()) for name in (*WORK, *MEASURED)}


def predicted_seconds(cell: Cell, plan: Plan, replicates: int, fused: bool = True) -> float:
    """Predict roughly how long a cell takes on one core, compiled where it has compiled steps.

    A pure function of the plan. It knows what steps look at and not which method makes them, so that it serves one's
    own; `claims.jobs` knows methods one by one. `docs/scaling.md` says how near it is.
    """
    does = amounts(cell, plan, replicates)
    return sum(does[name] * cost for name, cost in zip(WORK, COSTS[kind_of(cell, plan, fused)], strict=True))


@dataclass(frozen=True)
class Predictor:
    """Predict CPU seconds: what a job took on record, else what the model says."""

    recorded: Seconds = field(default_factory=dict)

    def __call__(self, step: str, job: Job) -> float:
        """Predict the seconds of a step (``calibrate``, ``run`` or ``time``) of a job."""
        known = self.recorded.get(job.claim, {}).get(job.name)
        if step == "calibrate" or (job.evaluation == CLOSED_FORM and not known):
            return known[0] if known else UNKNOWN_SECONDS["calibrate"]
        run = known[1] if known else min(sum(job.seconds), MODEL_LIMIT) or UNKNOWN_SECONDS["run"]
        if step == "run":
            return run
        # Every cell's first replicate runs up to four times, without the products of matrices that replicates share.
        return max(UNKNOWN_SECONDS["time"], TIMED_RUNS * run / job.replicates)


def read_seconds(path: Path) -> Seconds:
    """Read what `record_seconds` wrote; empty if the file is missing."""
    return loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def record_seconds(path: Path, jobs: list[Job], measured: Measured) -> None:
    """Record what jobs took, a claim a line, to two digits; of those that have not been measured what was known."""
    found: dict[str, dict[str, tuple[float, ...]]] = {claim: dict(known) for claim, known in read_seconds(path).items()}
    for job in jobs:
        calibrated, run = (measured.cost(step, job) for step in ("calibrate", "run"))
        if calibrated and (run or not job.has_run):
            modelled = 0.0 if job.evaluation == CLOSED_FORM else sum(job.seconds)
            times = (calibrated[0], run[0] if run and job.has_run else 0.0, modelled)
            found.setdefault(job.claim, {})[job.name] = tuple(float(f"{seconds:.2g}") for seconds in times)
    lines = [f"{dumps_canonical(claim)}:{dumps_canonical(found[claim])}" for claim in sorted(found)]
    write_atomic(path, "{\n" + ",\n".join(lines) + "\n}\n")
