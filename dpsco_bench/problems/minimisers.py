"""Minimisers, the reference for every excess risk: Newton steps, and accelerated steps to a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, row_norm
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective

if TYPE_CHECKING:
    from dpsco_bench.problems.glm import GeneralisedLinear

Array = Any

NEWTON_STEPS, DECREMENT = 200, 1e-15
POLISHING_STEPS = 3
SECULAR_STEPS = 100
RADIUS_TOLERANCE = 1e-12
MOST_KEPT = 12
"""Arrays of the last points that are kept."""
TOLERANCE = 1e-10
"""Certified gap, relative to the risk at the origin (1 at least)."""
MOST_STEPS = 50_000
SET_TOLERANCE, SET_STEPS = 1e-13, 20_000
"""The same without strong convexity, not relative."""
INSIDE, WIDER, WIDEST = 0.9, 4.0, 1e9
"""A point this deep in a ball is free of it; else the ball grows, up to the widest."""
Map = Callable[[Array], Array]
MOST_EXTENSIONS = 20
"""A solver gives up after so many times the planned number of steps."""
ROUNDING = 64.0 * 2.0**-52
"""A gradient mapping below this share of the terms that balance in it is rounding."""


@dataclass(frozen=True)
class Minimum:
    """A minimiser ``point (d,)``, its value, and as certificate the gradient's norm."""

    point: np.ndarray
    value: float
    gradient_norm: float


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
        slope, data = self.problem.slope, self.data
        return self._once("gradient", x, lambda: slope(self.margins(x), data.labels) @ data.features / data.n)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        curvature, data = self.problem.curvature, self.data
        return self._once("hessian", x, lambda: self._weighted(curvature(self.margins(x), data.labels) / data.n))

    def _weighted(self, weights: np.ndarray) -> np.ndarray:
        """Multiply out the Hessian; of quadratic losses it is the same everywhere."""
        if self._product is None or not np.array_equal(self._product[0], weights):
            rows, square = self.data.features, bool((weights >= 0.0).all())  # which takes half of the other product
            part = rows * np.sqrt(weights)[:, None] if square else rows * weights[:, None]
            self._product = weights, part.T @ (part if square else rows)
        return self._product[1]

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


def minimise_glm(problem: GeneralisedLinear, data: Data) -> Minimum:
    """Minimise F by damped Newton, solves truncated to the numerical range.

    The truncation (relative eigenvalue 1e-12) handles rank-deficient data without a ridge, where the minimiser is a
    subspace and only its risk matters. It stops when half the squared Newton decrement is at most `DECREMENT` times
    ``max(1, |value|)``; raises NumericalFailure when `NEWTON_STEPS` do not get there.
    """
    return _newton(_Local(MeanTerms(problem, data), None, 0.0), None)


def _newton(local: _Local, start: np.ndarray | None) -> Minimum:
    """Minimise as `minimise_glm` does."""
    x = np.zeros(len(local.linear)) if start is None else start
    value, decrement = local.value(x), np.inf
    for _ in range(NEWTON_STEPS):
        gradient = local.gradient(x)
        direction = local.solve(x, gradient)
        decrement = 0.5 * float(gradient @ direction)
        if decrement <= DECREMENT * max(1.0, abs(value)):
            return Minimum(x, value, float(np.linalg.norm(gradient)))
        step, value = _line_search(local, x, direction, value, decrement)
        x = x - step * direction
        if step == 0.0:
            break
    if decrement <= 1e-10 * max(1.0, abs(value)):
        return Minimum(x, value, float(np.linalg.norm(local.gradient(x))))
    name = local.mean.problem.name
    raise NumericalFailure(f"optimum of {name}: Newton decrement {decrement:.1e} after {NEWTON_STEPS} steps")


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
    return Minimum(point, value, float(np.linalg.norm(local.gradient(point))))


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


def minimise_composite(problem: Any, data: Data) -> np.ndarray:
    """Find a minimiser ``(d,)`` of the mean loss plus its ridge term over the problem's set, if it has one.

    A linear loss has a closed form. The Frank-Wolfe gap certifies the others; the whole space is a ball that grows
    until the minimiser lies well inside it. Raises NumericalFailure if the certificate is not reached.
    """
    domain, ridge = problem.feasible_set, problem.constants.regularisation
    if problem.margin.curvature_bound == 0.0:
        slope = problem.mean_gradient(np.zeros((1, problem.dimension)), data)
        if ridge == 0.0:
            return np.asarray(domain.minimise_linear(slope))[0]
        free = -slope / ridge
        return (free if domain is None else np.asarray(domain.project(free)))[0]
    if domain is not None:
        return _certified(problem, data, domain, problem.start[None])
    radius, x = 1.0, np.zeros((1, problem.dimension))
    while radius < WIDEST:
        x = _certified(problem, data, Ball(2.0, radius), x)[None]
        if np.linalg.norm(x) <= INSIDE * radius:
            return x[0]
        radius *= WIDER
    raise NumericalFailure(f"optimum of {problem.name}: no minimiser within {WIDEST:.0e} of the origin")


def _certified(problem: Any, data: Data, domain: Any, start: np.ndarray) -> np.ndarray:
    """Find a minimiser by accelerated steps; the gap is looked at in some of them."""
    ridge, largest = problem.constants.regularisation, np.linalg.eigvalsh(data.features.T @ data.features / data.n)[-1]
    step = 1.0 / (problem.margin.curvature_bound * float(largest) + ridge or 1.0)

    def gradient(x: np.ndarray) -> np.ndarray:
        return np.asarray(problem.mean_gradient(x, data) + ridge * x)

    wanted = TOLERANCE * max(1.0, float(problem.risk(np.zeros((1, problem.dimension)), data)[0]))
    points = _accelerated(lambda y: domain.project(y - step * gradient(y)), domain.project(start))
    gap = math.inf
    for number, x in enumerate(islice(points, MOST_STEPS)):
        if number % 10 == 0 or gap <= 10 * wanted:
            gap = _gap(domain, x, gradient(x))
            if gap <= wanted:
                return x[0]
    raise NumericalFailure(f"optimum of {problem.name}: gap {gap:.1e} after {MOST_STEPS} steps")


def _gap(domain: Any, x: np.ndarray, slope: np.ndarray) -> float:
    """Frank-Wolfe gap ``<grad F(x), x> + h(-grad F(x)) >= F(x) - min F``, h the support function."""
    return float(np.sum(slope * x) + domain.support(-slope)[0, 0])


def _accelerated(advance: Map, start: np.ndarray) -> Iterator[np.ndarray]:
    """Yield points ``(1, d)`` of accelerated projected gradient steps, restarted where the momentum points uphill."""
    x, y, t = start, start, 1.0
    while True:
        yield x
        moved = advance(y)
        if float(np.sum((y - moved) * (moved - x))) > 0.0:
            t, y = 1.0, x
            continue
        t_next = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
        y, x, t = moved + (t - 1.0) / t_next * (moved - x), moved, t_next


@dataclass(frozen=True)
class Certified:
    """Points ``(R, d)``, upper bounds ``gap (R,)`` on how far above the minimum they are, and what that took.

    `mapping (R,)` has the norms of the gradient mapping that the bounds are computed from. `rounded (R,)` is true where
    rounding ends above the accuracy that was asked for, so that the certificate is not to be trusted so far.
    """

    points: Array
    gap: Array
    mapping: Array
    steps: int
    rounded: Array


def planned_steps(smoothness: float, convexity: float, headroom: float) -> int:
    """Count the steps of `minimise` after which the certificate has shrunk by a factor ``headroom``.

    The gap contracts by ``1 - sqrt(m/S)`` a step, and the certificate of a point is at most ``S/m`` times its gap.
    """
    rate = math.sqrt(smoothness / convexity)
    return max(1, math.ceil(rate * math.log(max(math.e, headroom * smoothness / convexity))))


def minimise(
    gradient: Map,
    project: Map,
    start: Array,
    *,
    smoothness: float,
    convexity: float,
    accuracy: float,
    steps: int,
    size: Array | float = 1.0,
) -> Certified:
    """Accelerated projected gradient (Nesterov, constant momentum), the best point of every row, with a certificate.

    A step ``w+ = P(y - grad J(y)/S)`` with ``g = S (y - w+)`` proves
    ``J(w+) - min J <= ||g||^2 (1/(2m) - 1/(2S))``. Differences of J, which rounding drowns, are not looked at. Raises
    NumericalFailure when the certificate is not reached in `MOST_EXTENSIONS` times as many steps.

    Parameters
    ----------
    gradient, project, start
        ``grad J``, the Euclidean projection on the set, and the first points ``(R, d)``, all in float64.
    accuracy : float, alpha: what the certificate must reach, unless rounding stops it before (see `Certified.rounded`)
    size : array (R,) or float, norm of the terms that balance in grad J, for what counts as rounding
    """
    xp, ratio = array_namespace(start), math.sqrt(convexity / smoothness)
    momentum, factor = (1.0 - ratio) / (1.0 + ratio), max(0.0, 0.5 / convexity - 0.5 / smoothness)
    floor, wanted = ROUNDING * (size + 0.0 * start[:, 0]), xp.full_like(start[:, 0], math.inf)
    if factor > 0.0:  # the norm of the mapping at which the certificate is the accuracy
        wanted = xp.full_like(wanted, math.sqrt(accuracy / factor))
    enough = xp.maximum(floor, wanted)
    w = y = best = start
    least, done = xp.full_like(start[:, 0], math.inf), 0
    while done < steps or bool(xp.any(least > enough)):
        if done >= MOST_EXTENSIONS * steps:
            worst = float(xp.max(factor * least * least))
            raise NumericalFailure(f"certificate {worst:.1e} after {done} steps, wanted {accuracy:.1e}")
        moved = project(y - gradient(y) / smoothness)
        mapping = smoothness * row_norm(y - moved)[:, 0]
        better = (mapping < least) & (least > enough) if done >= steps else mapping < least  # the others stay
        best, least = xp.where(better[:, None], moved, best), xp.where(better, mapping, least)
        y, w, done = moved + momentum * (moved - w), moved, done + 1
    return Certified(best, factor * least * least, least, done, floor > wanted)


def isotropic_minimiser(objective: Objective, curvature: float, terms: Array, weight: float) -> Array:
    """Exact minimisers of ``F(x) + (weight/2) ||x||^2 + <terms, x>`` over the domain, where F has Hessian ``a I``.

    Costs n evaluations: the gradient at the origin says all. ``terms (R, d)`` are of float64.
    """
    objective.count(objective.n)
    at_origin = objective.exact_gradient(objective.xp.zeros_like(terms))
    whole = curvature + objective.problem.constants.regularisation + weight
    return objective.project(-(at_origin + terms) / whole)


def minimise_over_set(problem: Any, data: Any, domain: Any) -> np.ndarray:
    """Minimiser ``(d,)`` of the problem's risk over a set, without strong convexity: accelerated steps with restarts.

    Stopped by the Frank-Wolfe gap. Raises NumericalFailure when that does not reach the tolerance.
    """
    c, gap = problem.constants, math.inf

    def gradient(x: np.ndarray) -> np.ndarray:
        return np.asarray(problem.mean_gradient(x, data) + c.regularisation * x)

    start = domain.project(np.zeros((1, problem.dimension)))
    points = _accelerated(lambda y: domain.project(y - gradient(y) / c.total_smoothness), start)
    for x in islice(points, 1, SET_STEPS):
        gap = _gap(domain, x, gradient(x))
        if gap <= SET_TOLERANCE:
            return x[0]
    raise NumericalFailure(f"optimum of {problem.name}: gap {gap:.1e} after {SET_STEPS} steps")
