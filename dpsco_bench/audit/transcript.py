"""The log density ratio of a run's transcript between two data sets: the score of an adversary who sees everything.

A score is a function of the transcript, the public choices and the final output alone, never of a hidden draw: a bound
on epsilon from it is a bound for the mechanism that was run. Choices and orders that cost no privacy are public, and a
replay uses the recorded ones. Drawn batches, and the order of records whose shuffling is charged, are hidden: a replay
puts the differing record into every batch or into none, and the density is the mixture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.audit.likelihood import allocated, log_density, minimiser, mixed
from dpsco_bench.execution.calling import call_run
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import ObjectiveQuery, Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import RandomAllocation, SingleIndex
from dpsco_bench.problems.base import Batch, Data
from dpsco_bench.problems.objective import Objective

Array = np.ndarray
Where = tuple[str, int]  # query and step of a release
BINS = 8
"""Consecutive parts of the transcript whose log-likelihood ratios are kept apart, so that weights can be learned."""
DECIMALS = 9
"""Scores are rounded: differences in their last bits would exploit floating-point noise, not the mechanism."""
SAME_OUTPUT = 1e-9
PROBES = 16  # linear terms with which the public part of a perturbed objective is measured


class Recording:
    """Passes everything on to a mechanism and keeps what it released, in order, and what it chose in public."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.transcript: dict[Where, Array] = {}
        self.public: dict[tuple[str, str], Array] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        self.transcript[name, step] = released = self._mechanism.release(name, value, step)
        return released

    def choose(self, name: str, high: int) -> Array:
        self.public["choice", name] = chosen = self._mechanism.choose(name, high)
        return chosen

    def permutation(self, name: str, size: int) -> Array:
        self.public["order", name] = order = self._mechanism.permutation(name, size)
        return order


class ForcedReplay(Mechanism):
    """Returns a recorded transcript whatever the data, and keeps in `exposed` what the noise would have hidden.

    Sampled queries look at ``record`` and no other where it is ``drawn``, else at none (a single index at another one).
    """

    def __init__(
        self, plan: Plan, scales: Mapping[str, float], recorded: Recording, replicates: int, record: int, drawn: bool
    ) -> None:
        super().__init__(plan, scales, "", 0, 0, replicates)
        self._recorded, self._count, self._record, self._drawn = recorded, replicates, record, drawn
        self.exposed: dict[Where, Array] = {}

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        answer = self._recorded.transcript[name, step]
        self.exposed[name, step] = np.array(self.plan.query(name).exposed(value, answer), dtype=np.float64)
        return answer

    def sample(self, name: str, step: int = 0) -> Batch:
        query, record = self._declared(name, step), self._record if self._drawn else self._another
        weight = 1.0 if self._drawn or isinstance(query.records, SingleIndex) else 0.0
        ones = np.ones((self._count, 1))
        return Batch(np.full(ones.shape, record), weight * ones, weight * ones[:, 0], self.expected_size(query))

    def choose(self, name: str, high: int) -> Array:
        """Choose as the recorded run did; where it did not, from its stream."""
        found = self._recorded.public.get(("choice", name))
        return self._recorded.choose(name, high) if found is None else found

    def permutation(self, name: str, size: int) -> Array:
        """Take the recorded order; where it protects, the record heads every batch, or stands nowhere."""
        hidden = [q.records for q in self.plan.queries if isinstance(q.records, RandomAllocation)]
        if not hidden:
            found = self._recorded.public.get(("order", name))
            return self._recorded.permutation(name, size) if found is None else found
        order = np.arange(size)
        order[order == self._record] = self._another
        if self._drawn:
            order[:: hidden[0].size] = self._record
        return np.tile(order, (self._count, 1))

    @property
    def _another(self) -> int:
        return (self._record + 1) % self.plan.n


class Probe(Mechanism):
    """Measures the public quadratic part of perturbed objectives by minimising them with known linear terms.

    By query, ``weights`` have the w such that a minimiser inside the domain has ``b = -(sum of gradients) - n w x``.
    """

    def __init__(self, plan: Plan, scales: Mapping[str, float], n: int, domain: Any) -> None:
        super().__init__(plan, scales, "probe", 0, 0, PROBES)
        self._n, self._domain = n, domain
        self.weights: dict[str, float] = {}

    def release(self, name: str, value: Any, step: int = 0) -> Array:
        query = self.plan.query(name)
        if not isinstance(query, ObjectiveQuery):
            return super().release(name, value, step)
        b = np.zeros(value.shape)
        b[:, 0] = (self.scales[name] or 1.0) * np.geomspace(1e-4, 1e2, PROBES)
        x = np.asarray(value.solve(b))
        square = np.sum(x * x, axis=-1)
        inner = square > 1e-16
        if self._domain is not None:
            inner &= self._domain.norm(x)[:, 0] < 0.9 * self._domain.radius
        slope = -np.sum((b + value.data_part(x)) * x, axis=-1)[inner] / square[inner]
        self.weights[name] = float(np.median(slope)) / self._n if inner.any() else 0.0
        return x


@dataclass(frozen=True)
class Side:
    """One of two neighbouring data sets: what its replays exposed, without and with the record, and their outputs."""

    data: Data
    out: dict[Where, Array]
    drawn: dict[Where, Array]
    outputs: tuple[Array, ...]

    def explains(self, output: Array) -> Array:
        """Tell whether the data set, given the transcript, leads to the output, ``(R,)``."""
        size = SAME_OUTPUT * (1.0 + np.abs(output).max(axis=-1))
        return np.any([np.abs(output - other).max(axis=-1) <= size for other in self.outputs], axis=0)


def hides_batches(plan: Plan) -> bool:
    """Tell whether a release may look at a record or not, by a draw that nobody sees."""
    return any(query.records.sampled or isinstance(query.records, RandomAllocation) for query in plan.queries)


@dataclass(frozen=True)
class NeighbourRun:
    """A calibrated algorithm on two data sets that differ in one record, which may ``alone`` contribute anything."""

    cell: Cell
    plan: Plan
    scales: Mapping[str, float]
    pair: tuple[Data, Data]
    record: int
    name: str = ""
    alone: bool = False

    def execute(self, data: Data, mechanism: Any, replicates: int) -> Array:
        objective = Objective(self.cell.problem_entry, data, replicates)
        return np.asarray(call_run(self.cell.algorithm_entry, objective, self.plan, mechanism, counted=False)[0])

    @cached_property
    def public_weights(self) -> Mapping[str, float]:
        """Weight of the public quadratic terms of each perturbed objective; no query of another kind is named."""
        if not any(isinstance(query, ObjectiveQuery) for query in self.plan.queries):
            return {}
        probe = Probe(self.plan, self.scales, self.cell.n, self.cell.problem_entry.feasible_set)
        self.execute(self.pair[0], probe, PROBES)
        return probe.weights

    @property
    def hides_batches(self) -> bool:
        return hides_batches(self.plan)


def log_ratio(setting: NeighbourRun, recorded: Recording, output: Array) -> tuple[Array, Array]:
    """Log density ratios of recorded transcripts between the two data sets, ``(R, BINS)`` consecutive parts of them.

    For sampled queries the density is the mixture over whether the differing record was drawn, with the other records'
    contributions taken to be zero: exact where they are, a valid score elsewhere. An output that only one data set
    explains is infinitely likelier under it. The second array ``(R,)`` is True where neither does: it has random
    numbers of its own.
    """
    sides = [replayed(setting, data, recorded, len(output)) for data in setting.pair]
    bins, number = np.zeros((len(output), BINS)), {where: k for k, where in enumerate(recorded.transcript)}
    with np.errstate(invalid="ignore", over="ignore"):
        for query in setting.plan.queries:
            places = [own for own in number if own[0] == query.name]
            shuffled = isinstance(query.records, RandomAllocation)
            for where in places[:1] if shuffled else places:
                density = _allocated if shuffled else _release
                first, second = (density(setting, query, where, side, recorded) for side in sides)
                # not a number: neither data set can release this, which is no evidence
                ratio = np.where(np.isnan(first - second), 0.0, first - second)
                bins[:, 0 if shuffled else number[where] * BINS // len(number)] += ratio
    near = [side.explains(output) for side in sides]
    decided = np.where(near[0] == near[1], 0.0, np.where(near[0], np.inf, -np.inf))
    return np.round(bins, DECIMALS) + decided[:, None], ~near[0] & ~near[1]


def replayed(setting: NeighbourRun, data: Data, recorded: Recording, replicates: int) -> Side:
    """Force a transcript on one data set, with the differing record out of every hidden batch and in every one."""
    exposed, outputs = [], []
    for drawn in (False, True)[: 1 + setting.hides_batches]:
        replay = ForcedReplay(setting.plan, setting.scales, recorded, replicates, setting.record, drawn)
        outputs.append(setting.execute(data, replay, replicates))
        exposed.append(replay.exposed)
    return Side(data, exposed[0], exposed[-1], tuple(outputs))


def _release(setting: NeighbourRun, query: Query, where: Where, side: Side, recorded: Recording) -> Array:
    """Log density of one release on one data set, up to a constant common to both."""
    answer, scale = recorded.transcript[where], setting.scales[query.name]
    problem = setting.cell.problem_entry
    if isinstance(query, DrawQuery):
        k, _ = query.temperature.at(scale)
        return -k * np.asarray(problem.risk(answer, side.data), dtype=np.float64)
    if isinstance(query, ObjectiveQuery):
        weight = setting.public_weights.get(query.name, 0.0)
        return minimiser(query, scale, side.out[where], answer, weight, problem.feasible_set, setting.cell.n)
    if query.records.sampled:
        return mixed(query, scale, where[1], (side.out[where], side.drawn[where]), answer)
    return log_density(query, scale, where[1], side.out[where], answer)


def _allocated(setting: NeighbourRun, query: Query, where: Where, side: Side, recorded: Recording) -> Array:
    """Log density of all releases of a query on shuffled records."""
    scale, name = setting.scales[query.name], where[0]
    steps = [step for own, step in recorded.transcript if own == name]
    without, drawn = (
        np.stack([log_density(query, scale, t, seen[name, t], recorded.transcript[name, t]) for t in steps])
        for seen in (side.out, side.drawn)
    )
    assert isinstance(query.records, RandomAllocation)
    return allocated(query.records, without, drawn)
