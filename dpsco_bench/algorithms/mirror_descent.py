"""Noisy mirror descent (Talwar, Thakurta, Zhang 2014), shared by baselines (constants from memory, unverified)."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.algorithms.options import count_option
from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan


def mirror_descent_plan(given: Setting, steps: int | None, most_steps: int | None, source: str) -> Plan:
    """``T = diam^2 n^2 eps^2/(W ln^2(n/delta))`` noisy full gradients, ``sigma^2 = 32 G^2 T ln^2(n/delta)/(n eps)^2``.

    Parameters
    ----------
    given : Setting
        On a ball.
    steps, most_steps : int, optional
        Replace T; cap it.
    source : str
        Named in errors.
    """
    c, n, eps = given.constants, given.n, given.epsilon
    count_option("steps", steps, source)
    count_option("most_steps", most_steps, source)
    if c.ball is None:
        raise InputError("domain", c.domain, "a ball", source)
    geometry = ball_geometry(c.ball)
    width, logarithm = geometry.squared_width(given.d), log(n / given.delta)
    T = steps or max(1, round((c.diameter * n * eps / logarithm) ** 2 / width))
    T = min(T, most_steps or T)
    scale = sqrt(32 * T) * c.lipschitz * logarithm / (n * eps)
    query = GaussianQuery("gradient", 2 * c.lipschitz / n, T, paper_scale=scale)
    schedule: Schedule = dict(
        bregman_radius=geometry.bregman_radius(given.d), squared_width=width, slope=c.lipschitz * c.diameter
    )
    return make_plan(query, gradient_evaluations=n * T, n=n, steps=T, **schedule)


def optimal_step(plan, mechanism):
    """``sqrt(2B/(T (G^2 diam^2 + sigma^2 W)))`` with the noise in force."""
    variance = plan.slope**2 + plan.squared_width * mechanism.scales["gradient"] ** 2
    return sqrt(2 * plan.bregman_radius / (plan.steps * variance))


def averaged_steps(objective, plan, mechanism, step):
    """T mirror steps of a given length on ``(R, d)``; returns the average of the iterates after each."""
    geometry, z = ball_geometry(objective.domain), objective.start
    total = float64_zeros(z)
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", objective.mean_gradient(z), t) + objective.regulariser_gradient(z)
        z = geometry.bregman_step(z, step * gradient)
        total = total + z
        objective.observe(z)
    return cast_like(total / plan.steps, z)
