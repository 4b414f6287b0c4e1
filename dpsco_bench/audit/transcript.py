"""The log density ratio of a run's transcript between two data sets: the score of an adversary who sees everything.

A score is a function of the transcript, the public choices and the final output alone, never of a hidden draw: a bound
on epsilon from it is a bound for the mechanism that was run. Choices and orders that cost no privacy are public, and a
replay uses the recorded ones. Drawn batches, and the order of records whose shuffling is charged, are hidden: a replay
puts the differing record into every batch or into none, and the density is the mixture.

Where the density of a release has no closed form (a mean of generalised Gaussians, the determinant of a minimiser's
change of variables, the far side of a set that is no l2 ball) the nearest one that has stands in for it. A bound on
epsilon from such a score is valid all the same, with less power.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp
from scipy.stats import binom

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import call_run
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery, ObjectiveQuery, Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Poisson, RandomAllocation, SingleIndex, WithReplacement
from dpsco_bench.problems.base import Batch, Data
from dpsco_bench.problems.objective import Objective

NODES = 12  # points of the quadrature of a noisy minimum, on either side of 0
COPIES = 12  # most copies of a record in a batch drawn with replacement that are told apart
INSIDE = 1.0 - 1e-7  # part of a ball's radius up to which a minimiser counts as an inner point
Array = np.ndarray
Where = tuple[str, int]  # query and step of a release
BINS = 8  # consecutive parts of the transcript whose log density ratios are kept apart, so as to learn weights
DECIMALS = 9  # scores are rounded: differences in their last bits would exploit floating point, not the mechanism
SAME_OUTPUT = 1e-9
PROBES = 16  # linear terms with which the public part of a perturbed objective is measured


def normal(z: Array, scale: float) -> Array:
    """Compute the log density ratio of normal noise ``z (R, k)``; shape ``(R,)``."""
    return -np.sum(z * z, axis=-1) / (2.0 * scale * scale)


def mean_deviation(d: int, r: float, draws: int) -> float:
    """Compute the standard deviation of a coordinate of a mean of ``draws`` vectors ``~ exp(-||z||_r^2/2)``."""
    log_variance = math.log(d) + gammaln(3 / r) + gammaln(d / r) - gammaln(1 / r) - gammaln((d + 2) / r)
    return math.exp(0.5 * float(log_variance)) / math.sqrt(draws)


LAWS: dict[str, Callable[..., Array]] = {  # by the law of a query's noise
    "normal": normal,
    "generalised_gaussian": lambda z, scale, r: -(lp_norm(z, r)[:, 0] ** 2) / (2.0 * scale * scale),
    "generalised_gaussian_mean": lambda z, scale, *law: normal(z, scale * mean_deviation(z.shape[-1], *law)),
    "gamma_norm": lambda z, scale, q=2.0: -lp_norm(z, q)[:, 0] / scale,
}


def supports(plan: Plan) -> bool:
    """Tell whether every query of a plan has a density here."""

    def known(query: Query) -> bool:
        if isinstance(query, NoisyMinimumQuery | ObjectiveQuery | DrawQuery):
            return not query.records.sampled
        own = type(query).answer is Query.answer and type(query).exposed is Query.exposed
        return own and query.law in LAWS

    return all(map(known, plan.queries))


def factor(query: Query, step: int) -> float:
    """Factor of a query's own on the scale of one release."""
    factors = query.factors(step, 1)
    return 1.0 if factors is None else float(np.asarray(factors)[0])


def log_density(query: Query, scale: float, step: int, exposed: Array, released: Array) -> Array:
    """Log density ``(R,)`` of what a query with noise of its own released; -inf for what noise 0 cannot give.

    ``exposed`` is `Query.exposed` on one data set: the value ``(R, k)``, or the scores ``(R, K)`` of a noisy minimum.
    ``released`` are ``(R, k)``, or indices ``(R,)``. The query's own factors are applied to the ``scale`` here.
    """
    scale = scale * factor(query, step)
    if isinstance(query, NoisyMinimumQuery):
        return noisy_minimum(np.asarray(exposed, dtype=np.float64), np.asarray(released), scale)
    z = np.asarray(released, dtype=np.float64) - exposed
    if scale == 0.0:
        return np.where(np.any(z != 0.0, axis=-1), -np.inf, 0.0)
    return LAWS[query.law](z, scale, *query.law_parameters)


def noisy_minimum(scores: Array, chosen: Array, scale: float) -> Array:
    """Log probability that ``chosen (R,)`` is the index of the least of ``scores (R, K)`` plus noise, by quadrature."""
    rows = np.arange(len(scores))
    if scale == 0.0:
        return np.where(np.argmin(scores, axis=-1) == chosen, 0.0, -np.inf)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    below = 0.25 * (nodes + 1.0)  # of the distribution function, in (0, 1/2)
    noise = np.concatenate([np.log(2.0 * below), -np.log(2.0 * below)])
    log_weights = np.log(np.tile(0.25 * weights, 2))
    gap = (scores - scores[rows, chosen][:, None]) / scale
    total = np.tile(log_weights, (len(scores), 1))
    for k in range(scores.shape[-1]):
        here = noise[None, :] - gap[:, k, None]  # the other one's noise has to be above
        tail = np.where(here < 0.0, np.log1p(-0.5 * np.exp(np.minimum(here, 0.0))), -here - math.log(2.0))
        total += np.where((chosen == k)[:, None], 0.0, tail)
    return np.asarray(logsumexp(total, axis=-1))


def minimiser(
    query: ObjectiveQuery, scale: float, data_part: Array, x: Array, weight: float, domain: Any, n: int
) -> Array:
    """Log density of a perturbed minimiser ``x (R, d)``, without determinants, which canaries do not have.

    The linear term is ``b = -(sum of the records' gradients) - n weight x`` inside the domain, with the ``weight`` of
    all public quadratic terms. On the sphere of a ball it is that less any multiple of x, over which the density is
    integrated.
    """
    inside = data_part + n * weight * x
    if scale == 0.0:
        return np.where(np.abs(inside).max(axis=-1) > 1e-6, -np.inf, 0.0)
    found = LAWS[query.law](inside, scale, *query.law_parameters)
    if domain is None or query.law != "normal":
        return found
    length = np.maximum(np.linalg.norm(x, axis=-1), 1e-300)
    along = np.sum(inside * x, axis=-1) / (scale * length)
    on_sphere = found + 0.5 * along * along + log_ndtr(-along)
    return np.where(domain.norm(x)[:, 0] < INSIDE * domain.radius, found, on_sphere)


def mixed(query: Query, scale: float, step: int, sides: tuple[Array, Array], released: Array) -> Array:
    """Log density of a sampled release: a mixture over how often the record, in the second of ``sides``, was drawn."""
    records: Any = query.records
    out, once = sides
    if isinstance(records, WithReplacement):
        copies = np.arange(min(records.size, COPIES) + 1)
        chance = binom.logpmf(copies, records.size, 1.0 / records.population)
        terms = [log_density(query, scale, step, out + k * (once - out), released) for k in copies]
        return np.asarray(logsumexp(np.stack(terms) + chance[:, None], axis=0))
    rate = records.rate if isinstance(records, Poisson) else getattr(records, "size", 1.0) / records.population
    rest = math.log1p(-rate) if rate < 1.0 else -math.inf
    without, drawn = (log_density(query, scale, step, side, released) for side in sides)
    return np.logaddexp(rest + without, math.log(rate) + drawn)


def allocated(records: RandomAllocation, without: Array, drawn: Array) -> Array:
    """Log density ``(R,)`` of all releases of a shuffled pass, with the record in one of them at random, or in none.

    Of each release ``without`` and ``drawn (T, R)`` are log densities without the record, and with it.
    """
    chance = records.size / records.population
    terms = [math.log(chance) + drawn - without]
    left = 1.0 - chance * len(without)
    if left > 1e-12:
        terms.append(np.full((1, without.shape[1]), math.log(left)))
    return without.sum(axis=0) + np.asarray(logsumexp(np.concatenate(terms), axis=0))


class Recording:
    """Passes everything on to a mechanism and keeps what it released, in order."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.transcript: dict[Where, Array] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        self.transcript[name, step] = released = self._mechanism.release(name, value, step)
        return released


class ForcedReplay(Mechanism):
    """Returns a recorded transcript whatever the data, and keeps in `exposed` what the noise would have hidden.

    Sampled queries look at ``record`` and no other where it is ``drawn``, else at none (a single index at another one).
    Public choices and orders are those of the recorded run, which its streams give again.
    """

    def __init__(self, setting: NeighbourRun, recorded: Recording, replicates: int, drawn: bool) -> None:
        super().__init__(setting.plan, setting.scales, "", 0, 0, replicates)
        self._recorded, self._record, self._drawn = recorded, setting.record, drawn
        self._another = (setting.record + 1) % setting.cell.n
        self.exposed: dict[Where, Array] = {}

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        answer = self._recorded.transcript[name, step]
        self.exposed[name, step] = np.array(self.plan.query(name).exposed(value, answer), dtype=np.float64)
        return answer

    def sample(self, name: str, step: int = 0) -> Batch:
        query, record = self._declared(name, step), self._record if self._drawn else self._another
        weights = np.full((self._replicates, 1), float(self._drawn or isinstance(query.records, SingleIndex)))
        return Batch(np.full(weights.shape, record), weights, weights[:, 0], self.expected_size(query))

    def choose(self, name: str, high: int) -> Array:
        return self._recorded.choose(name, high)

    def permutation(self, name: str, size: int) -> Array:
        """Take the recorded order; where it protects, the record heads every batch, or stands nowhere."""
        hidden = [q.records for q in self.plan.queries if isinstance(q.records, RandomAllocation)]
        if not hidden:
            return self._recorded.permutation(name, size)
        order = np.arange(size)
        order[order == self._record] = self._another
        if self._drawn:
            order[:: hidden[0].size] = self._record
        return np.tile(order, (self._replicates, 1))


class Probe(Mechanism):
    """Measures the public quadratic part of perturbed objectives by minimising them with known linear terms.

    By query, ``weights`` have the w such that a minimiser inside the domain has ``b = -(sum of gradients) - n w x``.
    """

    def __init__(self, setting: NeighbourRun) -> None:
        super().__init__(setting.plan, setting.scales, "probe", 0, 0, PROBES)
        self._n, self._domain = setting.cell.n, setting.cell.problem_entry.feasible_set
        self.weights: dict[str, float] = {}

    def release(self, name: str, value: Any, step: int = 0) -> Array:
        if not isinstance(self.plan.query(name), ObjectiveQuery):
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
        """Weight of the public quadratic terms of each perturbed objective."""
        probe = Probe(self)
        self.execute(self.pair[0], probe, PROBES)
        return probe.weights


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
            shuffled = isinstance(query.records, RandomAllocation)  # all releases have one density
            for where in places[:1] if shuffled else places:
                first, second = (_log_density(setting, query, where, side, recorded.transcript) for side in sides)
                # not a number: neither data set can release this, which is no evidence
                ratio = np.where(np.isnan(first - second), 0.0, first - second)
                bins[:, 0 if shuffled else number[where] * BINS // len(number)] += ratio
    size = SAME_OUTPUT * (1.0 + np.abs(output).max(axis=-1))
    near = [np.any([np.abs(output - own).max(axis=-1) <= size for own in side.outputs], axis=0) for side in sides]
    decided = np.where(near[0] == near[1], 0.0, np.where(near[0], np.inf, -np.inf))
    return np.round(bins, DECIMALS) + decided[:, None], ~near[0] & ~near[1]


def replayed(setting: NeighbourRun, data: Data, recorded: Recording, replicates: int) -> Side:
    """Force a transcript on one data set, with the differing record out of every hidden batch and in every one."""
    exposed, outputs = [], []
    for drawn in (False, True)[: 1 + hides_batches(setting.plan)]:
        replay = ForcedReplay(setting, recorded, replicates, drawn)
        outputs.append(setting.execute(data, replay, replicates))
        exposed.append(replay.exposed)
    return Side(data, exposed[0], exposed[-1], tuple(outputs))


def _log_density(
    setting: NeighbourRun, query: Query, where: Where, side: Side, transcript: Mapping[Where, Array]
) -> Array:
    """Log density of a release on one data set, up to a constant common to both; of a shuffled query of all its own."""
    (name, step), scale, problem = where, setting.scales[query.name], setting.cell.problem_entry
    if isinstance(query, DrawQuery):
        k, _ = query.temperature.at(scale)
        return -k * np.asarray(problem.risk(transcript[where], side.data), dtype=np.float64)
    if isinstance(query, ObjectiveQuery):
        weight, domain = setting.public_weights.get(name, 0.0), problem.feasible_set
        return minimiser(query, scale, side.out[where], transcript[where], weight, domain, setting.cell.n)
    if query.records.sampled:
        return mixed(query, scale, step, (side.out[where], side.drawn[where]), transcript[where])
    if isinstance(query.records, RandomAllocation):
        steps = [own for own in transcript if own[0] == name]
        without, drawn = (
            np.stack([log_density(query, scale, own[1], seen[own], transcript[own]) for own in steps])
            for seen in (side.out, side.drawn)
        )
        return allocated(query.records, without, drawn)
    return log_density(query, scale, step, side.out[where], transcript[where])
