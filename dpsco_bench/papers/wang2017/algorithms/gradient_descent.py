"""DP-GD, gradient descent with noisy full gradients (Wang, Ye, Xu 2017, Algorithm 4), for three classes of losses."""

from __future__ import annotations

from math import ceil, log, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import GaussianQuery, Plan, last_iterate, make_plan
from dpsco_bench.problems.base import Trait

Array = Any


def gradient_query(given: Setting, T: int, noise_constant: float | str, source: str) -> GaussianQuery:
    """T releases of the mean gradient: sensitivity 2G/n, ``sigma^2 = c G^2 T l/(n eps)^2`` as printed."""
    G, n = given.constants.lipschitz, given.n
    scale = sqrt(noise_constant_value(given, noise_constant, source) * T * given.l) * G / (n * given.epsilon)
    return GaussianQuery("gradient", 2 * G / n, T, paper_scale=scale)


def noise_constant_value(given: Setting, value: float | str, source: str) -> float:
    """Read the constant c: a number > 0, or ``renyi`` for ``8 + 4 eps/l``, from the proof's constants (erratum E8).

    Raises InputError for anything else.
    """
    if value == "renyi":
        return 8.0 + 4.0 * given.epsilon / given.l
    if isinstance(value, str) or value <= 0:
        raise InputError("noise_constant", value, "a number > 0 or renyi", source)
    return float(value)


def checked_step(step: float | None, smoothness: float, source: str) -> float:
    """Eta: 1/L, or a smaller one as given. Raises InputError outside (0, 1/L]."""
    eta = 1.0 / smoothness if step is None else step
    if not 0 < eta <= (1 + 1e-12) / smoothness:
        raise InputError("step", eta, f"in (0, 1/L] with 1/L = {1 / smoothness:.6g}", source)
    return eta


def noisy_step(objective: Any, plan: Any, mechanism: Any, x: Array, t: int) -> Array:
    """``x - eta (grad F(x) + N(0, sigma^2 I))`` on iterates ``(R, d)``; the regulariser's gradient needs no noise."""
    gradient = mechanism.release("gradient", objective.mean_gradient(x), t) + objective.regulariser_gradient(x)
    return x - plan.step * gradient


PL_SOURCE = "Wang, Ye, Xu 2017, Algorithm 4, Theorems 6.1 and 6.2"


@algorithm(
    "wang2017.dp_gd_pl",
    source=PL_SOURCE,
    needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.POLYAK_LOJASIEWICZ, Trait.UNCONSTRAINED),
    law="gradient_descent",
)
def dp_gd_pl_plan(
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
        raise InputError("strong_convexity", c.strong_convexity, "> 0 (the PL constant)", PL_SOURCE)
    eta = checked_step(step, c.total_smoothness, PL_SOURCE)
    condition = c.total_smoothness / c.strong_convexity
    gain = 2 * log(n * given.epsilon) - log(d * c.lipschitz**2 * given.l)
    T = count_option("steps", steps, PL_SOURCE) or max(1, ceil(condition * gain))
    query = gradient_query(given, T, noise_constant, PL_SOURCE)
    last = last_iterate(given.constants, eta, release, PL_SOURCE)
    return make_plan(query, gradient_evaluations=n * T, last_iterate=last, n=n, steps=T, step=eta)


@dp_gd_pl_plan.run
def dp_gd_pl(objective, plan, mechanism):
    """Algorithm 4 on iterates ``(R, d)``; returns the last iterate."""
    x = objective.start
    for t in range(plan.steps):
        x = noisy_step(objective, plan, mechanism, x, t)
        objective.observe(x)
    return x


CONVEX_SOURCE = "Wang, Ye, Xu 2017, Algorithm 4 and Appendix A"
FIGURE_2_STEPS = 1000


@algorithm(
    "wang2017.dp_gd",
    source=CONVEX_SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    law="gradient_descent",
)
def dp_gd_plan(
    given: Setting,
    *,
    steps: int | None = None,
    step: float | None = None,
    noise_constant: float | str = 1.0,
    release: str = "sequence",
) -> Plan:
    """Noisy gradient descent with a given number of steps, returning the last iterate.

    The paper runs Algorithm 4 on a convex loss without the Polyak-Lojasiewicz inequality, which none of its theorems
    covers; the steps are those of Figure 2.

    Parameters
    ----------
    steps, step : optional
        T (1000 by default) and eta (1/L by default, and at most that).
    noise_constant : float or str
        c in sigma^2 = c G^2 T l/(n eps)^2, equation (11); ``renyi`` is c = 8 + 4 eps/l (erratum E8).
    release : str
        What accounted noise is calibrated by: the ``sequence`` of all gradients, or the ``output`` alone.
    """
    n, eta = given.n, checked_step(step, given.constants.total_smoothness, CONVEX_SOURCE)
    T = count_option("steps", steps, CONVEX_SOURCE) or FIGURE_2_STEPS
    query = gradient_query(given, T, noise_constant, CONVEX_SOURCE)
    last = last_iterate(given.constants, eta, release, CONVEX_SOURCE)
    return make_plan(query, gradient_evaluations=n * T, last_iterate=last, n=n, steps=T, step=eta)


dp_gd_plan.run(dp_gd_pl)


NONCONVEX_SOURCE = "Wang, Ye, Xu 2017, Algorithm 4, Theorems 6.1 and 6.3"


@algorithm(
    "wang2017.dp_gd_nonconvex",
    source=NONCONVEX_SOURCE,
    needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    measure="mean_squared_gradient",
)
def dp_gd_nonconvex_plan(
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
    eta = checked_step(step, L, NONCONVEX_SOURCE)
    balanced = sqrt(2 * L * c.initial_gap / (d * given.l)) * n * given.epsilon / c.lipschitz
    T = count_option("steps", steps, NONCONVEX_SOURCE) or max(1, round(balanced))
    query = gradient_query(given, T, noise_constant, NONCONVEX_SOURCE)
    return make_plan(query, gradient_evaluations=n * T, n=n, steps=T, step=eta)


@dp_gd_nonconvex_plan.run
def dp_gd_nonconvex(objective, plan, mechanism):
    """Algorithm 4 on iterates ``(R, d)``; returns x_M with M uniform on {0, ..., T-1}."""
    x = output = objective.start
    M = mechanism.choose("output", plan.steps)[:, None]
    for t in range(plan.steps):
        objective.observe(x)
        output = objective.xp.where(t == M, x, output)
        x = noisy_step(objective, plan, mechanism, x, t)
    return output
