"""Pure objective perturbation (Chaudhuri, Monteleoni, Sarwate 2011): "[9][8]" in Wang, Ye, Xu's Table 1."""

from __future__ import annotations

from math import expm1

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.papers.wang2017.algorithms.objective_perturbation_kst12 import objective_perturbation
from dpsco_bench.privacy.accountants.objective import two_rank_log_jacobian
from dpsco_bench.privacy.plan import GammaObjectiveQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = (
    "Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2, as row [9][8] of Wang, Ye, Xu 2017, Table 1 (constants from "
    "memory, unverified)"
)


@algorithm(
    "wang2017.objective_perturbation_cms11",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR, Trait.STRONGLY_CONVEX),
)
def plan(given: Setting) -> Plan:
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
    if c.lipschitz > 1:
        raise InputError("lipschitz", c.lipschitz, "at most 1 (rows and slopes of norm at most 1)", SOURCE)
    if c.regularisation <= 0:
        raise InputError("regularisation", c.regularisation, "> 0", SOURCE)
    share, ridge = perturbation_parameters(given.epsilon, n, c.smoothness, c.regularisation)
    jacobian = two_rank_log_jacobian(c.smoothness, n * (c.regularisation + ridge))
    linear = GammaObjectiveQuery("linear term", 2.0, 1, paper_scale=2 / share, log_jacobian=jacobian)
    return make_plan(linear, gradient_evaluations=n, n=n, weight=n * ridge, epsilon_noise=share)


plan.run(objective_perturbation)


def perturbation_parameters(epsilon: float, n: int, curvature: float, ridge: float) -> tuple[float, float]:
    """Compute the eps' and Delta of Algorithm 2."""
    share = epsilon - two_rank_log_jacobian(curvature, n * ridge)
    if share > 0:
        return share, 0.0
    return epsilon / 2, curvature / (n * expm1(epsilon / 4)) - ridge
