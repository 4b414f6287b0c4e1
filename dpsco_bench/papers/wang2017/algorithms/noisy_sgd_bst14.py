"""Noisy SGD with n^2 single-record steps (Bassily, Smith, Thakurta 2014), the "[6]" of Wang, Ye, Xu's tables."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import SingleIndex
from dpsco_bench.problems.base import Trait

SOURCE = (
    "Bassily, Smith, Thakurta 2014, as row [6] of Wang, Ye, Xu 2017, Tables 1 and 2 (constants from memory, unverified)"
)


@algorithm(
    "wang2017.noisy_sgd_bst14",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, (Trait.BALL, Trait.STRONGLY_CONVEX)),
    order_invariant=False,
)
def plan(given: Setting, *, steps: int | None = None) -> Plan:
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
    count_option("steps", steps, SOURCE)
    if c.strong_convexity <= 0 and c.ball is None:
        raise InputError("domain", c.domain, "a ball, without strong convexity", SOURCE)
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


@plan.run
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
