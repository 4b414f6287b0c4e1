"""Minimisers of generalised linear risks over sets: accelerated steps to a certificate, where Newton has no way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.problems.base import Data

if TYPE_CHECKING:
    from dpsco_bench.problems.glm import GeneralisedLinear

TOLERANCE = 1e-10
"""Certified gap, relative to the risk at the origin (1 at least)."""
MOST_STEPS = 50_000
INSIDE, WIDER, WIDEST = 0.9, 4.0, 1e9
"""A point this deep in a ball is free of it; else the ball grows, up to the widest."""


def minimise_composite(
    problem: GeneralisedLinear, data: Data, domain: Any, ridge: float, curvature: float
) -> np.ndarray:
    """Minimiser ``(d,)`` of the mean loss plus ``(ridge/2) ||x||^2`` over a set, None for the whole space.

    A linear loss has a closed form. The Frank-Wolfe gap certifies the others; the whole space is a ball that grows
    until the minimiser lies well inside it. Raises NumericalFailure if the certificate is not reached.

    Parameters
    ----------
    curvature : float, bound on the second derivative of the loss in the margin
    """
    if curvature == 0.0:
        slope = problem.mean_gradient(np.zeros((1, problem.dimension)), data)
        if ridge == 0.0:
            return np.asarray(domain.minimise_linear(slope))[0]
        free = -slope / ridge
        return (free if domain is None else np.asarray(domain.project(free)))[0]
    if domain is not None:
        return _accelerated(problem, data, domain, ridge, curvature, problem.start[None])
    radius, x = 1.0, np.zeros((1, problem.dimension))
    while radius < WIDEST:
        x = _accelerated(problem, data, Ball("l2_ball", radius), ridge, curvature, x)[None]
        if np.linalg.norm(x) <= INSIDE * radius:
            return x[0]
        radius *= WIDER
    raise NumericalFailure(f"optimum of {problem.name}: no minimiser within {WIDEST:.0e} of the origin")


def _accelerated(
    problem: GeneralisedLinear, data: Data, domain: Any, ridge: float, curvature: float, start: np.ndarray
) -> np.ndarray:
    """Accelerated projected gradient with restarts where the momentum points uphill."""
    largest = float(np.linalg.eigvalsh(data.features.T @ data.features / data.n)[-1])
    step = 1.0 / (curvature * largest + ridge or 1.0)

    def gradient(x: np.ndarray) -> np.ndarray:
        return np.asarray(problem.mean_gradient(x, data) + ridge * x)

    wanted = TOLERANCE * max(1.0, float(problem.risk(np.zeros((1, problem.dimension)), data)[0]))
    x = y = domain.project(start)
    t, gap = 1.0, math.inf
    for number in range(MOST_STEPS):
        if number % 10 == 0 or gap <= 10 * wanted:
            slope = gradient(x)
            gap = float(np.sum(slope * x) + domain.support(-slope)[0, 0])
            if gap <= wanted:
                return x[0]
        moved = domain.project(y - step * gradient(y))
        if float(np.sum((y - moved) * (moved - x))) > 0.0 and t > 1.0:
            t, y = 1.0, x
            continue
        t_next = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
        y, x, t = moved + (t - 1.0) / t_next * (moved - x), moved, t_next
    raise NumericalFailure(f"optimum of {problem.name}: gap {gap:.1e} after {MOST_STEPS} steps")
