"""Noisy mirror descent (Talwar, Thakurta, Zhang 2014) as the first row of Table 1 of Su, Zhao, Wang 2023."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, choice_option
from dpsco_bench.algorithms.shared import averaged_steps, mirror_descent_plan, optimal_step
from dpsco_bench.backend.namespace import array_namespace, cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import largest
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Talwar, Thakurta, Zhang 2014, as in Su, Zhao, Wang 2023, Table 1 (constants from memory, unverified)"
MIRRORS = ("lq", "entropy")


@algorithm("su2023.ttz14", source=SOURCE, needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.BALL))
def plan(given: Setting, *, steps: int | None = None, mirror: str = "lq") -> Plan:
    """Noisy mirror descent with T = n/4 steps of 1/(s sqrt T) on an l1 ball and 1/(s sqrt(d T)) on an l2 ball.

    Parameters
    ----------
    given : Setting
        On an l1 or l2 ball.
    steps : optional
        Replaces T.
    mirror : str
        On an l1 ball. ``lq``: a square of an l_q norm. ``entropy``: exponentiated gradient on its 2d vertices, for an
        origin as start.
    """
    choice_option("mirror", mirror, MIRRORS, SOURCE)
    if mirror == "entropy" and given.constants.domain != "l1_ball":
        raise InputError("mirror", mirror, f"lq on {given.constants.domain}; entropy is for l1_ball", SOURCE)
    made = mirror_descent_plan(given, max(1, given.n // 4) if steps is None else steps, None, SOURCE)
    return made if mirror == "lq" else replace(made, schedule={**made.schedule, "mirror": mirror})


@plan.run
def ttz14(objective, plan, mechanism):
    """Mirror steps on ``(R, d)``; returns the average of z_1..z_T."""
    step = step_size(objective, plan, mechanism)
    if plan.schedule.get("mirror") == "entropy":
        return exponentiated_steps(objective, plan, mechanism, step)
    return averaged_steps(objective, plan, mechanism, step)


def step_size(objective, plan, mechanism):
    """Choose the plan's step size; without noise that of the shared method."""
    s, d = mechanism.scales["gradient"], objective.start.shape[-1]
    if s == 0:
        return optimal_step(plan, mechanism)
    return 1 / (s * sqrt(plan.steps * (d if objective.domain.name == "l2_ball" else 1)))


def exponentiated_steps(objective, plan, mechanism, step):
    """Step on weights of the vertices ``+-R e_j``, in proportion to ``exp(-+u_j)``, u the sum of ``R step g``."""
    radius, u = objective.domain.radius, objective.start
    z, total = weighted_vertices(u, radius), float64_zeros(u)
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", objective.mean_gradient(z), t) + objective.regulariser_gradient(z)
        u = u + (radius * step) * gradient
        z = weighted_vertices(u, radius)
        total = total + z
        objective.observe(z)
    return cast_like(total / plan.steps, u)


def weighted_vertices(u, radius):
    """``-R sinh(u_j)/sum_k cosh(u_k)`` of ``u (R, d)``; the origin for u = 0."""
    xp, top = array_namespace(u), largest(u)
    up, down = xp.exp(u - top), xp.exp(-u - top)
    return radius * (down - up) / xp.sum(up + down, axis=-1, keepdims=True)
