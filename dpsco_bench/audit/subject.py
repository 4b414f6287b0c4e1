"""One algorithm on one small data set, with the plan that was charged: what the checks of the contract look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibration import constants_status
from dpsco_bench.execution.cell import CalibratedCell, Cell
from dpsco_bench.execution.run import call_run
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Charge, ObjectiveQuery, Plan
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.problems.base import Data, Draws, Problem, StreamFactory
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.streams import Stream, stream_key

REPLICATES = 8
MANY, MANY_SLOW, MANY_WORK = 1024, 512, 1 << 22
"""Replicates where noise is measured; fewer where each is solved or drawn, or their gradients and values are more."""
SPREADS = (0.3, 1.0, 3.0)  # distances of points from the start, in units of the domain's radius, or of 1
Finding = tuple[bool | None, str]  # outcome of a check, None where it has nothing to say, and what it saw
Factory = Callable[..., Mechanism]


@dataclass(frozen=True)
class SubjectRun:
    """Output ``(R, d)`` on the host and as it came, the mechanism and the objective of the run."""

    output: np.ndarray
    raw: Any
    mechanism: Any
    objective: Objective


@dataclass
class Subject:
    """An algorithm, a problem with its data, and the plan that was charged with its noise scale per query."""

    algorithm: Algorithm
    problem: Problem
    plan: Plan
    delta: float  # of the claim
    scales: Mapping[str, float]
    charge: Charge  # the accountant's
    no_neighbours: str  # why nothing can be learned from neighbouring data sets; empty where it can
    data: Data  # one data set; only its size where every replicate draws its own
    what: str  # names the streams of the noise
    streams: Callable[[Any], StreamFactory] = field(repr=False)  # namespace -> the streams of the data by name
    seed: int

    @property
    def many(self) -> int:
        slow = any(isinstance(query, ObjectiveQuery | DrawQuery) for query in self.plan.queries)
        work = self.plan.gradient_evaluations + sum(q.releases for q in self.plan.queries) * self.problem.dimension
        return int(max(REPLICATES, min(MANY_SLOW if slow else MANY, MANY_WORK // max(1.0, work))))

    def mechanism(
        self, factory: Factory = Mechanism, first: int = 0, replicates: int = REPLICATES, **how: Any
    ) -> Mechanism:
        """Make the source of noise of some replicates; ``xp`` and ``dtype`` are as of `privacy.mechanism.Mechanism`."""
        return factory(self.plan, self.scales, self.what, self.seed, first, replicates, **how)

    def objective(
        self, data: Data | None = None, first: int = 0, replicates: int = REPLICATES, xp: Any = np, **keys: Any
    ) -> Objective:
        """Put the problem on a data set, or on samples of the replicates' own."""
        chosen: Any = data or self.data
        if self.problem.draws_per_replicate:
            chosen = self.problem.sample(self.data.n, Draws(self.streams(xp), first, replicates))
        return Objective(self.problem, chosen, replicates, xp, n=self.data.n, **keys)

    def run(
        self, factory: Factory = Mechanism, *, data: Data | None = None, fused: bool = True, **where: Any
    ) -> SubjectRun:
        """Run replicates, with ``first``, ``replicates``, ``xp``, ``dtype`` as of `mechanism`, and an ``observer``."""
        observer = where.pop("observer", None)
        source, objective = self.mechanism(factory, **where), self.objective(data, observer=observer, **where)
        raw, _ = call_run(self.algorithm, objective, self.plan, source, counted=False, fused=fused)
        return SubjectRun(to_numpy(raw), raw, source, objective)


def no_neighbours(problem: Problem, plan: Plan, constants_status: str) -> str:
    """Say why nothing can be learned from neighbouring data sets; empty where it can."""
    if problem.shares_records:
        return "all records of this problem are equal"
    if problem.draws_per_replicate:
        return "every replicate has a sample of its own"
    if constants_status != "global":
        return "the constants of this problem are nominal"
    leaks = [leak for leak in (plan.unprotected, *plan.leaks) if leak]
    return "the plan says what it leaks: " + "; ".join(leaks) if leaks else ""


def points_of(subject: Subject, count: int = 12) -> np.ndarray:
    """Draw points of the domain at several distances from the start, ``(count, d)``."""
    problem, rng = subject.problem, np.random.default_rng(subject.seed)
    radius = 0.5 * problem.constants.diameter or 1.0
    steps = rng.standard_normal((count, problem.dimension)) / np.sqrt(problem.dimension)
    points = problem.start + radius * np.resize(SPREADS, count)[:, None] * steps
    return points if problem.feasible_set is None else np.asarray(problem.feasible_set.project(points))


def record_gradients(subject: Subject, records: int) -> np.ndarray:
    """Compute gradients of the first records at some points, ``(points, records, d)``."""
    problem, data = subject.problem, subject.data
    if problem.draws_per_replicate:
        data = problem.sample(data.n, Draws(subject.streams(np), 0, 1))
    rows = min(records, data.n)
    return np.stack([to_numpy(problem.record_gradients(x[None], data, 0, rows))[0] for x in points_of(subject)])


def replaced(data: Data, position: int, records: Data, which: int) -> Data:
    features, labels = np.array(data.features), np.array(data.labels)
    features[position], labels[position] = records.features[which], records.labels[which]
    return Data(data.n, features, labels)


def subject_of(cell: Cell, calibrated: CalibratedCell, seed: int) -> Subject:
    """Make the subject of a calibrated cell. Raises InputError for an algorithm without a run."""
    if cell.algorithm_entry.run_function is None:
        raise InputError("algorithm", cell.algorithm, "one with a run, attached by @plan.run")
    c, plan, what = calibrated, calibrated.plan_for(cell), cell.data_key()
    charge = Charge(c.epsilon_real, c.epsilon_real_kind, c.accountant, c.epsilon_law, c.tau, c.sampler_status)
    return Subject(
        *(cell.algorithm_entry, cell.problem_entry, plan, cell.delta, c.scales, charge),
        no_neighbours=no_neighbours(cell.problem_entry, plan, constants_status(cell, plan, c.constants.status)),
        data=cell.draw_data(seed, 0),
        what=cell.run_key(0),
        streams=lambda xp: lambda name: Stream(stream_key(seed, what, f"data/0/{name}"), xp),
        seed=seed,
    )
