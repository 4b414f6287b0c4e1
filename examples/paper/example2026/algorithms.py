"""One noisy step (Example 2026, Algorithm 1)."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench import GaussianQuery, Trait, algorithm, make_plan

SOURCE = "Example 2026, Algorithm 1 and Theorem 1"


@algorithm("example2026.one_step", source=SOURCE, needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX))
def plan(given):
    """One step of length 1/(L + lambda) along the full gradient, released once with Gaussian noise.

    ``paper``: sigma = sqrt(2 ln(1.25/delta)) R/(2 n eps) with R the largest distance of two gradients: the noise
    for half of the sensitivity (erratum E1).
    """
    c, n = given.constants, given.n
    sigma = sqrt(2 * log(1.25 / given.delta)) * c.gradient_range / (2 * n * given.epsilon)
    query = GaussianQuery("gradient", sensitivity=c.gradient_range / n, releases=1, paper_scale=sigma)
    return make_plan(query, gradient_evaluations=n, n=n, step=1 / c.total_smoothness)


@plan.run
def one_step(objective, plan, mechanism):
    """Points ``(R, d)``: the start, moved once and projected."""
    x = objective.start
    gradient = mechanism.release("gradient", objective.mean_gradient(x)) + objective.regulariser_gradient(x)
    return objective.project(x - plan.step * gradient)
