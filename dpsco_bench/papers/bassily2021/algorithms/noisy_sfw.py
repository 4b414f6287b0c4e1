"""Noisy stochastic Frank-Wolfe with variance reduction, one pass (Bassily, Guzman, Nandi 2021, Algorithm 3)."""

from __future__ import annotations

from math import isqrt, log, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.bassily2021.algorithms.lp_setup import ball_order, towards
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Disjoint
from dpsco_bench.problems.base import Trait

SOURCE = "Bassily, Guzman, Nandi 2021, Algorithm 3, Theorems 11 and 12"


@algorithm(
    "bassily2021.noisy_sfw",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.LP_BALL, Trait.UNREGULARISED),
    order_invariant=False,
    least_norm=1.0,
)
def plan(given: Setting, *, norm_rule: str = "best") -> Plan:
    """Frank-Wolfe steps ln n/(2 sqrt n) on a running gradient estimate: n/2 records, then sqrt n batches of sqrt(n)/2.

    Every record enters one release, so that the larger of the two charges is the whole. Sensitivities come from the
    batch sizes that are run. L1 is what the problem declares: with a linear loss its true value 0 would switch the
    noise of the increments off.

    Parameters
    ----------
    given : Setting
        L0, L1 > 0 and M in l_p, on an l_p ball with 1 < p <= 2; n at least 4.
    norm_rule : str
        How the exponent r of the smooth norm is chosen: ``best``, ``q``, ``sec2`` or ``two_ln_d``.
    """
    c, n, d = given.constants, given.n, given.d
    p = ball_order(c, 1.0, 2.0, SOURCE)
    if p == 1.0:
        raise InputError("p", p, "in (1, 2]", SOURCE)
    if n < 4:
        raise InputError("n", n, "an integer >= 4", SOURCE)
    if c.smoothness <= 0:
        raise InputError("smoothness", c.smoothness, "> 0: a declared L1, or no noise hides the increments", SOURCE)
    smooth = SmoothNorm(p, d, norm_rule)
    n0, steps, step = n // 2, isqrt(n), log(n) / (2 * sqrt(n))
    b = steps // 2
    drift = step * c.smoothness * c.diameter  # l_q norm of a record's gradient change over one step
    noise = sqrt(32 * smooth.kappa * given.l) / given.epsilon
    first = GeneralisedGaussianQuery(
        "first gradient", 2 * c.lipschitz / n0, 1, Disjoint(n0), paper_scale=noise * c.lipschitz / n, smooth=smooth
    )
    increment = GeneralisedGaussianQuery(
        "increment", 2 * drift / b, steps, Disjoint(b), paper_scale=noise * drift / sqrt(n), smooth=smooth
    )
    schedule: Schedule = dict(n=n, n0=n0, steps=steps, batch=b, step=step, p=p, r=smooth.r, kappa=smooth.kappa)
    return make_plan(first, increment, gradient_evaluations=n0 + 2 * b * steps, **schedule)


@plan.run
def noisy_sfw(objective, plan, mechanism):
    """Algorithm 3 on iterates ``(R, d)``; returns the last iterate."""
    x_old = objective.start
    gradient = mechanism.release("first gradient", objective.range_gradient(x_old, 0, plan.n0))
    objective.observe_round(estimate=gradient)
    x = towards(x_old, objective.domain.minimise_linear(gradient), plan.step)
    for t in range(plan.steps):
        change = objective.range_gradient_difference(x, x_old, plan.n0 + t * plan.batch, plan.batch)
        gradient = gradient + mechanism.release("increment", change, t)
        objective.observe_round(estimate=gradient)
        x_old, x = x, towards(x, objective.domain.minimise_linear(gradient), plan.step)
        objective.observe(x)
    return x
