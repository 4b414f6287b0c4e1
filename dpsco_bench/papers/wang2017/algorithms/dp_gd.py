"""DP-GD as in the experiments on merely convex losses (Wang, Ye, Xu 2017, Algorithm 4, Appendix A and Figure 2)."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.papers.wang2017.algorithms.noisy_gradient import (
    checked_step,
    checked_steps,
    gradient_query,
    noisy_step,
)
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Wang, Ye, Xu 2017, Algorithm 4 and Appendix A"
FIGURE_2_STEPS = 1000


@algorithm("wang2017.dp_gd", source=SOURCE, needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED))
def plan(
    c: Constants,
    n: int,
    d: int,
    privacy: PrivacySpec,
    *,
    variant: str,
    steps: int | None = None,
    step: float | None = None,
    noise_constant: float | str = 1.0,
) -> Plan:
    """Noisy gradient descent with a given number of steps, returning the last iterate.

    The paper runs Algorithm 4 on a convex loss without the Polyak-Lojasiewicz inequality, which none of its theorems
    covers; the steps are those of Figure 2.

    Parameters
    ----------
    c, n, d, privacy
        Problem constants, number of records, dimension, target privacy.
    variant : str
        ``standard``.
    steps, step : optional
        T (1000 by default) and eta (1/L by default, and at most that).
    noise_constant : float or str
        c in sigma^2 = c G^2 T l/(n eps)^2, equation (11); ``renyi`` is c = 8 + 4 eps/l (erratum E8).
    """
    eta = checked_step(step, c.total_smoothness, SOURCE)
    T = checked_steps(steps, SOURCE) or FIGURE_2_STEPS
    query = gradient_query(c, n, T, privacy, noise_constant, SOURCE)
    return make_plan(query, gradient_evaluations=n * T, n=n, steps=T, step=eta)


@plan.run
def dp_gd(objective, plan, mechanism):
    """Algorithm 4 on iterates ``(R, d)``; returns the last iterate."""
    x = objective.start
    for t in range(plan.steps):
        x = noisy_step(objective, plan, mechanism, x, t)
        objective.observe(x)
    return x
