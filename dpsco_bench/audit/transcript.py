"""The log density ratio of a run's transcript between two data sets: the score of an adversary who sees everything.

A score is a function of the transcript, the public choices and the final output alone, never of a hidden draw: a bound
on epsilon from it is a bound for the mechanism that was run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.audit.likelihood import allocated, log_density, minimiser, mixed
from dpsco_bench.audit.replay import PROBES, ForcedReplay, Probe, Recording, Where
from dpsco_bench.execution.calling import call_run
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.plan import ObjectiveQuery, Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import RandomAllocation
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective

Array = np.ndarray

BINS = 8
"""Consecutive parts of the transcript whose log-likelihood ratios are kept apart, so that weights can be learned."""
DECIMALS = 9
"""Scores are rounded: differences in their last bits would exploit floating-point noise, not the mechanism."""
SAME_OUTPUT = 1e-9


@dataclass(frozen=True)
class Side:
    """One of the two neighbouring data sets as a transcript sees it: what its replays exposed, and their outputs."""

    data: Data
    out: dict[Where, Array]
    drawn: dict[Where, Array]
    outputs: tuple[Array, ...]


@dataclass(frozen=True)
class NeighbourRun:
    """A calibrated algorithm on a pair of neighbouring data sets that differ in one record."""

    cell: Cell
    plan: Plan
    scales: Mapping[str, float]
    pair: tuple[Data, Data]
    record: int

    def execute(self, data: Data, mechanism: Any, replicates: int) -> Array:
        """Run the algorithm; returns the outputs ``(R, d)``."""
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
        """Whether a release may look at the differing record or not, by a draw that nobody sees."""
        return any(q.records.sampled or isinstance(q.records, RandomAllocation) for q in self.plan.queries)


def log_ratio(setting: NeighbourRun, recorded: Recording, output: Array) -> tuple[Array, Array]:
    """Log density ratio of recorded transcripts between the two data sets of a pair.

    For sampled queries the density is the mixture over whether the differing record was drawn, with the other records'
    contributions taken to be zero: exact where they are, a valid score elsewhere. An output that only one of the data
    sets explains is infinitely likelier under it.

    Returns
    -------
    array (R, BINS), log ratios summed over consecutive parts of the transcript
    array (R,) of bool, whether neither data set explains the output: it is no function of the transcript
    """
    first, second = (replayed(setting, data, recorded, len(output)) for data in setting.pair)
    bins = np.zeros((len(output), BINS))
    total = len(recorded.transcript)
    with np.errstate(invalid="ignore", over="ignore"):
        for query in setting.plan.queries:
            places = [where for where in recorded.transcript if where[0] == query.name]
            order = {where: k for k, where in enumerate(recorded.transcript)}
            if isinstance(query.records, RandomAllocation) and places:
                ratio = _allocated(setting, query, first, recorded) - _allocated(setting, query, second, recorded)
                bins[:, 0] += np.where(np.isnan(ratio), 0.0, ratio)
                continue
            for where in places:
                ratio = _release(setting, query, where, first, recorded)
                ratio = ratio - _release(setting, query, where, second, recorded)
                # not a number: neither data set can release this, which is no evidence
                bins[:, order[where] * BINS // total] += np.where(np.isnan(ratio), 0.0, ratio)
    near = [explains(side, output) for side in (first, second)]
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


def _allocated(setting: NeighbourRun, query: Query, side: Side, recorded: Recording) -> Array:
    """Log density of all releases of a query on shuffled records."""
    scale, name = setting.scales[query.name], query.name
    steps = [step for own, step in recorded.transcript if own == name]
    without, drawn = (
        np.stack([log_density(query, scale, t, seen[name, t], recorded.transcript[name, t]) for t in steps])
        for seen in (side.out, side.drawn)
    )
    assert isinstance(query.records, RandomAllocation)
    return allocated(query.records, without, drawn)


def explains(side: Side, output: Array) -> Array:
    """Whether a data set, given the transcript, leads to the output, ``(R,)``."""
    size = SAME_OUTPUT * (1.0 + np.abs(output).max(axis=-1))
    return np.any([np.abs(output - other).max(axis=-1) <= size for other in side.outputs], axis=0)
