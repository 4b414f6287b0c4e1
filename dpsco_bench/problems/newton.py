"""Exact minimisers of generalised linear objectives, the reference for every excess risk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.problems.base import Data

if TYPE_CHECKING:
    from dpsco_bench.problems.glm import GeneralisedLinear


@dataclass(frozen=True)
class Minimum:
    """A minimiser ``point (d,)``, its risk and the Newton decrement that certifies it."""

    point: np.ndarray
    value: float
    decrement: float


def minimise_glm(
    problem: GeneralisedLinear, data: Data, steps: int = 200, tolerance: float = 1e-15, extra_ridge: float = 0.0
) -> Minimum:
    """Damped Newton with solves truncated to the Hessian's numerical range.

    The truncation (relative eigenvalue 1e-12) handles rank-deficient data without a ridge, where the minimiser is a
    subspace and only its risk matters.

    Parameters
    ----------
    problem : GeneralisedLinear
        Gives slope, curvature and the ridge constant.
    data : Data
        ``features (n, d)``, ``labels (n,)`` on the host.
    steps, tolerance : int, float
        Stop when half the squared Newton decrement is at most ``tolerance * max(1, |risk|)``.
    extra_ridge : float
        Curvature of a further ridge term, part of the objective and of the returned value.

    Raises
    ------
    NumericalFailure
        When the tolerance is not reached.
    """
    ridge = problem.constants.regularisation + extra_ridge

    def risk(x: np.ndarray) -> float:
        return float(problem.risk(x[None], data)[0]) + 0.5 * extra_ridge * float(x @ x)

    x = np.zeros(data.features.shape[1])
    value = risk(x)
    decrement = np.inf
    for _ in range(steps):
        margins = data.features @ x
        gradient = problem.slope(margins, data.labels) @ data.features / data.n + ridge * x
        weights = problem.curvature(margins, data.labels) / data.n
        hessian = (data.features.T * weights) @ data.features + ridge * np.eye(len(x))
        direction = _truncated_solve(hessian, gradient)
        decrement = 0.5 * float(gradient @ direction)
        if decrement <= tolerance * max(1.0, abs(value)):
            return Minimum(x, value, decrement)
        step, value = _line_search(risk, x, direction, value, decrement)
        x = x - step * direction
        if step == 0.0:
            break
    if decrement <= 1e-10:
        return Minimum(x, value, decrement)
    raise NumericalFailure(f"optimum of {problem.name}: Newton decrement {decrement:.1e} after {steps} steps")


def minimise_glm_in_ball(problem: GeneralisedLinear, data: Data, radius: float) -> Minimum:
    """Minimum over ``||x||_2 <= radius``: the multiplier of an active constraint is a further ridge.

    Raises
    ------
    NumericalFailure
        When a Newton iteration fails.
    """

    def with_multiplier(ridge: float) -> Minimum:
        return minimise_glm(problem, data, extra_ridge=ridge)

    def excess(log_ridge: float) -> float:
        return float(np.linalg.norm(with_multiplier(np.exp(log_ridge)).point)) - radius

    slightest, largest = np.log(1e-12), np.log(2.0 * problem.constants.lipschitz / radius)
    if excess(slightest) <= 0:
        return minimise_glm(problem, data)
    ridge = np.exp(brentq(excess, slightest, largest, xtol=1e-13, rtol=1e-15))
    found = with_multiplier(ridge)
    return Minimum(found.point, found.value - 0.5 * ridge * float(found.point @ found.point), found.decrement)


def _truncated_solve(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    values, basis = np.linalg.eigh(matrix)
    keep = values > 1e-12 * values[-1]
    return basis[:, keep] @ ((basis[:, keep].T @ vector) / values[keep])


def _line_search(
    risk: Callable[[np.ndarray], float], x: np.ndarray, direction: np.ndarray, value: float, decrement: float
) -> tuple[float, float]:
    """Backtrack to an Armijo step; 0 when rounding hides any decrease."""
    step = 1.0
    while step > 1e-8:
        candidate = risk(x - step * direction)
        if candidate <= value - 0.2 * step * decrement:
            return step, candidate
        step *= 0.5
    return 0.0, value
