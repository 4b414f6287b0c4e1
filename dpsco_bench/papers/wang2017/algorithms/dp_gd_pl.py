"""DP-GD under the Polyak-Lojasiewicz inequality (Wang, Ye, Xu 2017, Algorithm 4, Theorems 6.1 and 6.2)."""

from __future__ import annotations

from math import ceil, log

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.errors import InputError
from dpsco_bench.papers.wang2017.algorithms.noisy_gradient import checked_step, gradient_query, noisy_step
from dpsco_bench.privacy.plan import Plan, last_iterate, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = "Wang, Ye, Xu 2017, Algorithm 4, Theorems 6.1 and 6.2"


@algorithm(
    "wang2017.dp_gd_pl",
    source=SOURCE,
    needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.POLYAK_LOJASIEWICZ, Trait.UNCONSTRAINED),
    law="gradient_descent",
)
def plan(
    given: Setting,
    *,
    steps: int | None = None,
    step: float | None = None,
    noise_constant: float | str = 1.0,
    release: str = "sequence",
) -> Plan:
    """Noisy gradient descent under the PL inequality: eta = 1/L, T = (L/mu) ln(n^2 eps^2/(d G^2 l)).

    L is the smoothness of the whole objective, since the regulariser is handled in the gradient.

    Parameters
    ----------
    given : Setting
        mu > 0.
    steps, step : optional
        Replace T and eta; eta must be at most 1/L.
    noise_constant : float or str
        c in sigma^2 = c G^2 T l/(n eps)^2, equation (11); ``renyi`` is c = 8 + 4 eps/l, from the proof's constants
        (erratum E8).
    release : str
        What accounted noise is calibrated by: the ``sequence`` of all gradients, or the ``output`` alone, of an
        objective that is convex besides.
    """
    c, n, d = given.constants, given.n, given.d
    if c.strong_convexity <= 0:
        raise InputError("strong_convexity", c.strong_convexity, "> 0 (the PL constant)", SOURCE)
    eta = checked_step(step, c.total_smoothness, SOURCE)
    condition = c.total_smoothness / c.strong_convexity
    gain = 2 * log(n * given.epsilon) - log(d * c.lipschitz**2 * given.l)
    T = count_option("steps", steps, SOURCE) or max(1, ceil(condition * gain))
    query = gradient_query(given, T, noise_constant, SOURCE)
    last = last_iterate(given.constants, eta, release, SOURCE)
    return make_plan(query, gradient_evaluations=n * T, last_iterate=last, n=n, steps=T, step=eta)


@plan.run
def dp_gd_pl(objective, plan, mechanism):
    """Algorithm 4 on iterates ``(R, d)``; returns the last iterate."""
    x = objective.start
    for t in range(plan.steps):
        x = noisy_step(objective, plan, mechanism, x, t)
        objective.observe(x)
    return x
