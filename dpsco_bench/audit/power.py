"""How surely an audit would refute a claim, predicted from the privacy losses of a few runs before it is made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm as standard_normal

from dpsco_bench.audit.bounds import BOUNDS, TRAINING, clopper_pearson_lower, clopper_pearson_upper
from dpsco_bench.privacy.accountants.gaussian import gdp_mu

Array = np.ndarray

THRESHOLDS = 60  # events that are tried in each direction, evenly in the quantiles of the scores
REPEATS = 2000  # simulated audits
POSSIBLE = 200  # pairs of probabilities that they are simulated with
HOPELESS = -4.0  # standard deviations below the claim at which an event is given up
COUNTED = 10  # runs that an event must have met for its probability to be known from them
LESS, DOUBT = 0.16, 0.02
"""Chances that the counted probabilities are beyond their limits: the best of many events is a lucky one."""
REACH = 6.0  # cuts that are tried of normal scores, in standard deviations
NORMALISED = 2.0  # factor within which ``E exp(-score)`` must be 1 for scores to pass as log density ratios


@dataclass(frozen=True)
class Events:
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
    the likely one, and by the rest of the other. Else probabilities are limits for the shares of runs.
    """
    ordered, others = (np.sort(np.asarray(scores, dtype=np.float64)) for scores in (likely, unlikely))
    total = len(ordered)
    thresholds = np.unique(ordered[np.unique(np.linspace(0, total - min(COUNTED, total), THRESHOLDS).astype(int))])
    with np.errstate(over="ignore"):
        norm = float(np.mean(np.exp(-np.clip(ordered, -700.0, 700.0))))
    if exact and 1.0 / NORMALISED < norm < NORMALISED:
        pooled = np.sort(np.concatenate([ordered, others]))
        weights = np.stack([expit(pooled), expit(-pooled)], axis=-1)
        inside = np.searchsorted(pooled, thresholds, side="left")
        met = np.minimum(np.cumsum(weights[::-1], axis=0)[::-1][inside] / weights.sum(axis=0), 1.0)
        return Events(thresholds, met[:, 0], met[:, 1], partial(_bootstrap, pooled, weights))
    low = clopper_pearson_lower(total - np.searchsorted(ordered, thresholds, side="left"), total, LESS)
    high = clopper_pearson_upper(len(others) - np.searchsorted(others, thresholds, side="left"), len(others), DOUBT)
    return Events(thresholds, low, high, partial(_posterior, (ordered, others)))


def _bootstrap(
    pooled: Array, weights: Array, threshold: float, size: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw by the Bayesian bootstrap of scores that are densities, so that errors of both go together."""
    inside = np.searchsorted(pooled, threshold, side="left")
    shares = rng.standard_exponential((size, len(pooled)))
    met = shares[:, inside:] @ weights[inside:] / (shares @ weights)
    return np.minimum(met[:, 0], 1.0), np.minimum(met[:, 1], 1.0)


def _posterior(
    sides: tuple[Array, Array], threshold: float, size: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw by the posterior of the counts."""
    missed = [np.searchsorted(own, threshold, side="left") for own in sides]
    first, second = (rng.beta(len(own) - k + 0.5, k + 0.5, size) for own, k in zip(sides, missed, strict=True))
    return first, second


def expected_bounds(likely: Array, unlikely: Array, runs: int, delta: float, confidence: float) -> Array:
    """Predict the lower bound on epsilon of an audit of so many runs, by each event at its expected counts."""
    tested, error = tested_runs(runs), (1.0 - confidence) / (2 * BOUNDS)
    low = clopper_pearson_lower(likely * tested, tested, error)
    high = clopper_pearson_upper(unlikely * tested, tested, error)
    return np.asarray(np.log(np.maximum((low - delta) / np.maximum(high, 1e-300), 1e-300)))


def expected_bound(found: Events, runs: int, delta: float, confidence: float) -> float:
    return float(np.max(expected_bounds(found.likely, found.unlikely, runs, delta, confidence), initial=-np.inf))


def attainable_bound(runs: int, epsilon: float, delta: float, confidence: float) -> float:
    """Predict the lower bound that so many runs would show of normal noise that attains an epsilon at ``delta``.

    What a pair of data sets, or a bound of an accountant, gives away is seen by the distance of a prediction from it.
    0 for what such runs do not show, infinity for no noise, NaN where epsilon is none.
    """
    if not epsilon > 0.0:
        return math.nan
    if math.isinf(epsilon):
        return math.inf
    mu, cuts = gdp_mu(epsilon, delta), np.linspace(-REACH, REACH, THRESHOLDS)
    likely, unlikely = standard_normal.sf(cuts - mu), standard_normal.sf(cuts)
    return max(0.0, float(expected_bounds(likely, unlikely, runs, delta, confidence).max()))


def best_threshold(found: Events, runs: int, claim: float, delta: float, confidence: float) -> float:
    return float(found.thresholds[best_event(found, runs, claim, delta, confidence)])


def best_event(found: Events, runs: int, claim: float, delta: float, confidence: float) -> int:
    """Choose the event that most probably refutes a claim (in standard deviations), else the one that promises most."""
    bounds, tested = expected_bounds(found.likely, found.unlikely, runs, delta, confidence), tested_runs(runs)
    spread = sum((1.0 - p) / np.maximum(p * tested, 1.0) for p in (found.likely, found.unlikely))
    above = (bounds - claim) / np.sqrt(np.maximum(spread, 1.0 / tested))
    return int(np.argmax(above if above.max() > HOPELESS else bounds))


def predicted_power(found: Events, runs: int, claim: float, delta: float, confidence: float, *, seed: int = 0) -> float:
    """Simulate the counts of `best_event`: the probability that an audit finds a lower bound above a claim."""
    tested, error = tested_runs(runs), (1.0 - confidence) / (2 * BOUNDS)
    best, rng = best_event(found, runs, claim, delta, confidence), np.random.default_rng(seed)
    likely, unlikely = (
        np.repeat(p, REPEATS // POSSIBLE) for p in found.possible(found.thresholds[best], POSSIBLE, rng)
    )
    low = clopper_pearson_lower(rng.binomial(tested, likely), tested, error)
    high = clopper_pearson_upper(rng.binomial(tested, unlikely), tested, error)
    return float(np.mean(low - delta > np.exp(claim) * high))


def tested_runs(runs: int) -> int:
    """Count the runs on each data set on which the chosen event is tested."""
    return max(1, round((1.0 - TRAINING) * runs))


def both_directions(scores: tuple[Array, Array], exact: bool) -> tuple[Events, Events]:
    """Estimate events that are likelier on the first data set, and those that are likelier on the second."""
    first, second = scores
    return events(first, second, exact), events(-second, -first, exact)
