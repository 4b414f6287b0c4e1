"""Exact minimisers of generalised linear objectives, the reference for every excess risk."""

from __future__ import annotations

from collections.abc import Callable
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
MOST_KEPT = 12
"""Arrays that are kept of the last points."""


@dataclass(frozen=True)
class Minimum:
    """A minimiser ``point (d,)``, its value, and as certificates the Newton decrement and the gradient's norm."""

    point: np.ndarray
    value: float
    decrement: float
    gradient_norm: float = 0.0


class MeanTerms:
    """Contribution of the records to gradients and Hessians, kept for the last points: searches come back to them."""

    def __init__(self, problem: GeneralisedLinear, data: Data) -> None:
        self.problem, self.data = problem, data
        self.regularisation = problem.constants.regularisation
        self._kept: dict[tuple[str, bytes], np.ndarray] = {}
        self._product: tuple[np.ndarray, np.ndarray] | None = None

    def risk(self, x: np.ndarray) -> float:
        return float(self.problem.risk(x[None], self.data)[0])

    def margins(self, x: np.ndarray) -> np.ndarray:
        return self._once("margins", x, lambda: self.data.features @ x)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return self._once("gradient", x, lambda: self._slopes(x) @ self.data.features / self.data.n)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        return self._once("hessian", x, lambda: self._weighted(self._weights(x)))

    def _weighted(self, weights: np.ndarray) -> np.ndarray:
        """Multiply out the Hessian; of quadratic losses it is the same everywhere."""
        if self._product is None or not np.array_equal(self._product[0], weights):
            rows, square = self.data.features, bool((weights >= 0.0).all())  # which takes half of the other product
            part = rows * np.sqrt(weights)[:, None] if square else rows * weights[:, None]
            self._product = weights, part.T @ (part if square else rows)
        return self._product[1]

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        return self.problem.slope(self.margins(x), self.data.labels)

    def _weights(self, x: np.ndarray) -> np.ndarray:
        return self.problem.curvature(self.margins(x), self.data.labels) / self.data.n

    def _once(self, what: str, x: np.ndarray, make: Callable[[], np.ndarray]) -> np.ndarray:
        place = what, x.tobytes()
        if place not in self._kept:
            while len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[place] = make()
        return self._kept[place]


class _Local:
    """Value, gradient and Newton steps of ``F(x) + (weight/2) ||x||^2 + <linear, x>`` at points ``(d,)``."""

    def __init__(self, mean: MeanTerms, linear: np.ndarray | None, weight: float) -> None:
        self.mean, self.extra, self.ridge = mean, weight, mean.regularisation + weight
        self.linear = np.zeros(mean.data.features.shape[1]) if linear is None else linear
        self._basis: tuple[bytes, np.ndarray, np.ndarray] | None = None

    def value(self, x: np.ndarray) -> float:
        return self.mean.risk(x) + 0.5 * self.extra * float(x @ x) + float(self.linear @ x)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return self.mean.gradient(x) + self.ridge * x + self.linear

    def solve(self, x: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """Solve for ``vector`` with the Hessian at x, truncated to its numerical range, which contains the solution."""
        if self._basis is None or self._basis[0] != x.tobytes():
            values, basis = np.linalg.eigh(self.mean.hessian(x) + self.ridge * np.eye(len(x)))
            keep = values > 1e-12 * values[-1]
            self._basis = x.tobytes(), values[keep], basis[:, keep]
        _, values, basis = self._basis
        return basis @ ((basis.T @ vector) / values)


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
    return _newton(_Local(MeanTerms(problem, data), linear, weight), start, steps, tolerance)


def _newton(local: _Local, start: np.ndarray | None, steps: int = 200, tolerance: float = 1e-15) -> Minimum:
    """Minimise as `minimise_glm` does."""
    x = np.zeros(len(local.linear)) if start is None else start
    value, decrement = local.value(x), np.inf
    for _ in range(steps):
        gradient = local.gradient(x)
        direction = local.solve(x, gradient)
        decrement = 0.5 * float(gradient @ direction)
        if decrement <= tolerance * max(1.0, abs(value)):
            return Minimum(x, value, decrement, float(np.linalg.norm(gradient)))
        step, value = _line_search(local, x, direction, value, decrement)
        x = x - step * direction
        if step == 0.0:
            break
    if decrement <= 1e-10 * max(1.0, abs(value)):
        return Minimum(x, value, decrement, float(np.linalg.norm(local.gradient(x))))
    raise NumericalFailure(
        f"optimum of {local.mean.problem.name}: Newton decrement {decrement:.1e} after {steps} steps"
    )


def minimise_glm_in_ball(
    problem: GeneralisedLinear,
    data: Data,
    radius: float,
    *,
    linear: np.ndarray | None = None,
    weight: float = 0.0,
    start: np.ndarray | None = None,
    mean: MeanTerms | None = None,
) -> Minimum:
    """Minimise ``F + (weight/2) ||.||^2 + <linear, .>`` over ``||x||_2 <= radius``, an l2 ball; infinity for none.

    Outside the ball the multiplier of ``||x||^2/2`` is the root of a secular equation, found by Newton's method on
    ``1/||x||``; the gradient norm of the result is that of the Lagrangian. ``mean`` serves several solves on the same
    data. Raises NumericalFailure when the tolerance is not reached.
    """
    multiplier, point, mean = 0.0, start, mean or MeanTerms(problem, data)
    for _ in range(SECULAR_STEPS):
        local = _Local(mean, linear, weight + multiplier)
        best = _newton(local, point)
        point = _polished(local, best.point)
        length = float(np.linalg.norm(point))
        if abs(length - radius) <= RADIUS_TOLERANCE * radius or (multiplier == 0.0 and length <= radius):
            break
        slope = float(point @ local.solve(best.point, point))
        multiplier = max(0.0, multiplier + length**2 / slope * (length - radius) / radius)
    else:
        raise NumericalFailure(f"optimum of {problem.name} in a ball: norm {length:.6g}, radius {radius:g}")
    value = _Local(mean, linear, weight).value(point)
    return Minimum(point, value, best.decrement, float(np.linalg.norm(local.gradient(point))))


def _polished(local: _Local, x: np.ndarray) -> np.ndarray:
    """Make a few full steps by the Hessian at the first point, as long as they shorten the gradient."""
    first, gradient = x, local.gradient(x)
    for _ in range(POLISHING_STEPS):
        candidate = x - local.solve(first, gradient)
        other = local.gradient(candidate)
        if np.linalg.norm(other) >= np.linalg.norm(gradient):
            break
        x, gradient = candidate, other
    return x


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
