"""DP-GD, gradient descent with noisy full gradients (Wang, Ye, Xu 2017, Algorithm 4), for three classes of losses."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.privacy.plan import GaussianQuery, Plan, last_iterate, make_plan
from dpsco_bench.problems.base import Trait

Array = Any


def named_constant(given: Setting, value: float | str, name: str, derived: float) -> float:
    """Read the constant c of a variance: a number > 0, or ``name`` for ``derived``; InputError for anything else."""
    if value == name:
        return derived
    if isinstance(value, str) or value <= 0:
        raise given.error("noise_constant", value, f"a number > 0 or {name}")
    return float(value)


def noise_constant_value(given: Setting, value: float | str) -> float:
    """Read the constant c, where ``renyi`` is ``8 + 4 eps/l`` (erratum E8)."""
    return named_constant(given, value, "renyi", 8.0 + 4.0 * given.epsilon / given.l)


def gradient_query(given: Setting, T: int, noise_constant: float | str) -> GaussianQuery:
    """T releases of the mean gradient: sensitivity 2G/n, ``sigma^2 = c G^2 T l/(n eps)^2`` as printed."""
    G, n = given.constants.lipschitz, given.n
    scale = sqrt(noise_constant_value(given, noise_constant) * T * given.l) * G / (n * given.epsilon)
    return GaussianQuery("gradient", 2 * G / n, T, paper_scale=scale)


def descent_plan(given: Setting, T: int, step: float | None, noise_constant: float | str, release: str = "") -> Plan:
    """Plan T steps of size 1/L, or as given, each with the gradient of `gradient_query`."""
    n, limit = given.n, 1.0 / given.constants.total_smoothness
    eta = given.step(limit if step is None else step, limit, "1/L")
    query = gradient_query(given, T, noise_constant)
    last = last_iterate(given.constants, eta, release, given.source) if release else None
    return make_plan(query, gradient_evaluations=n * T, last_iterate=last, n=n, steps=T, step=eta)


def noisy_step(objective: Any, plan: Any, mechanism: Any, x: Array, t: int, mean_gradient: Any = None) -> Array:
    """``x - eta (grad F(x) + N(0, sigma^2 I))`` on iterates ``(R, d)``; the regulariser's gradient needs no noise."""
    mean_gradient = mean_gradient or objective.mean_gradient
    gradient = mechanism.release("gradient", mean_gradient(x), t) + objective.regulariser_gradient(x)
    return x - plan.step * gradient


def random_iterate(objective: Any, plan: Any, mechanism: Any, step: Callable[[Array, int], Array]) -> Array:
    """Make steps ``x <- step(x, t)`` on iterates ``(R, d)``; return x_M with M uniform on {0, ..., T-1}."""
    x = output = objective.start
    M = mechanism.choose("output", plan.steps)[:, None]
    for t in range(plan.steps):
        objective.observe(x)
        output = objective.xp.where(t == M, x, output)
        x = step(x, t)
    return output


@algorithm(
    "wang2017.dp_gd_pl",
    source="Wang, Ye, Xu 2017, Algorithm 4, Theorems 6.1 and 6.2",
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
        Target of accounted noise: the ``sequence`` of all gradients, or the ``output`` alone, for an objective that is
        convex besides.
    """
    c, n, d = given.constants, given.n, given.d
    given.require("strong_convexity", c.strong_convexity, c.strong_convexity > 0, "> 0 (the PL constant)")
    gain = 2 * log(n * given.epsilon) - log(d * c.lipschitz**2 * given.l)
    T = given.count("steps", steps) or max(1, ceil(c.total_smoothness / c.strong_convexity * gain))
    return descent_plan(given, T, step, noise_constant, release)


@dp_gd_pl_plan.run
def dp_gd_pl(objective, plan, mechanism, mean_gradient=None):
    """Run Algorithm 4 on iterates ``(R, d)``; returns the last one. A compiled run gives a function of the point."""
    x = objective.start
    for t in range(plan.steps):
        x = noisy_step(objective, plan, mechanism, x, t, mean_gradient)
        objective.observe(x)
    return x


@algorithm(
    "wang2017.dp_gd",
    source="Wang, Ye, Xu 2017, Algorithm 4 and Appendix A",
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
    noise_constant, release
        As for ``wang2017.dp_gd_pl``.
    """
    return descent_plan(given, given.count("steps", steps) or 1000, step, noise_constant, release)


dp_gd_plan.run(dp_gd_pl)


@algorithm(
    "wang2017.dp_gd_nonconvex",
    source="Wang, Ye, Xu 2017, Algorithm 4, Theorems 6.1 and 6.3",
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
    steps, step, noise_constant
        As for ``wang2017.dp_gd_pl``.
    """
    c = given.constants
    signal = sqrt(2 * c.total_smoothness * c.initial_gap / (given.d * given.l)) * given.n * given.epsilon / c.lipschitz
    T = given.count("steps", steps) or max(1, round(signal))
    return descent_plan(given, T, step, noise_constant)


@dp_gd_nonconvex_plan.run
def dp_gd_nonconvex(objective, plan, mechanism):
    """Algorithm 4 on iterates ``(R, d)``; returns x_M with M uniform on {0, ..., T-1}."""
    return random_iterate(objective, plan, mechanism, lambda x, t: noisy_step(objective, plan, mechanism, x, t))
