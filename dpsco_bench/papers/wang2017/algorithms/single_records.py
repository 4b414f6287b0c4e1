"""Steps on single records with noise: the "[6]" and "[34]" that Wang, Ye, Xu 2017 compare with."""

from __future__ import annotations

from math import log, log1p, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.errors import InputError
from dpsco_bench.papers.wang2017.algorithms.gradient_descent import checked_step
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import SingleIndex
from dpsco_bench.problems.base import Trait

BST14_SOURCE = (
    "Bassily, Smith, Thakurta 2014, as row [6] of Wang, Ye, Xu 2017, Tables 1 and 2 (constants from memory, unverified)"
)


@algorithm(
    "wang2017.noisy_sgd_bst14",
    source=BST14_SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, (Trait.BALL, Trait.STRONGLY_CONVEX)),
    order_invariant=False,
)
def noisy_sgd_plan(given: Setting, *, steps: int | None = None) -> Plan:
    """T = n^2 projected steps on one uniform record each, eta_t = 1/(mu t) or diam/sqrt(t(G^2 + d sigma^2)).

    ``paper``: sigma^2 = 32 G^2 ln(n/delta) l/eps^2. ``accounted``: the least sigma for which the one-index profile,
    valid whatever the other records contribute, gives the claim.

    Parameters
    ----------
    given : Setting
        mu > 0, or a bounded domain.
    steps : optional
        Replaces T.
    """
    c, n = given.constants, given.n
    count_option("steps", steps, BST14_SOURCE)
    if c.strong_convexity <= 0 and c.ball is None:
        raise InputError("domain", c.domain, "a ball, without strong convexity", BST14_SOURCE)
    T = steps or n * n
    scale = sqrt(32 * log(n / given.delta) * given.l) * c.lipschitz / given.epsilon
    query = GaussianQuery("gradient", 2 * c.lipschitz, T, SingleIndex(n), paper_scale=scale)
    return make_plan(
        query,
        gradient_evaluations=T,
        n=n,
        steps=T,
        curvature=c.strong_convexity,
        lipschitz=c.lipschitz,
        diameter=c.diameter,
    )


@noisy_sgd_plan.run
def noisy_sgd(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the last iterate."""
    x = objective.start
    spread = sqrt(plan.lipschitz**2 + x.shape[-1] * mechanism.scales["gradient"] ** 2)
    for t in range(1, plan.steps + 1):
        gradient = objective.batch_gradient(x, mechanism.sample("gradient", t - 1))
        gradient = mechanism.release("gradient", gradient, t - 1) + objective.regulariser_gradient(x)
        step = 1 / (plan.curvature * t) if plan.curvature > 0 else plan.diameter / (sqrt(t) * spread)
        x = objective.project(x - step * gradient)
        objective.observe(x)
    return x


ZHANG17_SOURCE = (
    "Zhang, Zheng, Mou, Wang 2017, as [34] of Wang, Ye, Xu 2017, Section 6.2 (constants from memory, unverified)"
)


@algorithm(
    "wang2017.dp_sgd_zhang17",
    source=ZHANG17_SOURCE,
    needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    order_invariant=False,
    measure="mean_squared_gradient",
)
def dp_sgd_plan(given: Setting, *, steps: int | None = None, step: float | None = None) -> Plan:
    """T = n^2 steps on one uniform record each; the output is the iterate of a uniform index.

    eta = min(1/L, sqrt(2 D0/(L T V))), ``V = G^2 + d sigma^2``, which minimises ``2 D0/(T eta) + L eta V``.

    ``paper``: sigma^2 = 32 G^2 ln(n/delta) l/eps^2. ``accounted``: the least sigma with which the one-index profile has
    the claim; in eta its limit for large n, ``2 G/sqrt(ln(1 + m^2))``, m the Gaussian-DP parameter of (eps, delta).

    Parameters
    ----------
    given : Setting
        D0 is the declared `initial_gap`.
    steps, step : optional
        Replace T and eta; eta must be at most 1/L.
    """
    c, n, d = given.constants, given.n, given.d
    T, L, G = count_option("steps", steps, ZHANG17_SOURCE) or n * n, c.total_smoothness, c.lipschitz
    scale = sqrt(32 * log(n / given.delta) * given.l) * G / given.epsilon
    limit = 2 * G / sqrt(log1p(gdp_mu(given.epsilon, given.delta) ** 2))
    variance = G**2 + d * (scale if given.calibration == "paper" else limit) ** 2
    eta = checked_step(step or min(1 / L, sqrt(2 * c.initial_gap / (L * T * variance))), L, ZHANG17_SOURCE)
    query = GaussianQuery("gradient", 2 * G, T, SingleIndex(n), paper_scale=scale)
    return make_plan(query, gradient_evaluations=T, n=n, steps=T, step=eta)


@dp_sgd_plan.run
def dp_sgd(objective, plan, mechanism):
    """Step from iterates ``(R, d)``; return x_M with M uniform on {0, ..., T-1}."""
    x = output = objective.start
    M = mechanism.choose("output", plan.steps)[:, None]
    for t in range(plan.steps):
        objective.observe(x)
        output = objective.xp.where(t == M, x, output)
        gradient = objective.batch_gradient(x, mechanism.sample("gradient", t))
        gradient = mechanism.release("gradient", gradient, t) + objective.regulariser_gradient(x)
        x = x - plan.step * gradient
    return output
