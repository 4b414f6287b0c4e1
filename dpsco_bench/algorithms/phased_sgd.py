"""Phases of private SGD (Feldman, Koren, Talwar 2020): each releases the average of its iterates once."""

from __future__ import annotations

from math import ceil, log2, sqrt

from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.backend.namespace import cast, cast_like
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import Disjoint


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
    """SGD steps, projected on the domain if there is one; a phase starts at the release of the one before.

    The regulariser is no record's: its gradient is part of every step and moves no neighbouring runs apart.
    """
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
