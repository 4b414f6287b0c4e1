"""How long jobs will take, which decides how work is packed only: what was recorded, else a simple model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.jobs import CLOSED_FORM, Job
from dpsco_bench.execution.measured import Measured
from dpsco_bench.jsonio import dumps_canonical, loads, write_atomic
from dpsco_bench.privacy.plan import Plan

ROUND_SECONDS, NUMBER_SECONDS = 1e-4, 3e-9
"""What a round, and a number of a replicate's gradient, cost on one core."""
UNKNOWN_SECONDS = {"calibrate": 0.2, "run": 1.0, "time": 5.0}
"""What a job is taken to cost of which nothing is known."""
MODEL_LIMIT = 600.0
"""Most that the model is believed: an algorithm may take its planned gradients all at once."""
STEPS = ("calibrate", "run")

Seconds = Mapping[str, Mapping[str, tuple[float, float]]]
"""Claim -> job -> CPU seconds of its calibration and of its run."""


def rounds_of(plan: Plan) -> int:
    """Sequential rounds of a run: the most releases of a query."""
    return max((query.releases for query in plan.queries), default=1)


def predicted_seconds(cell: Cell, plan: Plan, replicates: int) -> float:
    """Roughly how long a cell takes on one core: a cost a round, and one a number of a gradient.

    A pure function of the plan, so that a leaderboard leaves out the same cells everywhere.
    """
    problem = cell.problem_entry
    looked_at = min(1.0, problem.row_size(cell.n) / cell.n) if problem.draws_per_replicate else 1.0
    numbers = plan.gradient_evaluations * looked_at * problem.dimension
    return ROUND_SECONDS * rounds_of(plan) + NUMBER_SECONDS * numbers * replicates


@dataclass(frozen=True)
class Predictor:
    """Predicted CPU seconds."""

    recorded: Seconds = field(default_factory=dict)

    def __call__(self, step: str, job: Job) -> float:
        """Of a step (``calibrate``, ``run`` or ``time``) of a job."""
        known = self.recorded.get(job.claim, {}).get(job.name)
        if known is not None and step in STEPS:
            return known[STEPS.index(step)]
        if step != "run" or job.evaluation == CLOSED_FORM:
            return UNKNOWN_SECONDS["time" if step == "time" else "calibrate"]
        return min(sum(job.seconds), MODEL_LIMIT) or UNKNOWN_SECONDS["run"]


def read_seconds(path: Path) -> Seconds:
    """What `record_seconds` wrote; empty without such a file, or where it is damaged: it is advice."""
    try:
        return loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (InputError, UnicodeDecodeError):
        return {}


def record_seconds(path: Path, jobs: list[Job], measured: Measured) -> None:
    """Record what jobs took, a claim a line, to two digits; of those that have not been measured what was known."""
    found = {claim: dict(known) for claim, known in read_seconds(path).items()}
    for job in jobs:
        costs = [measured.cost(step, job) for step in (STEPS if job.has_run else STEPS[:1])]
        if None not in costs:
            seconds = [float(f"{cost[0]:.2g}") for cost in costs if cost is not None]
            found.setdefault(job.claim, {})[job.name] = (seconds[0], seconds[-1] if job.has_run else 0.0)
    lines = [f"{dumps_canonical(claim)}:{dumps_canonical(found[claim])}" for claim in sorted(found)]
    write_atomic(path, "{\n" + ",\n".join(lines) + "\n}\n")
