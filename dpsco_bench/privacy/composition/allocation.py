"""One query on batches that are cut from a random order of the records: random allocation."""

from __future__ import annotations

from collections.abc import Mapping

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.accountants import allocation, gaussian
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.composition.batches import gdp_shift
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.records import RandomAllocation
from dpsco_bench.privacy.spec import PrivacySpec


def covers(plan: Plan) -> bool:
    return any(isinstance(q.records, RandomAllocation) for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound; if no record is left over, that of a known batch.

    Raises Refusal for several queries, noise of another kind, or noise that changes.
    """
    query, participation = _alone(plan)
    shift = gdp_shift(query, scales[query.name])
    if participation == 1.0:
        return Charge(gaussian.gdp_epsilon(shift, delta), "upper", f"{gaussian.accountant_name()}, batch known")
    epsilon = allocation.allocation_epsilon(shift, query.releases, participation, delta)
    return Charge(epsilon, "upper", allocation.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    query, participation = _alone(plan)
    epsilon, delta = privacy.epsilon, privacy.delta
    if participation == 1.0:
        return {query.name: gdp_shift(query, 1.0) / gaussian.gdp_mu(epsilon, delta)}
    return {query.name: gdp_shift(query, 1.0) / allocation.largest_shift(epsilon, delta, query.releases, participation)}


def _alone(plan: Plan) -> tuple[Query, float]:
    """Return the query, and the probability that a record takes part in one of its releases."""
    query = plan.queries[0]
    order = query.records
    if len(plan.queries) > 1 or query.norm_kappa is None or query.factors(0, 1) is not None:
        kinds = ", ".join(type(q).__name__ for q in plan.queries)
        raise Refusal("plan", f"no accountant here composes {kinds}, one of them on a random order of the records")
    assert isinstance(order, RandomAllocation)
    used = query.releases * order.size
    if used > order.population:
        raise InputError(f"releases of {query.name}", query.releases, f"at most {order.population // order.size}")
    return query, used / order.population


COMPOSITION = Composition(covers, charge, accounted_scales)
