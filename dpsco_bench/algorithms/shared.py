"""Methods that several papers share: noisy mirror descent, projected steps on batches, and phases of private SGD."""

from __future__ import annotations

from math import ceil, log, log2, sqrt

from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.backend.namespace import cast, cast_like, float64_zeros
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import Disjoint


def mirror_descent_plan(given: Setting, steps: int | None, most_steps: int | None) -> Plan:
    """``T = diam^2 n^2 eps^2/(W ln^2(n/delta))`` noisy full gradients, ``sigma^2 = 32 G^2 T ln^2(n/delta)/(n eps)^2``.

    For a setting on a ball; ``steps`` replaces T, ``most_steps`` caps it.
    """
    c, n, eps = given.constants, given.n, given.epsilon
    geometry = ball_geometry(given.ball)
    width, logarithm = geometry.squared_width(given.d), log(n / given.delta)
    T = given.count("steps", steps) or max(1, round((c.diameter * n * eps / logarithm) ** 2 / width))
    T = min(T, given.count("most_steps", most_steps) or T)
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


def averaged_steps(objective, plan, mechanism, step=None):
    """Make T mirror steps of one length, by default `optimal_step`, on ``(R, d)``; returns the average of z_1..z_T."""
    geometry, step = ball_geometry(objective.domain), step or optimal_step(plan, mechanism)

    def moved(z, t):
        gradient = mechanism.release("gradient", objective.mean_gradient(z), t) + objective.regulariser_gradient(z)
        return geometry.bregman_step(z, step * gradient)

    return average(objective, objective.start, plan.steps, moved)


def average(objective, x, steps, step):
    """Make steps ``x <- step(x, t)`` from ``x (R, d)``; returns the mean of the points after each."""
    total = float64_zeros(x)
    for t in range(steps):
        x = step(x, t)
        total = total + x
        objective.observe(x)
    return cast_like(total / steps, x)


def projected_sgd(objective, plan, mechanism, step=None):
    """Make projected steps of one size, by default the plan's, on noisy batch gradients and iterates ``(R, d)``.

    Returns the mean of x^1..x^T, the iterates before each step.
    """
    x, step = objective.start, step or plan.step
    total = float64_zeros(x)
    for t in range(plan.steps):
        total = total + x
        gradient = objective.batch_gradient(x, mechanism.sample("gradient", t))
        x = objective.project(x - step * mechanism.release("gradient", gradient, t))
        objective.observe(x)
    return cast_like(total / plan.steps, x)


def phased_plan(given: Setting, step: float) -> Plan:
    """Phases i = 1, 2, .. of ``n/2^i`` records and steps ``step/4^i``, each with its release."""
    L, n, l, eps = given.constants.lipschitz, given.n, given.l, given.epsilon
    sizes = [n >> i for i in range(1, ceil(log2(n)) + 1) if n >> i > 0]
    phases = [
        GaussianQuery(
            phase_name(i), 2 * L * step / 4**i, 1, Disjoint(size), paper_scale=4 * L * step / 4**i * sqrt(l) / eps
        )
        for i, size in enumerate(sizes, start=1)
    ]
    return make_plan(*phases, gradient_evaluations=sum(sizes), n=n, step=step, sizes=tuple(sizes))


def run_phases(objective, plan, mechanism):
    """SGD steps, regularised and projected on the domain, in phases that start at the release of the one before."""
    w, position = objective.start, 0
    for i, size in enumerate(plan.sizes, start=1):
        u, step = w, plan.step / 4**i
        total = cast(u, objective.xp.float64)
        for t in range(position, position + size):
            gradient = objective.range_gradient(u, t, 1) + objective.regulariser_gradient(u)
            u = objective.project(u - step * gradient)
            total = total + u
        position += size
        w = objective.project(mechanism.release(phase_name(i), cast_like(total / (size + 1), w)))
        objective.observe(w)
    return w


def phase_name(i: int) -> str:
    return f"phase {i}"
