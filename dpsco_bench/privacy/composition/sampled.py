"""Composition of queries on randomly drawn records, beside Gaussians: one query, or several on Poisson batches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.accountants import allocation, fixed_size, gaussian, pld, single_index, zcdp
from dpsco_bench.privacy.composition.shifts import check_shares, scale_for, total_cost
from dpsco_bench.privacy.plan import Charge, Composition, Plan, PrivacySpec, Query, refused
from dpsco_bench.privacy.queries import AnchoredQuery
from dpsco_bench.privacy.records import Poisson, RandomAllocation, SingleIndex, WithoutReplacement, WithReplacement


def _charge_batches(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound. Raises Refusal for several queries, noise of another kind, or noise that changes."""
    query, batch = _only_batches(plan)
    shift = query.stretch * query.sensitivity / scales[query.name]
    epsilon = fixed_size.batch_epsilon(shift, batch.population, batch.size, query.releases, delta, batch.repeats)
    return Charge(epsilon, "upper", fixed_size.NAME)


def _batches_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    query, batch = _only_batches(plan)
    sizes = batch.population, batch.size, query.releases
    least = fixed_size.least_scale(privacy.epsilon, privacy.delta, *sizes, batch.repeats)
    return {query.name: query.stretch * query.sensitivity * least}


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
    rho, rate = 0.5 * (query.stretch * query.sensitivity / scale) ** 2, batch.size / batch.population
    given = (rho, min(1.0, rate), query.releases, privacy.delta)
    return zcdp.subsampled_epsilon(*given), zcdp.least_factor(privacy.epsilon, *given)


def _only_batches(plan: Plan) -> tuple[Query, WithReplacement | WithoutReplacement]:
    query = _only_query(plan, "drawn batches")
    assert isinstance(query.records, WithReplacement | WithoutReplacement)
    return query, query.records


def _only_query(plan: Plan, records: str) -> Query:
    """Return the plan's query, of additive noise, one release ``(stretch s/scale)``-GDP (docs/accounting.md)."""
    query = plan.queries[0]
    if len(plan.queries) > 1 or query.norm_kappa is None or query.factors(0, 1) is not None:
        raise refused(plan, f", one of them on {records} of the records")
    return query


def _charge_allocation(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound; if no record is left over, that of a known batch."""
    query, participation = _only_allocation(plan)
    shift = query.stretch * query.sensitivity / scales[query.name]
    if participation == 1.0:
        return Charge(gaussian.gdp_epsilon(shift, delta), "upper", f"{gaussian.NAME}, batch known")
    epsilon = allocation.allocation_epsilon(shift, query.releases, participation, delta)
    return Charge(epsilon, "upper", allocation.NAME)


def _allocation_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    query, participation = _only_allocation(plan)
    if participation == 1.0:
        shift = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    else:
        shift = allocation.largest_shift(privacy.epsilon, privacy.delta, query.releases, participation)
    return {query.name: query.stretch * query.sensitivity / shift}


def _only_allocation(plan: Plan) -> tuple[Query, float]:
    """Return the query, and the probability that a record takes part in one of its releases."""
    query = _only_query(plan, "a random order")
    order = query.records
    assert isinstance(order, RandomAllocation)
    used = query.releases * order.size
    if used > order.population:
        raise InputError(f"releases of {query.name}", query.releases, f"at most {order.population // order.size}")
    return query, used / order.population


def _charge_sampled(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound; for a single-index query of a plan that leaks, a lower one."""
    sampled, others = _split(plan)
    mu = math.sqrt(total_cost(others, scales))
    if len(sampled) > 1:
        parts = [_part(q, scales[q.name] / (q.stretch * q.contribution)) for q in sampled]
        return Charge(pld.several_poisson_epsilon(parts, delta, mu), "upper", pld.NAME)
    (query,) = sampled
    scale = scales[query.name]
    if isinstance(query.records, Poisson):
        multiplier = scale / (query.stretch * query.contribution)
        epsilon = pld.poisson_gaussian_epsilon(multiplier, query.records.rate, query.releases, delta, mu)
        return Charge(epsilon, "upper", pld.NAME)
    assert isinstance(query.records, SingleIndex)
    if plan.leaks:
        epsilon = max(tests_of(query, scale, delta).values())
        return Charge(epsilon, "lower", single_index.NAME)
    shift = query.stretch * query.sensitivity / scale
    epsilon = fixed_size.batch_epsilon(shift, query.records.population, 1, query.releases, delta, gdp_mu=mu)
    return Charge(epsilon, "upper", pld.NAME)


def tests_of(query: Query, scale: float, delta: float) -> dict[str, float]:
    """Compute the bounds of `single_index.single_index_tests` for a query on one record a release, as answered."""
    assert isinstance(query.records, SingleIndex)
    n, shift = query.records.population, query.stretch * query.contribution / scale
    anchor = 0.5 * shift / n if isinstance(query, AnchoredQuery) else 0.0
    return single_index.single_index_tests(shift, query.releases, n, delta, anchor)


def _sampled_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Give queries with a share their part of the squared Gaussian-DP budget; sampled ones get the rest."""
    sampled, others = _split(plan)
    query, epsilon, delta = sampled[0], privacy.epsilon, privacy.delta
    check_shares(replace(plan, queries=(query, *others)))
    for one in sampled:
        if one.share is not None:
            raise InputError(f"share of {one.name}", one.share, "left out: sampled queries take what is left")
    mu = gaussian.gdp_mu(epsilon, delta)
    scales = {q.name: scale_for(q, q.share, mu) for q in others if q.share is not None}
    spent = sum(q.share for q in others if q.share is not None)
    if len(sampled) > 1:
        z = pld.solve_several_multiplier(epsilon, delta, [_part(q, 1.0) for q in sampled], mu * math.sqrt(spent))
        return {**scales, **{q.name: z * q.stretch * q.contribution for q in sampled}}
    if isinstance(query.records, Poisson):
        z = pld.solve_poisson_multiplier(epsilon, delta, query.records.rate, query.releases, mu * math.sqrt(spent))
        return {**scales, query.name: z * query.stretch * query.contribution}
    assert isinstance(query.records, SingleIndex)
    if spent > 0:
        raise Refusal("calibration accounted", "no noise is solved for beside that of single-index queries")
    least = fixed_size.least_scale(epsilon, delta, query.records.population, 1, query.releases)
    return {**scales, query.name: query.stretch * query.sensitivity * least}


def _part(query: Query, multiplier: float) -> tuple[float, float, int]:
    assert isinstance(query.records, Poisson)
    return multiplier, query.records.rate, query.releases


def _split(plan: Plan) -> tuple[list[Query], list[Query]]:
    sampled = [q for q in plan.queries if q.records.sampled]
    if len(sampled) > 1 and (plan.leaks or not all(isinstance(q.records, Poisson) for q in sampled)):
        raise Refusal("plan", "no accountant here composes several sampled queries, but on Poisson batches")
    if any(q.factors(0, 1) is not None for q in sampled):
        raise Refusal("plan", "no accountant here composes sampled queries whose noise changes")
    return sampled, [q for q in plan.queries if not q.records.sampled]


BATCHES = Composition(
    lambda plan: any(isinstance(q.records, WithReplacement | WithoutReplacement) for q in plan.queries),
    _charge_batches,
    _batches_scales,
)
ALLOCATION = Composition(
    lambda plan: any(isinstance(q.records, RandomAllocation) for q in plan.queries),
    _charge_allocation,
    _allocation_scales,
)
SAMPLED = Composition(
    lambda plan: all(q.is_normal for q in plan.queries) and any(q.records.sampled for q in plan.queries),
    _charge_sampled,
    _sampled_scales,
)
"""Queries whose noise is all normal, some of which draw their records."""
