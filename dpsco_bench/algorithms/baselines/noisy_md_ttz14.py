"""Noisy mirror descent (Talwar, Thakurta, Zhang 2014), a "[28]" of Wang, Ye, Xu's Table 3."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Talwar, Thakurta, Zhang 2014, as row [28] of Wang, Ye, Xu 2017, Table 3 (constants from memory, unverified)"


@algorithm("wang2017.noisy_md_ttz14", source=SOURCE, needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.BALL))
def plan(
    c: Constants,
    n: int,
    d: int,
    privacy: PrivacySpec,
    *,
    variant: str,
    steps: int | None = None,
    most_steps: int | None = None,
) -> Plan:
    """Mirror descent with noisy full gradients: T = diam^2 n^2 eps^2/(W ln^2(n/delta)), average of the iterates.

    Step sqrt(2B/(T (G^2 diam^2 + sigma^2 W))) with sigma the noise in force; B bounds the Bregman divergence from the
    centre and W = E sup_{w in C} <b, w>^2. ``paper``: sigma^2 = 32 G^2 T ln^2(n/delta)/(n eps)^2.

    Parameters
    ----------
    c, n, d, privacy
        Problem constants with a ball as domain, number of records, dimension, target privacy.
    variant : str
        ``standard``.
    steps, most_steps : optional
        Replace T; cap it.
    """
    for key, value in (("steps", steps), ("most_steps", most_steps)):
        if value is not None and value < 1:
            raise InputError(key, value, "an integer >= 1", SOURCE)
    if c.ball is None:
        raise InputError("domain", c.domain, "a ball", SOURCE)
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


@plan.run
def noisy_md(objective, plan, mechanism):
    """Mirror steps on ``(R, d)``; returns the average of z_1..z_T."""
    return averaged_steps(objective, plan, mechanism, optimal_step(plan, mechanism))


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
