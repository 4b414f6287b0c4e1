"""Draws of an exponential mechanism, which stand alone in their plan: Gaussian-DP of the target law, an upper bound.

What may be said of the run depends on its sampler (Gopi, Lee, Liu, Shen, Tian 2022, Theorem 2): an exact one has the
law's epsilon, one within a proven total variation distance that and a little more, of any other nothing is known. What
a pair of data sets attains is `queries.DrawQuery.attained`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.accountants import gaussian, total_variation
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Full
from dpsco_bench.privacy.spec import PrivacySpec


def covers(plan: Plan) -> bool:
    return any(isinstance(q, DrawQuery) for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Upper bounds: of the target law's epsilon, and of that of its draw, NaN if nothing is known of the sampler."""
    query = _alone(plan)
    t = query.sensitivity * math.sqrt(query.releases) / scales[query.name]
    law, status = gaussian.gdp_epsilon(t, delta), query.sampler_status
    if status == "exact":
        return Charge(law, "upper", gaussian.accountant_name(), law, 0.0, status)
    if status == "target_law_only":
        return Charge(math.nan, "upper", gaussian.accountant_name(), law, math.nan, status)
    tau = query.tau * query.releases
    epsilon = total_variation.total_epsilon(t, tau, delta)
    return Charge(epsilon, "upper", total_variation.accountant_name(), law, tau, status)


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """``(S/G)/t*`` with t* at the query's own delta, which leaves room for tau."""
    query = _alone(plan)
    t = gaussian.gdp_mu(privacy.epsilon, query.target_delta)
    return {query.name: query.sensitivity * math.sqrt(query.releases) / t}


def _alone(plan: Plan) -> DrawQuery:
    query = plan.queries[0]
    if len(plan.queries) > 1 or not isinstance(query, DrawQuery) or not isinstance(query.records, Full):
        kinds = ", ".join(type(q).__name__ for q in plan.queries)
        raise Refusal("plan", f"no accountant here composes {kinds}")
    return query


COMPOSITION = Composition(covers, charge, accounted_scales)
