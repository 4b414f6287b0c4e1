"""One query with normal noise on uniform subsets of the records: Renyi divergences (`accountants.fixed_size`)."""

from __future__ import annotations

from collections.abc import Mapping

from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.accountants import fixed_size
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan, Query, WithoutReplacement
from dpsco_bench.privacy.spec import PrivacySpec


def covers(plan: Plan) -> bool:
    return any(isinstance(q.records, WithoutReplacement) for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """An upper bound. Raises Refusal for several queries, noise that is not normal, or noise that changes."""
    query, records = _alone(plan)
    multiplier = scales[query.name] / query.sensitivity
    epsilon = fixed_size.subset_gaussian_epsilon(multiplier, records.population, records.size, query.releases, delta)
    return Charge(epsilon, "upper", fixed_size.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    query, records = _alone(plan)
    multiplier = fixed_size.solve_subset_multiplier(
        privacy.epsilon, privacy.delta, records.population, records.size, query.releases
    )
    return {query.name: query.sensitivity * multiplier}


def _alone(plan: Plan) -> tuple[Query, WithoutReplacement]:
    query = plan.queries[0]
    records = query.records
    if len(plan.queries) > 1 or not query.is_normal or query.factors(0, 1) is not None:
        kinds = ", ".join(type(q).__name__ for q in plan.queries)
        raise Refusal("plan", f"no accountant here composes {kinds}, one of them on subsets of the records")
    assert isinstance(records, WithoutReplacement)
    return query, records


COMPOSITION = Composition(covers, charge, accounted_scales)
