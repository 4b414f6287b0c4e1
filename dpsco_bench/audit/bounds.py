"""Lower confidence bounds on epsilon from scores of runs on two neighbouring data sets: statistics only.

For every event E, (epsilon, delta)-differential privacy gives ``P(E) <= exp(epsilon) Q(E) + delta`` in both directions.
An event is picked for each direction on a training part of the scores; on the rest, Clopper-Pearson bounds on its two
probabilities bound epsilon from below, jointly valid by Bonferroni (two directions, two bounds each).

How surely an audit would refute a claim is predicted from the privacy losses of a few runs, before it is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, ndtri
from scipy.stats import norm as standard_normal

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_mu

Array = np.ndarray
Value = Callable[[Any, Any], Any]  # bounds on both probabilities of an event -> that on a privacy parameter
TRAINING = 0.3  # part of the scores, taken from the front, on which the events are chosen
CANDIDATES = 200  # thresholds tried per tail on it: geometric in rank, since the best events lie in the tails
BOUNDS = 4
THRESHOLDS = 60  # events that are tried in each direction, evenly in the quantiles of the scores
REPEATS = 2000  # simulated audits
POSSIBLE = 200  # pairs of probabilities that they are simulated with
HOPELESS = -4.0  # standard deviations below the claim at which an event is given up
COUNTED = 10  # runs that an event must have met for its probability to be known from them
LESS, DOUBT = 0.16, 0.02  # chances that counted probabilities are beyond their limits: the best event is a lucky one
REACH = 6.0  # cuts that are tried of normal scores, in standard deviations
NORMALISED = 2.0  # factor within which ``E exp(-score)`` must be 1 for scores to pass as log density ratios


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on epsilon and the event that shows it: bounds on the larger probability and on the smaller one."""

    epsilon: float
    direction: str
    event: str
    power_low: float
    false_alarm_high: float


class _Event(NamedTuple):
    """The scores on one side of a threshold."""

    threshold: float
    upper: bool

    def count(self, scores: Array) -> int:
        return int(np.count_nonzero(scores >= self.threshold if self.upper else scores <= self.threshold))

    def __str__(self) -> str:
        return f"score {'>=' if self.upper else '<='} {self.threshold:.6g}"


def clopper_pearson_lower(successes: Any, trials: int, error: float) -> Any:
    """Compute a binomial probability's exact lower confidence limit, above it with probability `error` at most."""
    k = np.asarray(successes, dtype=float)
    return np.where(k > 0, betaincinv(np.maximum(k, 1e-300), trials - k + 1.0, error), 0.0)


def clopper_pearson_upper(successes: Any, trials: int, error: float) -> Any:
    """Compute a binomial probability's exact upper confidence limit (see `clopper_pearson_lower`)."""
    k = np.asarray(successes, dtype=float)
    below = k < trials
    return np.where(below, betaincinv(k + 1.0, np.where(below, trials - k, 1.0), 1.0 - error), 1.0)


def lower_bound(
    scores_p: Any, scores_q: Any, delta: float, confidence: float = 0.95, thresholds: tuple[float, float] | None = None
) -> LowerBound:
    """Bound epsilon from below, with the event behind it.

    Raises InputError for NaN scores.

    Parameters
    ----------
    scores_p, scores_q : array (N,), (M,), at least 2 each
        One real score per independent run on each of the two data sets; ties and infinities are allowed. The scores may
        depend on anything but on these runs' data set: any function of what the mechanism releases gives a valid bound.
    delta : float, in [0, 1)
    confidence : float, in (0, 1): probability, at least, that the bound does not exceed the true epsilon
    thresholds : two floats, optional
        Of further events, chosen without these scores: ``score >= first`` as the likelier on the first data set, and
        ``score <= second`` as the likelier on the second. They are tested too, and all bounds hold jointly.
    """
    error = (1.0 - confidence) / (BOUNDS if thresholds is None else 2 * BOUNDS)
    return _largest(scores_p, scores_q, partial(_epsilon, delta=delta), error, thresholds)


def gdp_lower_bound(scores_p: Any, scores_q: Any, confidence: float) -> float:
    """Bound the Gaussian-DP parameter from below, from scores as those of `lower_bound`.

    A mu-GDP run has ``Phi^-1(P(E)) <= Phi^-1(Q(E)) + mu`` for every event E. Events in the middle of the scores tell
    most, where counts are large: far fewer runs come close to the parameter than to an epsilon at a small delta.
    """
    return _largest(scores_p, scores_q, _mu, (1.0 - confidence) / BOUNDS).epsilon


def _mu(power: Any, false_alarm: Any) -> Any:
    return np.maximum(ndtri(np.maximum(power, 1e-300)) - ndtri(np.minimum(false_alarm, 1.0 - 1e-16)), 0.0)


def _epsilon(power: Any, false_alarm: Any, delta: float) -> Any:
    """``ln((power - delta)/false_alarm)``, at least 0."""
    gain = np.maximum(np.asarray(power) - delta, 0.0) / np.maximum(false_alarm, 1e-300)
    return np.log(np.maximum(gain, 1.0))


def _largest(
    scores_p: Any, scores_q: Any, value: Value, error: float, thresholds: tuple[float, float] | None = None
) -> LowerBound:
    """Choose an event for either direction on the front of the scores, test it and further ones on the rest.

    Returns the largest bound on the parameter that ``value`` gives from a lower limit of the larger probability and an
    upper limit of the smaller one, each missed with probability ``error`` at most.
    """
    sides = []
    for key, given in (("scores_p", scores_p), ("scores_q", scores_q)):
        scores = np.asarray(given, dtype=float)
        if np.isnan(scores).any():
            raise InputError(key, math.nan, "numbers (infinities are allowed)")
        sides.append(np.split(scores, [max(1, round(TRAINING * len(scores)))]))
    p, q = sides
    tried = [("P over Q", p, q, _choose(p, q, value, error)), ("Q over P", q, p, _choose(q, p, value, error))]
    if thresholds is not None:
        tried += [("P over Q", p, q, _Event(thresholds[0], True)), ("Q over P", q, p, _Event(thresholds[1], False))]
    found = []
    for direction, (_, likely), (_, unlikely), event in tried:
        low = float(clopper_pearson_lower(event.count(likely), len(likely), error))
        high = float(clopper_pearson_upper(event.count(unlikely), len(unlikely), error))
        found.append(LowerBound(float(value(low, high)), direction, str(event), low, high))
    return max(found, key=lambda bound: bound.epsilon)


def _choose(one: Sequence[Array], other: Sequence[Array], value: Value, error: float) -> _Event:
    """Choose the event of the largest value on the test parts, with one false alarm more than the training parts show.

    Both sides are given by their training and test parts, the likelier one first; of test parts the size alone counts.
    """
    (likely, unlikely), (trials, other_trials) = (one[0], other[0]), (len(one[1]), len(other[1]))
    best, chosen = -1.0, _Event(math.inf, True)
    values = np.sort(np.concatenate([likely, unlikely]))
    ranks = np.unique(np.geomspace(1, len(values), CANDIDATES).astype(int)) - 1
    candidates = np.unique(values[np.concatenate([ranks, len(values) - 1 - ranks])])
    for sign in (-1.0, 1.0):  # events score >= t, then score <= t
        tails = np.sort(sign * candidates)
        hits, alarms = (np.searchsorted(np.sort(sign * own), tails, side="right") for own in (likely, unlikely))
        power = clopper_pearson_lower(hits * (trials / len(likely)), trials, error)
        expected = np.minimum((alarms + 1) * (other_trials / len(unlikely)), other_trials)
        promised = value(power, clopper_pearson_upper(expected, other_trials, error))
        i = int(np.argmax(promised))
        if promised[i] > best:
            best, chosen = float(promised[i]), _Event(float(sign * tails[i]), sign < 0)
    return chosen


class Events(NamedTuple):
    """Probabilities of some events ``score >= t`` on both data sets, as a pilot knows them.

    They are estimates; of events that are counted limits, the first less a standard error, the second with two or more.
    From a threshold, a number and a generator, ``possible`` draws pairs of probabilities that the pilot leaves
    possible.
    """

    thresholds: Array
    likely: Array
    unlikely: Array
    possible: Callable[[float, int, np.random.Generator], tuple[Array, Array]]


def events(likely: Any, unlikely: Any, exact: bool) -> Events:
    """Estimate both probabilities of events of the scores ``(N,)`` and ``(M,)`` of some runs on the two data sets.

    Where scores are log density ratios L (``exact``) every run on either data set tells of both: by ``1/(1 + e^-L)`` of
    the likely one, and by the rest of the other; the Bayesian bootstrap keeps errors of both together. Else
    probabilities are limits for the shares of runs.
    """
    sides = ordered, others = tuple(np.sort(np.asarray(scores, dtype=np.float64)) for scores in (likely, unlikely))
    total = len(ordered)
    thresholds = np.unique(ordered[np.unique(np.linspace(0, total - min(COUNTED, total), THRESHOLDS).astype(int))])
    with np.errstate(over="ignore"):
        norm = float(np.mean(np.exp(-np.clip(ordered, -700.0, 700.0))))
    if exact and 1.0 / NORMALISED < norm < NORMALISED:
        pooled = np.sort(np.concatenate(sides))
        weights = np.stack([expit(pooled), expit(-pooled)], axis=-1)

        def bootstrap(threshold: float, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
            inside = np.searchsorted(pooled, threshold, side="left")
            shares = rng.standard_exponential((size, len(pooled)))
            met = np.minimum(shares[:, inside:] @ weights[inside:] / (shares @ weights), 1.0)
            return met[:, 0], met[:, 1]

        inside = np.searchsorted(pooled, thresholds, side="left")
        met = np.minimum(np.cumsum(weights[::-1], axis=0)[::-1][inside] / weights.sum(axis=0), 1.0)
        return Events(thresholds, met[:, 0], met[:, 1], bootstrap)

    def posterior(threshold: float, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
        missed = [np.searchsorted(own, threshold, side="left") for own in sides]
        first, second = (rng.beta(len(own) - k + 0.5, k + 0.5, size) for own, k in zip(sides, missed, strict=True))
        return first, second

    met = [len(own) - np.searchsorted(own, thresholds, side="left") for own in sides]
    low = clopper_pearson_lower(met[0], total, LESS)
    return Events(thresholds, low, clopper_pearson_upper(met[1], len(others), DOUBT), posterior)


def expected_bounds(likely: Array, unlikely: Array, runs: int, delta: float, confidence: float) -> Array:
    """Predict the lower bound on epsilon of an audit of so many runs, by each event at its expected counts."""
    tested, error = round((1.0 - TRAINING) * runs), (1.0 - confidence) / (2 * BOUNDS)
    low = clopper_pearson_lower(likely * tested, tested, error)
    high = clopper_pearson_upper(unlikely * tested, tested, error)
    return np.asarray(np.log(np.maximum((low - delta) / np.maximum(high, 1e-300), 1e-300)))


def attainable_bound(runs: int, epsilon: float, delta: float, confidence: float) -> float:
    """Predict the lower bound that so many runs would show of normal noise that attains an epsilon at ``delta``.

    0 for what such runs do not show, infinity for no noise, NaN where epsilon is none. Its distance from a prediction
    is what a pair of data sets, or a bound of an accountant, gives away.
    """
    if not epsilon > 0.0:
        return math.nan
    if math.isinf(epsilon):
        return math.inf
    mu, cuts = gdp_mu(epsilon, delta), np.linspace(-REACH, REACH, THRESHOLDS)
    likely, unlikely = standard_normal.sf(cuts - mu), standard_normal.sf(cuts)
    return max(0.0, float(expected_bounds(likely, unlikely, runs, delta, confidence).max()))


def best_event(found: Events, runs: int, claim: float, delta: float, confidence: float) -> int:
    """Choose the event that most probably refutes a claim (in standard deviations), else the one that promises most."""
    promised = expected_bounds(found.likely, found.unlikely, runs, delta, confidence)
    tested = round((1.0 - TRAINING) * runs)
    spread = sum((1.0 - p) / np.maximum(p * tested, 1.0) for p in (found.likely, found.unlikely))
    above = (promised - claim) / np.sqrt(np.maximum(spread, 1.0 / tested))
    return int(np.argmax(above if above.max() > HOPELESS else promised))


def predicted_power(found: Events, runs: int, claim: float, delta: float, confidence: float, *, seed: int = 0) -> float:
    """Simulate the counts of `best_event`: the probability that an audit finds a lower bound above a claim."""
    tested, error = round((1.0 - TRAINING) * runs), (1.0 - confidence) / (2 * BOUNDS)
    best, rng = best_event(found, runs, claim, delta, confidence), np.random.default_rng(seed)
    chances = found.possible(found.thresholds[best], POSSIBLE, rng)
    met, alarms = (rng.binomial(tested, np.repeat(p, REPEATS // POSSIBLE)) for p in chances)
    low, high = clopper_pearson_lower(met, tested, error), clopper_pearson_upper(alarms, tested, error)
    return float(np.mean(low - delta > np.exp(claim) * high))
