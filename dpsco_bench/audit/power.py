"""How surely an audit would refute a claim, predicted from the privacy losses of a few runs before it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.audit.bounds import BOUNDS, TRAINING, clopper_pearson_lower, clopper_pearson_upper

Array = np.ndarray

THRESHOLDS = 60
"""Events that are tried in each direction, evenly in the quantiles of the scores."""
REPEATS = 2000
"""Simulated audits."""
COUNTED = 10
"""Runs that an event must have met for its probability to be known from them."""
DOUBT = 0.02
"""Chance that a counted probability is larger than its limit: the best of many events is a lucky one."""
NORMALISED = 2.0
"""Factor within which ``E exp(-score)`` must be 1 for scores to pass as log density ratios."""


@dataclass(frozen=True)
class Events:
    """Probabilities of some events ``score >= t`` on both data sets, as a pilot knows them.

    Attributes
    ----------
    thresholds : array (T,)
        The t.
    likely, unlikely : array (T,)
        The first less a standard error, the second with one or more.
    """

    thresholds: Array
    likely: Array
    unlikely: Array


def events(likely: Any, unlikely: Any, exact: bool) -> Events:
    """Events of the scores of some runs on the likely data set, and what they say of both probabilities.

    Parameters
    ----------
    likely, unlikely : array (N,), (M,)
        Scores of runs on the two data sets that the audit does not use.
    exact : bool
        Whether scores are log density ratios, so that the probability of a rare event on the unlikely data set is the
        mean of ``exp(-score)`` over the runs on the likely one that meet it. Else it is an upper limit for the share
        of runs that met it.
    """
    ordered, others = (np.sort(np.asarray(scores, dtype=np.float64)) for scores in (likely, unlikely))
    total = len(ordered)
    thresholds = np.unique(ordered[np.unique(np.linspace(0, total - min(COUNTED, total), THRESHOLDS).astype(int))])
    first = np.searchsorted(ordered, thresholds, side="left")
    p = (total - first) / total
    alarms = len(others) - np.searchsorted(others, thresholds, side="left")
    q = clopper_pearson_upper(alarms, len(others), DOUBT)
    with np.errstate(over="ignore"):
        weights = np.exp(-np.clip(ordered, -700.0, 700.0))
    norm = float(np.mean(weights))
    if exact and 1.0 / NORMALISED < norm < NORMALISED:
        known = np.cumsum(weights[::-1])[::-1][first] / total / norm
        relative = np.sqrt(np.maximum(1.0 - p, 0.0) / (p * total))
        q = np.minimum(known * (1.0 + relative), 1.0)
    return Events(thresholds, clopper_pearson_lower(total - first, total, 0.16), q)


def expected_bounds(found: Events, runs: int, delta: float, confidence: float) -> Array:
    """Lower bound on epsilon that an audit of so many runs would have by each event at its expected counts."""
    tested, error = tested_runs(runs), (1.0 - confidence) / (2 * BOUNDS)
    low = clopper_pearson_lower(found.likely * tested, tested, error)
    high = clopper_pearson_upper(found.unlikely * tested, tested, error)
    return np.asarray(np.log(np.maximum((low - delta) / np.maximum(high, 1e-300), 1e-300)))


def expected_bound(found: Events, runs: int, delta: float, confidence: float) -> float:
    """The largest of them."""
    return float(np.max(expected_bounds(found, runs, delta, confidence), initial=-np.inf))


def best_threshold(found: Events, runs: int, delta: float, confidence: float) -> float:
    """That of the event that promises most."""
    return float(found.thresholds[int(np.argmax(expected_bounds(found, runs, delta, confidence)))])


def predicted_power(found: Events, runs: int, claim: float, delta: float, confidence: float, *, seed: int = 0) -> float:
    """Probability that an audit of ``runs`` runs on each data set finds a lower bound above a claim.

    By the event that promises most; its counts are simulated.
    """
    tested, error = tested_runs(runs), (1.0 - confidence) / (2 * BOUNDS)
    best, rng = int(np.argmax(expected_bounds(found, runs, delta, confidence))), np.random.default_rng(seed)
    low = clopper_pearson_lower(rng.binomial(tested, found.likely[best], REPEATS), tested, error)
    high = clopper_pearson_upper(rng.binomial(tested, found.unlikely[best], REPEATS), tested, error)
    return float(np.mean(low - delta > np.exp(claim) * high))


def tested_runs(runs: int) -> int:
    """Runs on each data set on which the chosen event is tested."""
    return max(1, round((1.0 - TRAINING) * runs))


def both_directions(scores: tuple[Array, Array], exact: bool) -> tuple[Events, Events]:
    """Events that are likelier on the first data set, and those that are likelier on the second."""
    first, second = scores
    return events(first, second, exact), events(-second, -first, exact)
