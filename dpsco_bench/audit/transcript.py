"""Transcripts of runs: record what a mechanism releases, and ask what it would have released on other data.

A score is a function of the transcript (and of the final output) alone, never of a hidden draw: a bound on epsilon from
it is a bound for the mechanism that was run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.guarded import call_run
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Disjoint, Full, GaussianQuery, Nodes, Plan, Poisson, SingleIndex
from dpsco_bench.problems.base import Batch, Data
from dpsco_bench.problems.objective import Objective

Array = np.ndarray
Where = tuple[str, int]

BINS = 8
"""Consecutive parts of the transcript whose log-likelihood ratios are kept apart, so that weights can be learned."""
DECIMALS = 9
"""Scores are rounded: differences in their last bits would exploit floating-point noise, not the mechanism."""
SAME_OUTPUT = 1e-9


class Recorder:
    """Passes everything on to a mechanism and keeps what it released."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.transcript: dict[Where, Array] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        released = self._mechanism.release(name, value, step)
        self.transcript[name, step] = released
        return released


class ForcedReplay(Mechanism):
    """Returns a recorded transcript whatever the data, and measures how far the data's own values lie from it.

    Parameters
    ----------
    transcript : dict, as recorded, of so many replicates
    record : int, the differing record
    drawn : bool
        Whether sampled queries look at that record and no other, or at none (a single-index query then looks at another
        record). The batches really drawn are hidden and play no part.

    Attributes
    ----------
    squares : dict, squared distance ``(R,)`` of the released from the exact value, per (query, step)
    """

    def __init__(
        self,
        plan: Plan,
        scales: Mapping[str, float],
        transcript: dict[Where, Array],
        replicates: int,
        record: int,
        drawn: bool,
    ) -> None:
        super().__init__(plan, scales, "", 0, 0, replicates)
        self._transcript, self._count, self._record, self._drawn = transcript, replicates, record, drawn
        self.squares: dict[Where, Array] = {}

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        """The recorded value."""
        forced = self._transcript[name, step]
        self.squares[name, step] = np.sum((forced - value) ** 2, axis=-1)
        return forced

    def sample(self, name: str, step: int = 0) -> Batch:
        """The differing record, or none but it."""
        query = self._declared(name, step)
        single = isinstance(query.records, SingleIndex)
        index = self._record if self._drawn else (self._record + 1) % self.plan.n
        weight = 1.0 if self._drawn or single else 0.0
        shape = (self._count, 1)
        return Batch(
            np.full(shape, index), np.full(shape, weight), np.full(self._count, weight), self.expected_size(query)
        )


@dataclass(frozen=True)
class Side:
    """One of the two neighbouring data sets as a transcript sees it: squared distances and outputs of its replays."""

    out: dict[Where, Array]
    drawn: dict[Where, Array]
    outputs: tuple[Array, ...]


def supports(plan: Plan) -> bool:
    """Whether every query of a plan has a likelihood here."""
    return all(
        isinstance(q, GaussianQuery) and isinstance(q.records, Full | Disjoint | Nodes | Poisson | SingleIndex)
        for q in plan.queries
    )


@dataclass(frozen=True)
class Setting:
    """A calibrated algorithm on a pair of neighbouring data sets that differ in one record."""

    cell: Cell
    plan: Plan
    scales: Mapping[str, float]
    pair: tuple[Data, Data]
    record: int

    def execute(self, data: Data, mechanism: Any, replicates: int) -> Array:
        """Run the algorithm; returns the outputs ``(R, d)``."""
        objective = Objective(self.cell.problem_entry, data, replicates)
        return np.asarray(call_run(self.cell.algorithm_entry, objective, self.plan, mechanism, counted=False))


def log_ratio(setting: Setting, transcript: dict[Where, Array], output: Array) -> Array:
    """Log-likelihood ratio of recorded transcripts between the two data sets of a pair.

    For sampled queries the likelihood is the mixture over whether the differing record was drawn, with the other
    records' contributions taken to be zero: exact where they are, a valid score elsewhere. An output that only one of
    the data sets explains is infinitely likelier under it.

    Returns
    -------
    array (R, BINS), log ratios summed over consecutive parts of the transcript
    """
    first, second = (_replay(setting, data, transcript, len(output)) for data in setting.pair)
    bins = np.zeros((len(output), BINS))
    for k, where in enumerate(transcript):
        query, scale = cast(GaussianQuery, setting.plan.query(where[0])), setting.scales[where[0]]
        with np.errstate(invalid="ignore"):  # neither data set can release this: no evidence
            ratio = _log_density(query, scale, first, where) - _log_density(query, scale, second, where)
        bins[:, k * BINS // len(transcript)] += np.where(np.isnan(ratio), 0.0, ratio)
    return np.round(bins, DECIMALS) + _output_ratio(first, second, output)[:, None]


def _replay(setting: Setting, data: Data, transcript: dict[Where, Array], replicates: int) -> Side:
    """Force the transcript on one data set, with the differing record out of every batch and in every batch."""
    sampled = any(q.records.sampled for q in setting.plan.queries)
    squares, outputs = [], []
    for drawn in (False, True)[: 1 + sampled]:
        replay = ForcedReplay(setting.plan, setting.scales, transcript, replicates, setting.record, drawn)
        outputs.append(setting.execute(data, replay, replicates))
        squares.append(replay.squares)
    return Side(squares[0], squares[-1], tuple(outputs))


def _log_density(query: GaussianQuery, scale: float, side: Side, where: Where) -> Array:
    """Log density of one release up to a constant common to both data sets; -inf for what noise 0 cannot give."""
    out, drawn = (_gaussian(squares[where], scale) for squares in (side.out, side.drawn))
    if not isinstance(query.records, Poisson | SingleIndex):
        return out
    rate = query.records.rate if isinstance(query.records, Poisson) else 1.0 / query.records.population
    rest = math.log1p(-rate) if rate < 1 else -math.inf
    return np.logaddexp(rest + out, math.log(rate) + drawn)


def _gaussian(squares: Array, scale: float) -> Array:
    if scale == 0:
        return np.where(squares == 0, 0.0, -np.inf)
    return squares / (-2.0 * scale * scale)


def _output_ratio(first: Side, second: Side, output: Array) -> Array:
    """Infinite where just one data set, given the transcript, leads to the output; 0 elsewhere."""
    size = SAME_OUTPUT * (1.0 + np.abs(output).max(axis=-1))
    near = [
        np.any([np.abs(output - other).max(axis=-1) <= size for other in side.outputs], axis=0)
        for side in (first, second)
    ]
    return np.where(near[0] == near[1], 0.0, np.where(near[0], np.inf, -np.inf))
