"""Private stochastic Frank-Wolfe in one pass (Bassily, Guzman, Nandi 2021): on l_p balls, and over a polytope."""

from __future__ import annotations

from math import isqrt, log, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.geometry.polytope import CrossPolytope, Polytope
from dpsco_bench.papers.bassily2021.algorithms.descent import ball_order
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.privacy.queries import DecayingNoisyMinimumQuery, GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Disjoint
from dpsco_bench.problems.base import Trait


def towards(x: Any, vertex: Any, step: float) -> Any:
    """``(1 - step) x + step vertex``: a Frank-Wolfe step on iterates ``(R, d)``."""
    return (1 - step) * x + step * vertex


@algorithm(
    "bassily2021.noisy_sfw",
    source="Bassily, Guzman, Nandi 2021, Algorithm 3, Theorems 11 and 12",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.LP_BALL, Trait.UNREGULARISED),
    order_invariant=False,
    least_norm=1.0,
)
def noisy_sfw_plan(given: Setting, *, norm_rule: str = "best") -> Plan:
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
    c, n, p = given.constants, given.n, ball_order(given, 1.0, 2.0)
    given.require("p", p, p > 1.0, "in (1, 2]")
    given.count("n", n, least=4)
    given.require("smoothness", c.smoothness, c.smoothness > 0, "> 0: a declared L1, or no noise hides the increments")
    smooth, L0 = SmoothNorm(p, given.d, norm_rule), c.lipschitz
    n0, steps, step = n // 2, isqrt(n), log(n) / (2 * sqrt(n))
    b = steps // 2
    drift = step * c.smoothness * c.diameter  # l_q norm of a record's gradient change over one step
    noise = sqrt(32 * smooth.kappa * given.l) / given.epsilon
    first, increment = noise * L0 / n, noise * drift / sqrt(n)
    queries = (
        GeneralisedGaussianQuery("first gradient", 2 * L0 / n0, 1, Disjoint(n0), paper_scale=first, smooth=smooth),
        GeneralisedGaussianQuery("increment", 2 * drift / b, steps, Disjoint(b), paper_scale=increment, smooth=smooth),
    )
    schedule: Schedule = dict(n=n, n0=n0, steps=steps, batch=b, step=step, p=p, r=smooth.r, kappa=smooth.kappa)
    return make_plan(*queries, gradient_evaluations=n0 + 2 * b * steps, **schedule)


@noisy_sfw_plan.run
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


@algorithm(
    "bassily2021.poly_sfw",
    source="Bassily, Guzman, Nandi 2021, Algorithm 1, Theorems 3 and 4",
    needs=(Trait.CONVEX, (Trait.SMOOTH, Trait.LINEAR_LOSS), Trait.LIPSCHITZ, Trait.POLYTOPE, Trait.UNREGULARISED),
    order_invariant=False,
    least_norm=1.0,
)
def poly_sfw_plan(given: Setting) -> Plan:
    """Frank-Wolfe steps eta = ln(n/ln K)/n to the vertex of least noisy score against a recursive gradient estimate.

    ``paper``: Laplace scales b_t = 2 s_t sqrt(n l)/eps with
    s_t = max{(1-eta)^t 2 L0 M/n, 2 eta (L1 M^2 + L0 M)}. ``accounted``: one multiplier on all b_t for which the worst
    record, in the first batch (which moves a score by (1-eta)^t 2 L0 M/N, erratum E6) or later, meets the claim.

    Parameters
    ----------
    given : Setting
        Constants in the polyhedral norm, on the l1 ball (K = 2d implicit vertices) or a polytope given by its K
        vertices; n at least 2 and above ln K.
    """
    c, n, d = given.constants, given.n, given.d
    kind, _, count = c.domain.partition(":")
    known = kind in ("l1_ball", "polytope")
    given.require("domain", c.domain, known, "l1_ball or a polytope with a list of vertices")
    K = 2 * d if kind == "l1_ball" else int(count)
    given.count("K", K, least=2)
    given.require("n", n, n >= 2 and n > log(K), f"an integer >= 2 and above ln K = {log(K):.3g}")
    L0, L1, M = c.lipschitz, c.smoothness, c.diameter
    step, N = log(n / log(K)) / n, n // 2
    decay, start, floor = 1 - step, 2 * L0 * M / n, 2 * step * (L1 * M**2 + L0 * M)
    first, later = 2 * L0 * M / N, 2 * step * (decay * L1 * M**2 + L0 * M)
    last = max(start * decay**N, floor)
    scale = 2 * last * sqrt(n * given.l) / given.epsilon  # b_N, of the last release
    law: Schedule = dict(decay=decay, first=first, later=later, start=start / last, floor=floor / last)
    vertex = DecayingNoisyMinimumQuery("vertex", max(first, later), N + 1, paper_scale=scale, **law)
    return make_plan(vertex, gradient_evaluations=3 * N, n=n, steps=N, step=step, vertices=K)


@poly_sfw_plan.run
def poly_sfw(objective, plan, mechanism):
    """Algorithm 1 on iterates ``(R, d)``; returns the last iterate."""
    x_old, polytope, eta, N = objective.start, objective.domain, plan.step, plan.steps
    if not isinstance(polytope, Polytope):  # the l1 ball, whose vertices have no list
        polytope = CrossPolytope(x_old.shape[-1], polytope.radius)
    estimate = objective.range_gradient(x_old, 0, N)
    objective.observe_round(estimate=estimate)
    chosen = mechanism.release("vertex", polytope.scores(estimate), 0)
    x = towards(x_old, polytope.vertex(chosen, x_old.dtype), eta)
    for t in range(1, N + 1):
        now, before = objective.range_gradient_pair(x, x_old, N + t - 1, 1)
        estimate = (1 - eta) * (estimate + now - before) + eta * now
        objective.observe_round(estimate=estimate)
        chosen = mechanism.release("vertex", polytope.scores(estimate), t)
        x_old, x = x, towards(x, polytope.vertex(chosen, x_old.dtype), eta)
        objective.observe(x)
    return x
