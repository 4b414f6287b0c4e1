"""DP-SGD of Zhang, Zheng, Mou, Wang 2017 on losses that need not be convex, which Theorem 6.3 is compared with."""

from __future__ import annotations

from math import log, log1p, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.papers.wang2017.algorithms.noisy_gradient import checked_step
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import SingleIndex
from dpsco_bench.problems.base import Trait

SOURCE = "Zhang, Zheng, Mou, Wang 2017, as [34] of Wang, Ye, Xu 2017, Section 6.2 (constants from memory, unverified)"


@algorithm(
    "wang2017.dp_sgd_zhang17",
    source=SOURCE,
    needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    order_invariant=False,
    measure="mean_squared_gradient",
)
def plan(given: Setting, *, steps: int | None = None, step: float | None = None) -> Plan:
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
    T, L, G = count_option("steps", steps, SOURCE) or n * n, c.total_smoothness, c.lipschitz
    scale = sqrt(32 * log(n / given.delta) * given.l) * G / given.epsilon
    limit = 2 * G / sqrt(log1p(gdp_mu(given.epsilon, given.delta) ** 2))
    variance = G**2 + d * (scale if given.calibration == "paper" else limit) ** 2
    eta = checked_step(step or min(1 / L, sqrt(2 * c.initial_gap / (L * T * variance))), L, SOURCE)
    query = GaussianQuery("gradient", 2 * G, T, SingleIndex(n), paper_scale=scale)
    return make_plan(query, gradient_evaluations=T, n=n, steps=T, step=eta)


@plan.run
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
