"""Composition of queries that draw no records at random: on all of them, on disjoint blocks, or on nodes of a tree.

*Squared shifts* pay Gaussians and generalised Gaussians on all records or on disjoint blocks. One release costs
``kappa (s/scale)^2`` (kappa = 1 for a Gaussian), the square of its Gaussian-DP parameter (docs/accounting.md). Costs of
releases that a record enters add up, under adaptive composition. A record enters one release at most of all queries on
disjoint blocks, so the dearest of these counts, whatever the others are (parallel composition).

*Draws* of an exponential mechanism stand alone in their plan: Gaussian-DP of the target law, an upper bound. What may
be said of the run depends on its sampler (Gopi, Lee, Liu, Shen, Tian 2022, Theorem 2): an exact one has the law's
epsilon, one within a proven total variation distance that and a little more, of any other nothing is known. What a pair
of data sets attains is `queries.DrawQuery.attained`.

*Objective perturbation* over a convex set, with or without noise that covers the solver's error (Su et al. 2023). Let
``s`` be the sensitivity of the sum of gradients and ``s1`` the noise of the linear term, ``s'`` and ``s2`` those of the
covering noise. Given the exact minimiser, which nobody sees, the covering noise is a Gaussian release; so

- ``linear`` losses: two Gaussian releases, composed exactly: ``mu^2 = (s/s1)^2 + (s'/s2)^2``;
- other losses: the Jacobian's logarithm, the density ratio's tail bound at delta/2 and the Gaussian's epsilon at
  delta/2 add up. Without covering noise the tail bound has all of delta. Several releases share it equally.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants import gaussian, objective, zcdp
from dpsco_bench.privacy.plan import (
    Charge,
    Composition,
    GammaObjectiveQuery,
    NoisyMinimumQuery,
    ObjectiveQuery,
    Plan,
    PrivacySpec,
    Query,
    refused,
)
from dpsco_bench.privacy.queries import CoveringQuery, DecayingNoisyMinimumQuery, DrawQuery, PerturbedObjectiveQuery
from dpsco_bench.privacy.records import Disjoint, Full
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery

PURE_NODES = "pure differential privacy, linear composition"
"""Name of this accountant for the privacy ledger."""
COVER = 0.1
"""Part of mu, or of epsilon, that the accounted calibration spends on the covering noise."""


def _charge_shifts(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Exact for normal noise, else an upper bound."""
    kind = "exact" if all(q.is_normal for q in plan.queries) else "upper"
    epsilon = gaussian.gdp_epsilon(math.sqrt(total_cost(plan.queries, scales)), delta)
    return Charge(epsilon, kind, gaussian.NAME)


def _shifts_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Give queries with a share their part of the squared budget; disjoint blocks each get all of the rest."""
    if not plan.queries:
        return {}
    check_shares(plan)
    budget = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    left = 1.0 - sum(q.share for q in plan.queries if q.share is not None)
    return {q.name: scale_for(q, left if q.share is None else q.share, budget) for q in plan.queries}


def check_shares(plan: Plan) -> None:
    """Several queries say how they divide the budget: all but one, or all but disjoint blocks, which divide nothing."""
    without = [query for query in plan.queries if query.share is None]
    given = [query for query in plan.queries if query.share is not None]
    names = " and ".join(query.name for query in given)
    blocks = bool(without) and all(isinstance(query.records, Disjoint) for query in without)
    if plan.queries and not without:
        shares = ", ".join(f"{query.share:g}" for query in given)
        raise InputError(f"share of {names}", shares, "left out of one query, which takes what is left")
    if len(without) > 1 and not blocks:
        allowed = "given for all queries but one, as GaussianQuery(..., share=0.5): the fraction of the squared budget"
        raise InputError("share of " + " and ".join(query.name for query in without), "missing", allowed)
    total = sum(query.share for query in given if query.share is not None)
    if total >= 1:
        raise InputError(f"share of {names}", f"{total:g} together", "less than 1")


def scale_for(query: Query, share: float, budget: float) -> float:
    """Least noise at which the query costs a share of ``budget^2``."""
    return query.sensitivity * math.sqrt(_unit_cost(query) / share) / budget


def total_cost(queries: Iterable[Query], scales: Mapping[str, float]) -> float:
    """Largest cost over the records."""
    cost, parallel = 0.0, 0.0
    for query in queries:
        one = _unit_cost(query) * (query.sensitivity / scales[query.name]) ** 2
        if isinstance(query.records, Disjoint):
            parallel = max(parallel, one)
        else:
            cost += one
    return cost + parallel


def _unit_cost(query: Query) -> float:
    """Cost at ratio one of sensitivity and scale, of all releases that one record may enter."""
    factors, parallel = query.factors(0, query.releases), isinstance(query.records, Disjoint)
    assert query.norm_kappa is not None
    if factors is None:
        return query.norm_kappa * (1 if parallel else query.releases)
    costs = factors**-2.0
    return query.norm_kappa * float(np.max(costs) if parallel else np.sum(costs))


def tree_level(query: TreeQuery, scale: float) -> float:
    """Gaussian-DP parameter of all nodes with normal noise together."""
    return query.sensitivity * query.spread * math.sqrt(query.path_cost) / scale


def _charge_tree(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Exact for normal noise where neighbours attain the path's cost, else an upper bound."""
    (query,) = plan.queries
    scale = scales[query.name]
    if isinstance(query, PureTreeQuery):
        return Charge(query.sensitivity * query.path_cost / scale, "upper", PURE_NODES)
    assert isinstance(query, TreeQuery)
    epsilon = gaussian.gdp_epsilon(tree_level(query, scale), delta)
    return Charge(epsilon, "exact" if query.attained else "upper", gaussian.NAME)


def _tree_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """``spread sqrt(paid cost)/m`` with m the exact Gaussian-DP parameter of the claim; ``paid cost/eps`` if pure."""
    (query,) = plan.queries
    if isinstance(query, PureTreeQuery):
        return {query.name: query.sensitivity * query.paid_cost / privacy.epsilon}
    assert isinstance(query, TreeQuery)
    m = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    return {query.name: query.sensitivity * query.spread * math.sqrt(query.paid_cost) / m}


def _charge_draw(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Upper bounds: of the target law's epsilon, and of that of its draw, NaN if nothing is known of the sampler."""
    query = _only_draw(plan)
    t = query.sensitivity * math.sqrt(query.releases) / scales[query.name]
    law, status = gaussian.gdp_epsilon(t, delta), query.sampler_status
    if status == "exact":
        return Charge(law, "upper", gaussian.NAME, law, 0.0, status)
    if status == "target_law_only":
        return Charge(math.nan, "upper", gaussian.NAME, law, math.nan, status)
    tau = query.tau * query.releases
    epsilon = gaussian.total_epsilon(t, tau, delta)
    return Charge(epsilon, "upper", gaussian.TOTAL_VARIATION, law, tau, status)


def _draw_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """``(S/G)/t*`` with t* at the query's own delta, which leaves room for tau."""
    query = _only_draw(plan)
    t = gaussian.gdp_mu(privacy.epsilon, query.target_delta)
    return {query.name: query.sensitivity * math.sqrt(query.releases) / t}


def _only_draw(plan: Plan) -> DrawQuery:
    query = plan.queries[0]
    if len(plan.queries) > 1 or not isinstance(query, DrawQuery) or not isinstance(query.records, Full):
        raise refused(plan)
    return query


def covers_output(plan: Plan) -> bool:
    return plan.last_iterate is not None and not plan.leaks and not plan.unprotected


def output_level(plan: Plan, scale: float) -> float:
    """Gaussian-DP parameter of the output; `Plan` has checked that there is one query, with normal noise."""
    declared, (query,) = plan.last_iterate, plan.queries
    assert declared is not None
    steps, factors = declared.steps, query.factors(0, query.releases)
    if steps.size == 1 and factors is None:
        unit = float(steps[0]) * query.sensitivity
        return gaussian.constant_mu(
            float(declared.contractions[0]), query.releases, query.sensitivity / scale, declared.diameter / unit
        )
    ones = np.ones(query.releases)
    noises = steps * scale * (ones if factors is None else factors)
    return gaussian.varying_mu(declared.contractions * ones, steps * query.sensitivity * ones, noises)


def charge_output(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Exact where a quadratic attains it, else an upper bound."""
    (query,), declared = plan.queries, plan.last_iterate
    if scales[query.name] == 0.0:
        return Charge(math.inf, "exact", "no noise")
    epsilon = gaussian.gdp_epsilon(output_level(plan, scales[query.name]), delta)
    return Charge(epsilon, "exact" if declared and declared.attainable else "upper", gaussian.LAST_ITERATE)


def output_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Compute the scale; the parameter is in proportion to one over it."""
    (query,) = plan.queries
    return {query.name: output_level(plan, 1.0) / gaussian.gdp_mu(privacy.epsilon, privacy.delta)}


def _charge_perturbation(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound: the release is a function of the noisy mean, not the mean itself."""
    linear, cover = _split(plan)
    k, ratio = linear.releases, linear.sensitivity / scales[linear.name]
    covering = cover.sensitivity * math.sqrt(cover.releases) / scales[cover.name] if cover else 0.0
    if linear.loss_class == "linear":
        mu = math.hypot(ratio * math.sqrt(k), covering)
        return Charge(gaussian.gdp_epsilon(mu, delta), "upper", gaussian.NAME)
    share = 0.5 * delta if cover else delta
    epsilon = k * objective.tail_epsilon(ratio, linear.log_jacobian, _tail(linear, share / k))
    return Charge(epsilon + gaussian.gdp_epsilon(covering, share), "upper", objective.NAME)


def _perturbation_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Least noise of the linear term beside covering noise that takes `COVER` of the budget."""
    linear, cover = _split(plan)
    k, epsilon, delta = linear.releases, privacy.epsilon, privacy.delta
    if linear.loss_class == "linear":
        mu = gaussian.gdp_mu(epsilon, delta)
        rest = mu * math.sqrt((1.0 - COVER**2) / k) if cover else mu / math.sqrt(k)
        mu *= COVER
    else:
        if cover:
            epsilon, delta = (1.0 - COVER) * epsilon, 0.5 * delta
        rest = objective.tail_ratio(epsilon / k, linear.log_jacobian, _tail(linear, delta / k))
        mu = gaussian.gdp_mu(COVER * privacy.epsilon, delta)
    scales = {linear.name: linear.sensitivity / rest}
    return {**scales, cover.name: cover.sensitivity * math.sqrt(cover.releases) / mu} if cover else scales


def _tail(query: PerturbedObjectiveQuery, delta: float) -> float:
    """Two dimensions for generalised linear records: the span of both records' features."""
    return objective.chi_tail(delta, min(2, query.dimension) if query.loss_class == "glm" else query.dimension)


def _split(plan: Plan) -> tuple[PerturbedObjectiveQuery, CoveringQuery | None]:
    linear = [q for q in plan.queries if isinstance(q, PerturbedObjectiveQuery)]
    cover = [q for q in plan.queries if isinstance(q, CoveringQuery)]
    others = len(plan.queries) - len(linear) - len(cover)
    if len(linear) != 1 or len(cover) > 1 or others or not all(isinstance(q.records, Full) for q in plan.queries):
        raise refused(plan)
    return linear[0], cover[0] if cover else None


def decaying_costs(query: DecayingNoisyMinimumQuery) -> tuple[float, float]:
    """Parameters rho of zCDP, at scale one, of a record of the first batch and of the worst one that enters later.

    Release t is ``2 c_t/scale_t``-differentially private for a record that changes scores by ``c_t``, hence
    ``2 (c_t/scale_t)^2``-zCDP. The costs ``R_i`` of later records satisfy ``R_i = g_i + decay^2 R_(i+1)``.
    """
    from scipy.signal import lfilter

    precision = 2.0 * query.factors(0, query.releases) ** -2.0
    from_first = query.first**2 * float(query.decay ** (2.0 * np.arange(query.releases)) @ precision)
    entering = lfilter([1.0], [1.0, -(query.decay**2)], precision[:0:-1])
    return from_first, query.later**2 * float(entering.max(initial=0.0))


def _charge_alone(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound."""
    query, k, scale = plan.queries[0], plan.queries[0].releases, scales[plan.queries[0].name]
    if isinstance(query, DecayingNoisyMinimumQuery):
        name = f"{zcdp.NAME}, worst record"
        return Charge(zcdp.zcdp_epsilon(max(decaying_costs(query)) / scale**2, delta), "upper", name)
    if isinstance(query, NoisyMinimumQuery):  # each release is 2 s/scale-differentially private
        return Charge(zcdp.composed_epsilon(2.0 * query.sensitivity / scale, k, delta), "upper", zcdp.PURE)
    assert isinstance(query, ObjectiveQuery)
    ratio, name = query.sensitivity / scale, objective.NAME
    if isinstance(query, GammaObjectiveQuery):
        return Charge(k * objective.gamma_epsilon(ratio, query.log_jacobian), "upper", name)
    tail = objective.plane_tail(delta / k)
    return Charge(k * objective.tail_epsilon(ratio, query.log_jacobian, tail), "upper", name)


def _alone_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    query, k = plan.queries[0], plan.queries[0].releases
    epsilon, delta = privacy.epsilon, privacy.delta
    if isinstance(query, DecayingNoisyMinimumQuery):
        return {query.name: math.sqrt(max(decaying_costs(query)) / zcdp.zcdp_rho(epsilon, delta))}
    if isinstance(query, NoisyMinimumQuery):
        return {query.name: 2.0 * query.sensitivity / zcdp.epsilon_each_for(epsilon, delta, k)}
    assert isinstance(query, ObjectiveQuery)
    if isinstance(query, GammaObjectiveQuery):
        return {query.name: query.sensitivity / objective.gamma_ratio(epsilon / k, query.log_jacobian)}
    ratio = objective.tail_ratio(epsilon / k, query.log_jacobian, objective.plane_tail(delta / k))
    return {query.name: query.sensitivity / ratio}


def _covers_alone(plan: Plan) -> bool:
    """Tell whether the plan is one query of a kind that does not compose with Gaussians."""
    kinds = (NoisyMinimumQuery, DecayingNoisyMinimumQuery, ObjectiveQuery, GammaObjectiveQuery)
    return len(plan.queries) == 1 and type(plan.queries[0]) in kinds and isinstance(plan.queries[0].records, Full)


SHIFTS = Composition(
    lambda plan: all(q.norm_kappa is not None and isinstance(q.records, Full | Disjoint) for q in plan.queries),
    _charge_shifts,
    _shifts_scales,
)
"""Queries of this kind alone, none of which draws its records at random."""
TREE = Composition(
    lambda plan: len(plan.queries) == 1 and isinstance(plan.queries[0], TreeQuery | PureTreeQuery),
    _charge_tree,
    _tree_scales,
)
DRAW = Composition(lambda plan: any(isinstance(q, DrawQuery) for q in plan.queries), _charge_draw, _draw_scales)
PERTURBATION = Composition(
    lambda plan: any(isinstance(q, PerturbedObjectiveQuery) for q in plan.queries),
    _charge_perturbation,
    _perturbation_scales,
)
ALONE = Composition(_covers_alone, _charge_alone, _alone_scales)
