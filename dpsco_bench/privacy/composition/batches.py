"""One query on batches of a fixed size, drawn anew for every release, with or without replacement."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.accountants import fixed_size, subsampled_zcdp
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.records import WithoutReplacement, WithReplacement
from dpsco_bench.privacy.spec import PrivacySpec


def covers(plan: Plan) -> bool:
    return any(isinstance(q.records, WithReplacement | WithoutReplacement) for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound. Raises Refusal for several queries, noise of another kind, or noise that changes."""
    query, batch = _alone(plan)
    epsilon = fixed_size.batch_epsilon(
        gdp_shift(query, scales[query.name]), *_sizes(batch, query), delta, isinstance(batch, WithReplacement)
    )
    return Charge(epsilon, "upper", fixed_size.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    query, batch = _alone(plan)
    least = fixed_size.least_scale(
        privacy.epsilon, privacy.delta, *_sizes(batch, query), isinstance(batch, WithReplacement)
    )
    return {query.name: gdp_shift(query, 1.0) * least}


def generic_bound(plan: Plan, scales: Mapping[str, float], privacy: PrivacySpec) -> tuple[float, float] | None:
    """Compute the generic zCDP bound for batches without replacement, for comparison.

    Returns an upper bound on epsilon and the factor by which the noise would have to grow for the claim; None if the
    noise is normal, not zCDP, or on no drawn batches.
    """
    if len(plan.queries) != 1:
        return None
    query = plan.queries[0]
    batch, scale = query.records, scales[query.name]
    if not isinstance(batch, WithReplacement | WithoutReplacement) or query.norm_kappa is None or query.is_normal:
        return None
    if not 0.0 < scale < math.inf:
        return None
    rho, rate = 0.5 * gdp_shift(query, scale) ** 2, batch.size / batch.population
    given = (rho, min(1.0, rate), query.releases, privacy.delta)
    return subsampled_zcdp.subsampled_epsilon(*given), subsampled_zcdp.least_factor(privacy.epsilon, *given)


def gdp_shift(query: Query, scale: float) -> float:
    """Gaussian-DP parameter of one release: normal and generalised Gaussian noise alike (docs/accounting.md)."""
    assert query.norm_kappa is not None
    return math.sqrt(query.norm_kappa) * query.sensitivity / scale


def _sizes(batch: WithReplacement | WithoutReplacement, query: Query) -> tuple[int, int, int]:
    return batch.population, batch.size, query.releases


def _alone(plan: Plan) -> tuple[Query, WithReplacement | WithoutReplacement]:
    query = plan.queries[0]
    batch = query.records
    if len(plan.queries) > 1 or query.norm_kappa is None or query.factors(0, 1) is not None:
        kinds = ", ".join(type(q).__name__ for q in plan.queries)
        raise Refusal("plan", f"no accountant here composes {kinds}, one of them on drawn batches of the records")
    assert isinstance(batch, WithReplacement | WithoutReplacement)
    return query, batch


COMPOSITION = Composition(covers, charge, accounted_scales)
