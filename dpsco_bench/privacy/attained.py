"""Whether a pair of a problem's own records attains what a plan declares, so that an exact epsilon is exact here.

With normal noise an accountant's value is exact for a pair of data sets that changes every released value by the
declared sensitivity. On a problem without such a pair it is an upper bound.
"""

from __future__ import annotations

import math

from dpsco_bench.privacy.plan import Disjoint, Full, Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.problems.base import Data, Problem

ROUNDING = 1e-9


def attaining_pair(problem: Problem, plan: Plan, n: int) -> Data | None:
    """Two records of the problem that attain every query of a plan, where each releases a mean of gradients.

    Their gradients are n (or the size of a block) times the sensitivity apart, in one direction at every point. None
    where the problem knows no such pair, or the queries ask for different ones.
    """
    asked = {_asked(query, n) for query in plan.queries}
    if len(asked) != 1:
        return None
    (found,) = asked
    return None if found is None else problem.opposed_records(*found)


def _asked(query: Query, n: int) -> tuple[float, float] | None:
    """Distance of the gradients, and the order of its norm; None for a query that is no mean of gradients."""
    if not query.is_normal or not isinstance(query.records, Full | Disjoint):
        return None
    size = n if isinstance(query.records, Full) else query.records.size
    return float(f"{query.sensitivity * size:.12g}"), query.norm


def rests_on_sensitivities(plan: Plan, epsilon: float) -> bool:
    """Whether an exact value rests on sensitivities: not for draws, whose own charge says what attains it."""
    return 0.0 < epsilon < math.inf and not any(isinstance(query, DrawQuery) for query in plan.queries)
