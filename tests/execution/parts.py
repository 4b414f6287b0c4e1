"""A part of a claim, three steps of gradient descent at two sizes; the plan of a claim; calibrations as stored."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.claims.jobs import part_jobs
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.cell import Calibrated, Calibrations
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.jobs import Job, Settings
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.privacy.plan import Plan

PART = {
    "id": "gd",
    "kind": "rate",
    "tolerance": 0.15,
    "calibrations": ["paper"],
    "algorithm": "wang2017.dp_gd_pl",
    "options": {"steps": 3},
    "problem": "ridge_logistic",
    "fixed": {"d": 3, "epsilon": 1.0, "delta": 1e-5},
    "sweep": {"parameter": "n", "values": {"smoke": [32, 64]}},
    "replicates": {"smoke": 3},
    "bound": "wang2017.thm6_2",
}
SETTINGS = Settings(seed=1)


def entry_of(id: str, *parts: Mapping[str, Any], settings: Settings = SETTINGS, **more: Any) -> ClaimEntry:
    claim = parse_claim({"id": id, "title": "t", "source": "s", "statement": "x", "parts": list(parts), **more})
    planned = [part for part in claim.parts if part.plans]
    jobs = [job for part in planned for job in part_jobs(claim, part, "smoke", settings)]
    return ClaimEntry.of(claim, tuple(jobs))


def plan_of(entry: Algorithm, queries: Callable[..., Any]) -> Callable[..., Plan]:
    """Change the queries of an algorithm's plan function that takes steps."""

    def plan(given: Any, *, steps: int | None = None) -> Plan:
        made = entry.plan_function(given, steps=steps)
        return replace(made, queries=queries(*made.queries), last_iterate=None)

    return plan


def reread(calibrated: Calibrations) -> Calibrations:
    return Calibrated.from_json(loads(dumps_canonical(Calibrated(calibrated)))).cells


def calibrations(job: Job) -> Calibrations:
    return reread(calibrate_job(job))


def table_of(job: Job) -> Any:
    return execute(job, calibrations(job))
