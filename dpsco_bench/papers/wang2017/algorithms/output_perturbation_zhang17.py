"""Output perturbation of gradient descent (Zhang, Zheng, Mou, Wang 2017), the "[34]" of Wang, Ye, Xu's tables."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = (
    "Zhang, Zheng, Mou, Wang 2017, as row [34] of Wang, Ye, Xu 2017, Tables 1 and 2 (constants from memory, unverified)"
)


@algorithm(
    "wang2017.output_perturbation_zhang17",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
)
def plan(given: Setting, *, steps: int | None = None, step: float | None = None) -> Plan:
    """Exact gradient descent whose output alone is perturbed; the sensitivity is that of T contracting steps.

    Strongly convex: eta = 2/(L + mu), T = (L/mu) ln n, sensitivity 2G(1 - (1 - eta mu)^T)/(n mu). Convex: eta = 1/L,
    T = (n eps/sqrt(d l))^(2/3), sensitivity 2 G eta T/n. L includes the regulariser, which is part of the gradient.

    Parameters
    ----------
    steps, step : optional
        Replace T and eta; eta must be at most 2/(L + mu) (strongly convex) or 2/L (convex).
    """
    c, n, eps = given.constants, given.n, given.epsilon
    L, mu, G = c.total_smoothness, c.strong_convexity, c.lipschitz
    count_option("steps", steps, SOURCE)
    limit = 2.0 / (L + mu)
    eta = (limit if mu > 0 else 1.0 / L) if step is None else step
    if not 0 < eta <= limit * (1 + 1e-12):
        raise InputError("step", eta, f"in (0, 2/(L + mu)] with 2/(L + mu) = {limit:.6g}", SOURCE)
    if mu > 0:
        T = steps or max(1, round(L / mu * log(n)))
        sensitivity = 2 * G * (1 - (1 - eta * mu) ** T) / (n * mu)
    else:
        T = steps or max(1, round((n * eps / sqrt(given.d * given.l)) ** (2 / 3)))
        sensitivity = 2 * G * eta * T / n
    scale = sqrt(2 * log(1.25 / given.delta)) * sensitivity / eps
    output = GaussianQuery("output", sensitivity, 1, paper_scale=scale)
    outside = ("eps > 1: the paper calibration's formula, Definition 3.4, is proved for eps <= 1",)
    warnings = outside * (eps > 1)
    return make_plan(output, gradient_evaluations=n * T, warnings=warnings, n=n, steps=T, step=eta)


@plan.run
def output_perturbation(objective, plan, mechanism):
    """T exact gradient steps on ``(R, d)``, then one release."""
    x = objective.start
    for _ in range(plan.steps):
        x = x - plan.step * objective.full_gradient(x)
    x = mechanism.release("output", x)
    objective.observe(x)
    return x
