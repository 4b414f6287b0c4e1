"""Objective perturbation with Gaussian noise (Kifer, Smith, Thakurta 2012), the "[21]" of Wang, Ye, Xu's tables."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import Refusal
from dpsco_bench.papers.wang2017.perturbed import PerturbedMinimiser
from dpsco_bench.privacy.accountants.objective import rank_one_log_jacobian
from dpsco_bench.privacy.plan import ObjectiveQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = (
    "Kifer, Smith, Thakurta 2012, as row [21] of Wang, Ye, Xu 2017, Tables 1 and 2 (constants from memory, unverified)"
)


@algorithm(
    "wang2017.objective_perturbation_kst12",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.PLANE_GRADIENTS),
)
def plan(given: Setting) -> Plan:
    """Exact minimiser of F(x) + (Delta/2n)||x||^2 + <b, x>/n with normal b and Delta = 2 lambda_H/eps.

    lambda_H = L bounds the rank-one Hessian of a record, so the Jacobian costs ln(1 + eps/2). Replace-one moves b by up
    to 2G (erratum E15); ``paper`` has sd G sqrt(8 ln(2/delta) + 4 eps)/eps, ``accounted`` sd 2G/a with
    t a + a^2/2 + ln(1 + eps/2) = eps and t = Phi^-1(1 - delta/4).
    """
    c, n, eps = given.constants, given.n, given.epsilon
    if c.domain not in ("space", "l2_ball") and not c.isotropic:
        raise Refusal(f"domain {c.domain}", "its exact minimiser is computed in the whole space or an l2 ball", SOURCE)
    weight = 2 * c.smoothness / eps
    scale = c.lipschitz * sqrt(8 * log(2 / given.delta) + 4 * eps) / eps
    linear = ObjectiveQuery(
        "linear term", 2 * c.lipschitz, 1, paper_scale=scale, log_jacobian=rank_one_log_jacobian(c.smoothness, weight)
    )
    return make_plan(linear, gradient_evaluations=n, n=n, weight=weight)


@plan.run
def objective_perturbation(objective, plan, mechanism):
    """Release once: the minimiser itself, ``(R, d)``."""
    value = PerturbedMinimiser(objective, plan.weight / plan.n)
    x = mechanism.release("linear term", value)
    objective.observe(x)
    return x, value.info
