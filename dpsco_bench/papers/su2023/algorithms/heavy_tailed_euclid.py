"""Our stand-in for the Euclidean method that Su, Zhao, Wang 2023 cite for heavy tails and p >= 2 (Theorems 12, 17)."""

from __future__ import annotations

from math import ceil, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = "stand-in for Kamath, Liu, Zhang 2022, Algorithm 1, as Su, Zhao, Wang 2023 cite it in Theorems 12 and 17"
STAND_IN = (
    "stand-in: projected descent with a private mean oracle, after Kamath, Liu, Zhang 2022; schedule, oracle and "
    "constants are ours, and its rate is not their theorem's"
)


@algorithm(
    "su2023.heavy_tailed_euclid",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.SYMMETRIC_SET, Trait.UNREGULARISED),
    variants={"stand_in": ("accounted", "none")},
)
def plan(given: Setting, *, steps: int | None = None) -> Plan:
    """Our stand-in for a cited Euclidean method: projected steps with clipped gradients, whose schedule is ours.

    T = max(16, ceil(sqrt(n eps))) steps, clipped at tau = sigma sqrt(n eps)/d^(1/4).
    eta = min{1/beta, diam2/(B sqrt T)} with B = sqrt(d) sqrt(s^2 + sigma^4/tau^2), where s is the noise of the mean of
    the clipped gradients, 2 tau sqrt(d T)/(n gdp_mu(eps, delta)). sigma bounds every coordinate's standard deviation.

    Parameters
    ----------
    given : Setting
        p >= 2 and sigma = `gradient_deviation` > 0, on a bounded symmetric set.
    steps : optional
        Replaces T.
    """
    c, n, d = given.constants, given.n, given.d
    if not c.norm >= 2.0:
        raise InputError("norm", c.norm, "p in [2, inf]", SOURCE)
    if c.ball is None or c.gradient_deviation <= 0:
        raise InputError("gradient_deviation", c.gradient_deviation, "> 0, with a bounded domain", SOURCE)
    count_option("steps", steps, SOURCE)
    sigma, eps = c.gradient_deviation, given.epsilon
    T = steps or max(16, ceil(sqrt(n * eps)))
    tau = sigma * sqrt(n * eps) / d**0.25
    s = 2 * tau * sqrt(d * T) / (n * gdp_mu(eps, given.delta))
    size = sqrt(d) * sqrt(s**2 + sigma**4 / tau**2)
    eta = min(1 / c.smoothness, c.ball.euclidean_diameter(d) / (size * sqrt(T)))
    query = GaussianQuery("clipped gradient", 2 * tau * sqrt(d) / n, T)
    return make_plan(
        query, gradient_evaluations=n * T, warnings=(STAND_IN,), n=n, steps=T, step=eta, clip=tau, size=size
    )


@plan.run
def heavy_tailed_euclid(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the mean of w_1..w_T."""
    w = objective.start
    total = float64_zeros(w)
    for t in range(plan.steps):
        gradient = mechanism.release("clipped gradient", objective.clipped_mean_gradient(w, plan.clip), t)
        w = objective.project(w - plan.step * gradient)
        total = total + w
        objective.observe(w)
    return cast_like(total / plan.steps, w)
