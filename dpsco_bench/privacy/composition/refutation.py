"""Lower bounds on epsilon: what refutes a claim where the accountant has an upper bound only."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from dpsco_bench.privacy.accountants import counting, single_index
from dpsco_bench.privacy.charge import Charge
from dpsco_bench.privacy.plan import Disjoint, Full, Plan, Query, SingleIndex
from dpsco_bench.privacy.queries import DrawQuery, GeneralisedGaussianQuery

_opposed = lru_cache(maxsize=1024)(single_index.opposed_epsilon)


def lower_bound(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge | None:
    """Best lower bound from tests of one query of the plan; None where there is no test for any.

    Of a draw it may be the exact value.

    A record may enter any one block of a query on disjoint blocks: one release is tested.
    """
    bounds = [bound for q in plan.queries if (bound := _query_bound(q, scales[q.name], delta)) is not None]
    return max(bounds, key=lambda bound: bound.epsilon, default=None)


def _query_bound(query: Query, scale: float, delta: float) -> Charge | None:
    if query.factors(0, 1) is not None:
        return None
    if isinstance(query, DrawQuery):
        return query.attained(scale, delta)
    shift, records = query.sensitivity / scale, query.records
    if isinstance(records, SingleIndex) and query.is_normal:
        epsilon = _opposed(shift, query.releases, 1.0 / records.population, delta)
        return Charge(epsilon, "lower", single_index.accountant_name())
    if isinstance(query, GeneralisedGaussianQuery) and isinstance(records, Full | Disjoint) and query.draws == 1:
        steps = 1 if isinstance(records, Disjoint) else query.releases
        epsilon = counting.counting_epsilon(shift, steps, query.smooth.r, query.smooth.d, delta)
        return Charge(epsilon, "lower", counting.accountant_name())
    return None
