"""Exact minimisers of generalised linear objectives, the reference for every excess risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.problems.base import Data

if TYPE_CHECKING:
    from dpsco_bench.problems.glm import GeneralisedLinear

POLISHING_STEPS = 3
SECULAR_STEPS = 100
RADIUS_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Minimum:
    """A minimiser ``point (d,)``, its value, and as certificates the Newton decrement and the gradient's norm."""

    point: np.ndarray
    value: float
    decrement: float
    gradient_norm: float = 0.0


class _Local:
    """Value, gradient and Hessian of ``F(x) + (weight/2) ||x||^2 + <linear, x>`` at points ``(d,)``."""

    def __init__(self, problem: GeneralisedLinear, data: Data, linear: np.ndarray | None, weight: float) -> None:
        self.problem, self.data = problem, data
        self.linear = np.zeros(data.features.shape[1]) if linear is None else linear
        self.extra, self.ridge = weight, problem.constants.regularisation + weight

    def value(self, x: np.ndarray) -> float:
        risk = float(self.problem.risk(x[None], self.data)[0])
        return risk + 0.5 * self.extra * float(x @ x) + float(self.linear @ x)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        slopes = self.problem.slope(self.data.features @ x, self.data.labels)
        return slopes @ self.data.features / self.data.n + self.ridge * x + self.linear

    def hessian(self, x: np.ndarray) -> np.ndarray:
        weights = self.problem.curvature(self.data.features @ x, self.data.labels) / self.data.n
        return (self.data.features.T * weights) @ self.data.features + self.ridge * np.eye(len(x))


def minimise_glm(
    problem: GeneralisedLinear,
    data: Data,
    steps: int = 200,
    tolerance: float = 1e-15,
    *,
    linear: np.ndarray | None = None,
    weight: float = 0.0,
    start: np.ndarray | None = None,
) -> Minimum:
    """Minimise ``F + (weight/2) ||.||^2 + <linear, .>`` by damped Newton, solves truncated to the numerical range.

    The truncation (relative eigenvalue 1e-12) handles rank-deficient data without a ridge, where the minimiser is a
    subspace and only its risk matters. Raises NumericalFailure when the tolerance is not reached.

    Parameters
    ----------
    steps, tolerance : int, float
        Stop when half the squared Newton decrement is at most ``tolerance * max(1, |value|)``.
    linear : array (d,), optional, linear term
    weight : float, additional ridge, >= 0
    start : array (d,), optional, first iterate; the origin by default
    """
    local = _Local(problem, data, linear, weight)
    x = np.zeros(data.features.shape[1]) if start is None else start
    value, decrement = local.value(x), np.inf
    for _ in range(steps):
        gradient = local.gradient(x)
        direction = _truncated_solve(local.hessian(x), gradient)
        decrement = 0.5 * float(gradient @ direction)
        if decrement <= tolerance * max(1.0, abs(value)):
            return Minimum(x, value, decrement, float(np.linalg.norm(gradient)))
        step, value = _line_search(local, x, direction, value, decrement)
        x = x - step * direction
        if step == 0.0:
            break
    if decrement <= 1e-10 * max(1.0, abs(value)):
        return Minimum(x, value, decrement, float(np.linalg.norm(local.gradient(x))))
    raise NumericalFailure(f"optimum of {problem.name}: Newton decrement {decrement:.1e} after {steps} steps")


def minimise_glm_in_ball(
    problem: GeneralisedLinear,
    data: Data,
    radius: float,
    *,
    linear: np.ndarray | None = None,
    weight: float = 0.0,
    start: np.ndarray | None = None,
) -> Minimum:
    """Minimise ``F + (weight/2) ||.||^2 + <linear, .>`` over ``||x||_2 <= radius``, an l2 ball; infinity for none.

    Outside the ball the multiplier of ``||x||^2/2`` is the root of a secular equation, found by Newton's method on
    ``1/||x||``; the gradient norm of the result is that of the Lagrangian. Raises NumericalFailure when the tolerance
    is not reached.
    """
    multiplier, point = 0.0, start
    for _ in range(SECULAR_STEPS):
        best = minimise_glm(problem, data, linear=linear, weight=weight + multiplier, start=point)
        local = _Local(problem, data, linear, weight + multiplier)
        point = _polished(local, best.point)
        length = float(np.linalg.norm(point))
        if abs(length - radius) <= RADIUS_TOLERANCE * radius or (multiplier == 0.0 and length <= radius):
            break
        slope = float(point @ _truncated_solve(local.hessian(point), point))
        multiplier = max(0.0, multiplier + length**2 / slope * (length - radius) / radius)
    else:
        raise NumericalFailure(f"optimum of {problem.name} in a ball: norm {length:.6g}, radius {radius:g}")
    value = _Local(problem, data, linear, weight).value(point)
    return Minimum(point, value, best.decrement, float(np.linalg.norm(local.gradient(point))))


def _polished(local: _Local, x: np.ndarray) -> np.ndarray:
    """A few full Newton steps, as long as they shorten the gradient."""
    gradient = local.gradient(x)
    for _ in range(POLISHING_STEPS):
        candidate = x - _truncated_solve(local.hessian(x), gradient)
        other = local.gradient(candidate)
        if np.linalg.norm(other) >= np.linalg.norm(gradient):
            break
        x, gradient = candidate, other
    return x


def _truncated_solve(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    values, basis = np.linalg.eigh(matrix)
    keep = values > 1e-12 * values[-1]
    return basis[:, keep] @ ((basis[:, keep].T @ vector) / values[keep])


def _line_search(
    local: _Local, x: np.ndarray, direction: np.ndarray, value: float, decrement: float
) -> tuple[float, float]:
    """Backtrack to an Armijo step; 0 when rounding hides any decrease."""
    step = 1.0
    while step > 1e-8:
        candidate = local.value(x - step * direction)
        if candidate <= value - 0.2 * step * decrement:
            return step, candidate
        step *= 0.5
    return 0.0, value
