"""DP-GD for smooth losses that need not be convex (Wang, Ye, Xu 2017, Algorithm 4, Theorems 6.1 and 6.3)."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.papers.wang2017.algorithms.noisy_gradient import checked_step, gradient_query, noisy_step
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = "Wang, Ye, Xu 2017, Algorithm 4, Theorems 6.1 and 6.3"


@algorithm(
    "wang2017.dp_gd_nonconvex",
    source=SOURCE,
    needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    measure="mean_squared_gradient",
)
def plan(
    given: Setting, *, steps: int | None = None, step: float | None = None, noise_constant: float | str = 1.0
) -> Plan:
    """Noisy gradient descent towards a stationary point: eta = 1/L, T = sqrt(2 L D0) n eps/(G sqrt(d l)).

    L is the smoothness of the whole objective. What is measured is ``mean_k ||grad F(x_k)||^2``, the exact expectation
    over the output's random index.

    Parameters
    ----------
    given : Setting
        D0 is the declared `initial_gap`.
    steps, step : optional
        Replace T and eta; eta must be at most 1/L.
    noise_constant : float or str
        c in sigma^2 = c G^2 T l/(n eps)^2, equation (11); ``renyi`` is c = 8 + 4 eps/l (erratum E8).
    """
    c, n, d = given.constants, given.n, given.d
    L = c.total_smoothness
    eta = checked_step(step, L, SOURCE)
    balanced = sqrt(2 * L * c.initial_gap / (d * given.l)) * n * given.epsilon / c.lipschitz
    T = count_option("steps", steps, SOURCE) or max(1, round(balanced))
    query = gradient_query(given, T, noise_constant, SOURCE)
    return make_plan(query, gradient_evaluations=n * T, n=n, steps=T, step=eta)


@plan.run
def dp_gd_nonconvex(objective, plan, mechanism):
    """Algorithm 4 on iterates ``(R, d)``; returns x_M with M uniform on {0, ..., T-1}."""
    x = output = objective.start
    M = mechanism.choose("output", plan.steps)[:, None]
    for t in range(plan.steps):
        objective.observe(x)
        output = objective.xp.where(t == M, x, output)
        x = noisy_step(objective, plan, mechanism, x, t)
    return output
