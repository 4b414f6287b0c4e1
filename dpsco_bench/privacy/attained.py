"""Attained epsilons: pairs of a problem's own records at which a value is exact, or refutes a claim.

With normal noise an accountant's value is exact for a pair of data sets that changes every released value by the
declared sensitivity. On a problem without such a pair it is an upper bound. A lower bound is that of a change which
some records make that the theorem admits: on a problem without such records it refutes the theorem, not this instance.
"""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.privacy.plan import Charge, Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Disjoint, Full, SingleIndex, WithoutReplacement, WithReplacement
from dpsco_bench.problems.base import Data, Problem

ROUNDING, CURVATURE_ROUNDING = 1e-9, 1e-6


def attaining_pair(problem: Problem, plan: Plan, n: int) -> Data | None:
    """Two records of the problem that attain every query of a plan, where each releases a mean of gradients.

    Their gradients are n (or the size of a block) times the sensitivity apart, in one direction at every point. None
    where the problem knows no such pair, or the queries ask for different ones.
    """
    if not all(query.is_normal and isinstance(query.records, Full | Disjoint) for query in plan.queries):
        return None
    return _opposed(problem, plan, n)


def attains(problem: Problem, plan: Plan, n: int, charge: Charge) -> bool:
    """Tell whether two data sets of the problem are known to attain the plan's charge.

    An exact value is (`attaining_pair` has been asked for). A lower one is where the problem has two opposed records
    for every query, whose gradients differ in the direction that the bound tests: one is the record, and all others of
    both data sets are alike. An upper bound is attained by nothing that is known.
    """
    if charge.kind != "lower":
        return charge.kind == "exact"
    if charge.pair in ("", "computed"):
        return bool(charge.pair)
    pair = _opposed(problem, plan, n)
    return pair is not None and (charge.pair == "any" or _direction(problem, pair) == charge.pair)


def rests_on_sensitivities(plan: Plan, epsilon: float) -> bool:
    """Tell whether an exact value rests on sensitivities; draws say themselves what attains theirs."""
    return 0.0 < epsilon < math.inf and not any(isinstance(query, DrawQuery) for query in plan.queries)


def attains_curvature(problem: Problem, plan: Plan, n: int) -> bool:
    """Tell whether the objective of n copies of one record of `attaining_pair` has the plan's least curvature.

    Along the difference of the pair's gradients, so that the last iterate's law is that of a quadratic.
    """
    pair = attaining_pair(problem, plan, n)
    if pair is None or plan.last_iterate is None:
        return False
    start = np.repeat(problem.start[None, :], 2, axis=0)
    before = _gradients(problem, pair, start)
    along = (before[0] - before[1]) / np.linalg.norm(before[0] - before[1])
    after = _gradients(problem, pair, start + along)
    mu = plan.last_iterate.strong_convexity
    found = after - before + problem.own_constants.regularisation * along
    return bool(np.abs(found - mu * along).max() <= CURVATURE_ROUNDING * plan.last_iterate.smoothness)


def _opposed(problem: Problem, plan: Plan, n: int) -> Data | None:
    asked = {_asked(query, n) for query in plan.queries}
    found = asked.pop() if len(asked) == 1 else None
    return None if found is None else problem.opposed_records(*found)


def _asked(query: Query, n: int) -> tuple[float, float] | None:
    """Distance of the gradients, and the order of its norm; None for a query that is no mean of so many gradients."""
    match query.records:
        case Full():
            size = n
        case SingleIndex(size=size) | Disjoint(size=size) | WithoutReplacement(size=size) | WithReplacement(size=size):
            pass
        case _:
            return None
    return float(f"{query.sensitivity * size:.12g}"), query.norm


def _direction(problem: Problem, pair: Data) -> str:
    """``axis`` or ``even`` for the difference of the gradients of two records, both in one dimension; else empty."""
    first, second = _gradients(problem, pair, np.zeros((2, problem.dimension)))
    change = np.abs(first - second)
    largest = change.max()
    if (change > (1.0 - ROUNDING) * largest).all():
        return "even"
    return "axis" if (change > ROUNDING * largest).sum() == 1 else ""


def _gradients(problem: Problem, pair: Data, points: np.ndarray) -> np.ndarray:
    """Gradient of either record at its point, ``(2, d)``."""
    rows = [None if own is None else np.asarray(own)[:, None] for own in (pair.features, pair.labels)]
    return to_numpy(problem.batch_gradient(points, Data(2, *rows), np.ones((2, 1))))
