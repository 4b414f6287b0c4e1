"""Steps on single records with noise: the "[6]" and "[34]" that Wang, Ye, Xu 2017 compare with."""

from __future__ import annotations

from math import log, log1p, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.papers.wang2017.algorithms.gradient_descent import random_iterate
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import SingleIndex
from dpsco_bench.problems.base import Trait


def record_query(given: Setting, T: int) -> GaussianQuery:
    """T releases of one uniform record's gradient; ``sigma^2 = 32 G^2 ln(n/delta) l/eps^2`` as printed."""
    G, n = given.constants.lipschitz, given.n
    scale = sqrt(32 * log(n / given.delta) * given.l) * G / given.epsilon
    return GaussianQuery("gradient", 2 * G, T, SingleIndex(n), paper_scale=scale)


def noisy_gradient(objective: Any, mechanism: Any, x: Any, t: int) -> Any:
    """Release the gradient of step t's record at ``x (R, d)``; the regulariser's gradient needs no noise."""
    gradient = objective.batch_gradient(x, mechanism.sample("gradient", t))
    return mechanism.release("gradient", gradient, t) + objective.regulariser_gradient(x)


@algorithm(
    "wang2017.noisy_sgd_bst14",
    source="Bassily, Smith, Thakurta 2014, as row [6] of Wang, Ye, Xu 2017, Tables 1 and 2 (constants from memory, "
    "unverified)",
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
    T = given.count("steps", steps) or n * n
    bounded = c.ball is not None or c.strong_convexity > 0
    given.require("domain", c.domain, bounded, "a ball, without strong convexity")
    known: Schedule = dict(curvature=c.strong_convexity, lipschitz=c.lipschitz, diameter=c.diameter)
    return make_plan(record_query(given, T), gradient_evaluations=T, n=n, steps=T, **known)


@noisy_sgd_plan.run
def noisy_sgd(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the last iterate."""
    x = objective.start
    spread = sqrt(plan.lipschitz**2 + x.shape[-1] * mechanism.scales["gradient"] ** 2)
    for t in range(1, plan.steps + 1):
        step = 1 / (plan.curvature * t) if plan.curvature > 0 else plan.diameter / (sqrt(t) * spread)
        x = objective.project(x - step * noisy_gradient(objective, mechanism, x, t - 1))
        objective.observe(x)
    return x


@algorithm(
    "wang2017.dp_sgd_zhang17",
    source="Zhang, Zheng, Mou, Wang 2017, as [34] of Wang, Ye, Xu 2017, Section 6.2 (constants from memory, "
    "unverified)",
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
    c, n = given.constants, given.n
    T, L, G = given.count("steps", steps) or n * n, c.total_smoothness, c.lipschitz
    query = record_query(given, T)
    limit = 2 * G / sqrt(log1p(gdp_mu(given.epsilon, given.delta) ** 2))
    sigma = {"paper": query.paper_scale}.get(given.calibration) or limit
    best = min(1 / L, sqrt(2 * c.initial_gap / (L * T * (G**2 + given.d * sigma**2))))
    return make_plan(query, gradient_evaluations=T, n=n, steps=T, step=given.step(step or best, 1 / L, "1/L"))


@dp_sgd_plan.run
def dp_sgd(objective, plan, mechanism):
    """Step from iterates ``(R, d)``; return x_M with M uniform on {0, ..., T-1}."""

    def step(x, t):
        return x - plan.step * noisy_gradient(objective, mechanism, x, t)

    return random_iterate(objective, plan, mechanism, step)
