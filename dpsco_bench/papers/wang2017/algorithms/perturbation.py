"""Perturbation of the objective or of the output: rows "[9][8]", "[21]", "[28]" and "[34]" of Wang, Ye, Xu's tables."""

from __future__ import annotations

from math import expm1, log, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import Refusal
from dpsco_bench.papers.wang2017.perturbed import PerturbedMinimiser
from dpsco_bench.privacy.accountants.objective import rank_one_log_jacobian, two_rank_log_jacobian
from dpsco_bench.privacy.plan import GammaObjectiveQuery, GaussianQuery, ObjectiveQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait


@algorithm(
    "wang2017.objective_perturbation_kst12",
    source="Kifer, Smith, Thakurta 2012, as row [21] of Wang, Ye, Xu 2017, Tables 1 and 2 (constants from memory, "
    "unverified)",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.PLANE_GRADIENTS),
)
def objective_perturbation_plan(given: Setting) -> Plan:
    """Exact minimiser of F(x) + (Delta/2n)||x||^2 + <b, x>/n with normal b and Delta = 2 lambda_H/eps.

    lambda_H = L bounds the rank-one Hessian of a record, so the Jacobian costs ln(1 + eps/2). Replace-one moves b by up
    to 2G (erratum E15); ``paper`` has sd G sqrt(8 ln(2/delta) + 4 eps)/eps, ``accounted`` sd 2G/a with
    t a + a^2/2 + ln(1 + eps/2) = eps and t = Phi^-1(1 - delta/4).
    """
    c, n, eps = given.constants, given.n, given.epsilon
    if c.domain not in ("space", "l2_ball") and not c.isotropic:
        reason = "its exact minimiser is computed in the whole space or an l2 ball"
        raise Refusal(f"domain {c.domain}", reason, given.source)
    weight = 2 * c.smoothness / eps
    scale = c.lipschitz * sqrt(8 * log(2 / given.delta) + 4 * eps) / eps
    jacobian = rank_one_log_jacobian(c.smoothness, weight)
    linear = ObjectiveQuery("linear term", 2 * c.lipschitz, 1, paper_scale=scale, log_jacobian=jacobian)
    return make_plan(linear, gradient_evaluations=n, n=n, weight=weight)


@objective_perturbation_plan.run
def objective_perturbation(objective, plan, mechanism):
    """Release once: the minimiser itself, ``(R, d)``."""
    value = PerturbedMinimiser(objective, plan.weight / plan.n)
    x = mechanism.release("linear term", value)
    objective.observe(x)
    return x, value.info


@algorithm(
    "wang2017.objective_perturbation_ttz14",
    source="Talwar, Thakurta, Zhang 2014, as row [28] of Wang, Ye, Xu 2017, Table 3 (constants from memory, "
    "unverified)",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR, Trait.L2_BALL),
)
def ttz14_plan(given: Setting) -> Plan:
    """Minimiser over the domain C of the objective of Kifer, Smith and Thakurta, with the same noise."""
    return objective_perturbation_plan.plan_function(given)


ttz14_plan.run(objective_perturbation)


@algorithm(
    "wang2017.objective_perturbation_cms11",
    source="Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2, as row [9][8] of Wang, Ye, Xu 2017, Table 1 (constants "
    "from memory, unverified)",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR, Trait.STRONGLY_CONVEX),
)
def cms11_plan(given: Setting) -> Plan:
    """Exact minimiser of F(x) + (Delta/2)||x||^2 + <b, x>/n, density of b proportional to exp(-eps' ||b||/2).

    eps' = eps - ln(1 + 2c/(n lambda) + c^2/(n lambda)^2) and Delta = 0 where that is positive, else eps' = eps/2 and
    Delta = c/(n (e^(eps/4) - 1)) - lambda; c = L bounds the second derivative of the scalar loss. Delta-free (pure)
    privacy; both calibrations are the same.

    Parameters
    ----------
    given : Setting
        G <= 1 and a ridge lambda > 0.
    """
    c, n = given.constants, given.n
    given.require("lipschitz", c.lipschitz, c.lipschitz <= 1, "at most 1 (rows and slopes of norm at most 1)")
    given.positive("regularisation", c.regularisation)
    share, ridge = perturbation_parameters(given.epsilon, n, c.smoothness, c.regularisation)
    jacobian = two_rank_log_jacobian(c.smoothness, n * (c.regularisation + ridge))
    linear = GammaObjectiveQuery("linear term", 2.0, 1, paper_scale=2 / share, log_jacobian=jacobian)
    return make_plan(linear, gradient_evaluations=n, n=n, weight=n * ridge, epsilon_noise=share)


cms11_plan.run(objective_perturbation)


def perturbation_parameters(epsilon: float, n: int, curvature: float, ridge: float) -> tuple[float, float]:
    """Compute the eps' and Delta of Algorithm 2."""
    share = epsilon - two_rank_log_jacobian(curvature, n * ridge)
    return (share, 0.0) if share > 0 else (epsilon / 2, curvature / (n * expm1(epsilon / 4)) - ridge)


@algorithm(
    "wang2017.output_perturbation_zhang17",
    source="Zhang, Zheng, Mou, Wang 2017, as row [34] of Wang, Ye, Xu 2017, Tables 1 and 2 (constants from memory, "
    "unverified)",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
)
def output_perturbation_plan(given: Setting, *, steps: int | None = None, step: float | None = None) -> Plan:
    """Exact gradient descent whose output alone is perturbed; the sensitivity is that of T contracting steps.

    Strongly convex: eta = 2/(L + mu), T = (L/mu) ln n, sensitivity 2G(1 - (1 - eta mu)^T)/(n mu). Convex: eta = 1/L,
    T = (n eps/sqrt(d l))^(2/3), sensitivity 2 G eta T/n. L includes the regulariser, which is part of the gradient.

    Parameters
    ----------
    steps, step : optional
        Replace T and eta; eta must be at most 2/(L + mu) (strongly convex) or 2/L (convex).
    """
    c, n, eps = given.constants, given.n, given.epsilon
    L, mu, G, T = c.total_smoothness, c.strong_convexity, c.lipschitz, given.count("steps", steps)
    limit = 2.0 / (L + mu)
    eta = given.step((limit if mu > 0 else 1.0 / L) if step is None else step, limit, "2/(L + mu)")
    if mu > 0:
        T = T or max(1, round(L / mu * log(n)))
        sensitivity = 2 * G * (1 - (1 - eta * mu) ** T) / (n * mu)
    else:
        T = T or max(1, round((n * eps / sqrt(given.d * given.l)) ** (2 / 3)))
        sensitivity = 2 * G * eta * T / n
    scale = sqrt(2 * log(1.25 / given.delta)) * sensitivity / eps
    output = GaussianQuery("output", sensitivity, 1, paper_scale=scale)
    outside = ("eps > 1: the paper calibration's formula, Definition 3.4, is proved for eps <= 1",)
    return make_plan(output, gradient_evaluations=n * T, warnings=outside * (eps > 1), n=n, steps=T, step=eta)


@output_perturbation_plan.run
def output_perturbation(objective, plan, mechanism):
    """T exact gradient steps on ``(R, d)``, then one release."""
    x = objective.start
    for _ in range(plan.steps):
        x = x - plan.step * objective.full_gradient(x)
    x = mechanism.release("output", x)
    objective.observe(x)
    return x
