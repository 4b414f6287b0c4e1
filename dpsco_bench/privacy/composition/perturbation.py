"""Objective perturbation over a convex set, with or without noise that covers the solver's error (Su et al. 2023).

Let ``s`` be the sensitivity of the sum of gradients and ``s1`` the noise of the linear term, ``s'`` and ``s2`` those of
the covering noise. Given the exact minimiser, which nobody sees, the covering noise is a Gaussian release; so

- ``linear`` losses: two Gaussian releases, composed exactly: ``mu^2 = (s/s1)^2 + (s'/s2)^2``;
- other losses: the Jacobian's logarithm, the density ratio's tail bound at delta/2 and the Gaussian's epsilon at
  delta/2 add up. Without covering noise the tail bound has all of delta. Several releases share it equally.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.accountants import gaussian, objective
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.queries import CoveringQuery, PerturbedObjectiveQuery
from dpsco_bench.privacy.records import Full
from dpsco_bench.privacy.spec import PrivacySpec

COVER = 0.1
"""Part of mu, or of epsilon, that the accounted calibration spends on the covering noise."""


def covers(plan: Plan) -> bool:
    return any(isinstance(q, PerturbedObjectiveQuery) for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound: the release is a function of the noisy mean, not the mean itself."""
    linear, cover = _split(plan)
    k, ratio = linear.releases, linear.sensitivity / scales[linear.name]
    covering = cover.sensitivity * math.sqrt(cover.releases) / scales[cover.name] if cover else 0.0
    if linear.loss_class == "linear":
        mu = math.hypot(ratio * math.sqrt(k), covering)
        return Charge(gaussian.gdp_epsilon(mu, delta), "upper", gaussian.accountant_name())
    share = 0.5 * delta if cover else delta
    epsilon = k * objective.tail_epsilon(ratio, linear.log_jacobian, _tail(linear, share / k))
    return Charge(epsilon + gaussian.gdp_epsilon(covering, share), "upper", objective.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Least noise of the linear term beside covering noise that takes `COVER` of the budget.

    Raises Refusal if Jacobian and covering noise use up epsilon.
    """
    linear, cover = _split(plan)
    k, epsilon, delta = linear.releases, privacy.epsilon, privacy.delta
    if linear.loss_class == "linear":
        mu = gaussian.gdp_mu(epsilon, delta)
        rest = mu * math.sqrt((1.0 - COVER**2) / k) if cover else mu / math.sqrt(k)
        return _with_cover({linear.name: linear.sensitivity / rest}, cover, COVER * mu)
    if cover:
        epsilon, delta = (1.0 - COVER) * epsilon, 0.5 * delta
    ratio = objective.tail_ratio(epsilon / k, linear.log_jacobian, _tail(linear, delta / k))
    return _with_cover(
        {linear.name: linear.sensitivity / ratio}, cover, gaussian.gdp_mu(COVER * privacy.epsilon, delta)
    )


def _with_cover(scales: dict[str, float], cover: Query | None, mu: float) -> dict[str, float]:
    return {**scales, cover.name: cover.sensitivity * math.sqrt(cover.releases) / mu} if cover else scales


def _tail(query: PerturbedObjectiveQuery, delta: float) -> float:
    """Two dimensions for generalised linear records: the span of both records' features."""
    return objective.chi_tail(delta, min(2, query.dimension) if query.loss_class == "glm" else query.dimension)


def _split(plan: Plan) -> tuple[PerturbedObjectiveQuery, CoveringQuery | None]:
    linear = [q for q in plan.queries if isinstance(q, PerturbedObjectiveQuery)]
    cover = [q for q in plan.queries if isinstance(q, CoveringQuery)]
    others = len(plan.queries) - len(linear) - len(cover)
    if len(linear) != 1 or len(cover) > 1 or others or not all(isinstance(q.records, Full) for q in plan.queries):
        kinds = ", ".join(type(q).__name__ for q in plan.queries)
        raise Refusal("plan", f"no accountant here composes {kinds}")
    return linear[0], cover[0] if cover else None


COMPOSITION = Composition(covers, charge, accounted_scales)
