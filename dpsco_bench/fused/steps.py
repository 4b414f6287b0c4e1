"""Whole runs of projected steps by tiles, as several methods make them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.algorithms.phased_sgd import phase_name
from dpsco_bench.fused.descent import projected_steps
from dpsco_bench.fused.machine import steps_of
from dpsco_bench.fused.tiles import DOMAINS, domain_of
from dpsco_bench.geometry.ball import LpBall

Array = Any


def projecting(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Check that compiled steps of all kinds can project on the domain."""
    return objective.domain is None or getattr(objective.domain, "name", "") in DOMAINS


def descending(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Check as `projecting` does, for `descent.projected_steps`, which also know the l_p balls with 2 < p < inf."""
    return projecting(objective, plan, mechanism) or (
        type(objective.domain) is LpBall and 2.0 < objective.domain.p < math.inf
    )


def projected_run(
    objective: Any, mechanism: Any, x: Array, total: Array, eta: Any, weights: Any, query: str = "gradient"
) -> None:
    """Projected steps on the noisy batch gradients of a query, all of its releases, regulariser included.

    Parameters
    ----------
    x, total : array (R, d), iterate and a sum, both changed in place
    eta, weights : callable (t, k) -> array (k,) for steps ``t .. t + k - 1``, or a number: step sizes, and weights of
        the new iterates in the sum
    """
    steps = steps_of(objective, mechanism, query, sampled=True)
    ridge, domain = objective.problem.constants.regularisation, domain_of(objective)
    for t, k in steps.stretches(0, mechanism.plan.query(query).releases):
        sizes, counted, scales = _values(eta, t, k), _values(weights, t, k), steps.scales(t, k)
        for tile in steps.tiles(t, k):
            s, told = tile.steps, (tile.rows, tile.records, steps.form, tile.noise)
            steps.run(projected_steps, x, total, *told, scales[s], sizes[s], counted[s], ridge, domain)
        objective.observe(x)


def _values(given: Any, t: int, k: int) -> np.ndarray:
    return np.asarray(given(t, k), dtype=np.float64) if callable(given) else np.full(k, float(given))


def phased_run(objective: Any, plan: Any, mechanism: Any) -> Array:
    """Run `algorithms.phased_sgd.run_phases`: each phase's average, its start included, is released once."""
    w, position = objective.start, 0
    steps = steps_of(objective, mechanism)
    ridge, domain = objective.problem.constants.regularisation, domain_of(objective)
    for i, size in enumerate(plan.sizes, start=1):
        u, total, eta = w.copy(), w.copy(), np.full(size, plan.step / 4**i)
        zero, one = np.zeros(size), np.ones(size)
        for tile in steps.tiles(position, size):
            s, told = tile.steps, (tile.rows, tile.records, steps.form, tile.noise)
            steps.run(projected_steps, u, total, *told, zero[s], eta[s], one[s], ridge, domain)
        position += size
        w = objective.project(mechanism.release(phase_name(i), total / (size + 1), 0))
        objective.observe(w)
    return w
