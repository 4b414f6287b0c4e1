"""Noisy mirror descent (Talwar, Thakurta, Zhang 2014), shared by baselines (constants from memory, unverified)."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants


def mirror_descent_plan(
    c: Constants, n: int, d: int, privacy: PrivacySpec, steps: int | None, most_steps: int | None, source: str
) -> Plan:
    """``T = diam^2 n^2 eps^2/(W ln^2(n/delta))`` noisy full gradients, ``sigma^2 = 32 G^2 T ln^2(n/delta)/(n eps)^2``.

    Parameters
    ----------
    c, n, d, privacy
        Problem constants with a ball as domain, number of records, dimension, target privacy.
    steps, most_steps : int, optional
        Replace T; cap it.
    source : str
        Named in errors.
    """
    for key, value in (("steps", steps), ("most_steps", most_steps)):
        if value is not None and value < 1:
            raise InputError(key, value, "an integer >= 1", source)
    if c.ball is None:
        raise InputError("domain", c.domain, "a ball", source)
    geometry = ball_geometry(c.ball)
    width, logarithm = geometry.squared_width(d), log(n / privacy.delta)
    T = steps or max(1, round((c.diameter * n * privacy.epsilon / logarithm) ** 2 / width))
    T = min(T, most_steps or T)
    scale = sqrt(32 * T) * c.lipschitz * logarithm / (n * privacy.epsilon)
    query = GaussianQuery("gradient", 2 * c.lipschitz / n, T, paper_scale=scale)
    schedule: dict[str, Any] = dict(
        bregman_radius=geometry.bregman_radius(d), squared_width=width, slope=c.lipschitz * c.diameter
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
