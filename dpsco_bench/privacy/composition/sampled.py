"""Queries with normal noise on randomly drawn records, beside Gaussians: privacy-loss distributions.

One query, or several on Poisson batches, whose rates and noises may differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.accountants import fixed_size, gaussian, pld, single_index
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.composition.shifts import check_shares, scale_for, total_cost
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.queries import AnchoredQuery
from dpsco_bench.privacy.records import Poisson, SingleIndex
from dpsco_bench.privacy.spec import PrivacySpec


def covers(plan: Plan) -> bool:
    """Check that all noise is normal and some query draws its records."""
    return all(q.is_normal for q in plan.queries) and any(q.records.sampled for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound; for a single-index query of a plan that leaks, a lower one."""
    sampled, others = _split(plan)
    mu = math.sqrt(total_cost(others, scales))
    if len(sampled) > 1:
        parts = [_part(q, scales[q.name] / (_stretch(q) * q.contribution)) for q in sampled]
        return Charge(pld.several_poisson_epsilon(parts, delta, mu), "upper", pld.accountant_name())
    (query,) = sampled
    scale = scales[query.name]
    if isinstance(query.records, Poisson):
        multiplier = scale / (_stretch(query) * query.contribution)
        epsilon = pld.poisson_gaussian_epsilon(multiplier, query.records.rate, query.releases, delta, mu)
        return Charge(epsilon, "upper", pld.accountant_name())
    assert isinstance(query.records, SingleIndex)
    if plan.leaks:
        epsilon = max(tests_of(query, scale, delta).values())
        return Charge(epsilon, "lower", single_index.accountant_name())
    shift = _stretch(query) * query.sensitivity / scale
    epsilon = fixed_size.batch_epsilon(shift, query.records.population, 1, query.releases, delta, gdp_mu=mu)
    return Charge(epsilon, "upper", pld.accountant_name())


def tests_of(query: Query, scale: float, delta: float) -> dict[str, float]:
    """Compute the bounds of `single_index.single_index_tests` for a query on one record a release, as answered."""
    assert isinstance(query.records, SingleIndex)
    n, shift = query.records.population, _stretch(query) * query.contribution / scale
    anchor = 0.5 * shift / n if isinstance(query, AnchoredQuery) else 0.0
    return single_index.single_index_tests(shift, query.releases, n, delta, anchor)


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Give queries with a share their part of the squared Gaussian-DP budget; sampled ones take the rest.

    Several of these have one noise multiplier. Raises InputError if it is not the sampled queries alone that have no
    share.
    """
    sampled, others = _split(plan)
    query = sampled[0]
    check_shares(replace(plan, queries=(query, *others)))
    for one in sampled:
        if one.share is not None:
            raise InputError(f"share of {one.name}", one.share, "left out: sampled queries take what is left")
    mu = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    scales = {q.name: scale_for(q, q.share, mu) for q in others if q.share is not None}
    spent = sum(q.share for q in others if q.share is not None)
    if len(sampled) == 1:
        return {**scales, query.name: _last_scale(query, privacy, mu, spent)}
    parts = [_part(q, 1.0) for q in sampled]
    z = pld.solve_several_multiplier(privacy.epsilon, privacy.delta, parts, mu * math.sqrt(spent))
    return {**scales, **{q.name: z * _stretch(q) * q.contribution for q in sampled}}


def _part(query: Query, multiplier: float) -> tuple[float, float, int]:
    assert isinstance(query.records, Poisson)
    return multiplier, query.records.rate, query.releases


def _last_scale(query: Query, privacy: PrivacySpec, mu: float, spent: float) -> float:
    """Least noise of the query that takes what the shares leave of the squared budget ``mu``."""
    epsilon, delta = privacy.epsilon, privacy.delta
    if isinstance(query.records, Poisson):
        z = pld.solve_poisson_multiplier(epsilon, delta, query.records.rate, query.releases, mu * math.sqrt(spent))
        return z * _stretch(query) * query.contribution
    assert isinstance(query.records, SingleIndex)
    if spent > 0:
        raise Refusal("calibration accounted", "no noise is solved for beside that of single-index queries")
    least = fixed_size.least_scale(epsilon, delta, query.records.population, 1, query.releases)
    return _stretch(query) * query.sensitivity * least


def _stretch(query: Query) -> float:
    """Compute how much more than its norm normal noise feels a shift: 1 in l2."""
    return math.sqrt(query.norm_kappa or 1.0)


def _split(plan: Plan) -> tuple[list[Query], list[Query]]:
    sampled = [q for q in plan.queries if q.records.sampled]
    if len(sampled) > 1 and (plan.leaks or not all(isinstance(q.records, Poisson) for q in sampled)):
        raise Refusal("plan", "no accountant here composes several sampled queries, but on Poisson batches")
    if any(q.factors(0, 1) is not None for q in sampled):
        raise Refusal("plan", "no accountant here composes sampled queries whose noise changes")
    return sampled, [q for q in plan.queries if not q.records.sampled]


COMPOSITION = Composition(covers, charge, accounted_scales)
