"""The minimiser of a perturbed objective as a function of its linear term; small problems for all terms at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.algorithms.info import Info
from dpsco_bench.backend.namespace import cast, to_numpy
from dpsco_bench.problems import minimisers
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.objective import Objective

Array = Any
NUMBERS = 1 << 16
"""Margins of rows that are worked on at once: they stay in the second-level cache."""
MOST_PRODUCTS = 1 << 18
"""Most products of two features of a record, of all records: they are kept for Hessians."""
STEPS, TOLERANCE, STALLED, LEAST_STEP = 50, 1e-15, 1e-10, 1e-8
"""As of one row: Newton steps, half the squared decrement at which they end, what rounding may leave, step sizes."""


class PerturbedMinimiser:
    """``argmin F(x) + (weight/2) ||x||^2 + <b, x>/n`` over the domain, for each replicate's own ``b``.

    Computed on the host in float64 by Newton's method; `Info.certify` keeps the certificate. Only the certificate's
    gradients count, n per replicate: the sources list no number for an exact minimiser. Hessians that are multiples of
    the identity have closed forms. Other objectives come from generalised linear problems on R^d or an l2 ball.
    """

    def __init__(self, objective: Objective, weight: float) -> None:
        self.objective, self.weight, self.info = objective, weight, Info()
        self._radius = objective.domain.radius if objective.domain else math.inf

    @property
    def shape(self) -> tuple[int, int]:
        return self.objective.replicates, self.objective.problem.dimension

    def data_part(self, x: Array) -> np.ndarray:
        """Sum of the records' loss gradients at ``x (R, d)``, in float64 on the host; not counted."""
        if self.objective.problem.isotropic_curvature is not None:
            return self.objective.n * to_numpy(self.objective.exact_gradient(x))
        data = self.objective.host_data
        return data.n * self.objective.problem.mean_gradient(to_numpy(x).astype(np.float64), data)

    def solve(self, linear: Array | None) -> Array:
        """Minimisers ``(R, d)`` for linear terms ``b (R, d)``; None stands for zeros."""
        objective, problem, xp = self.objective, self.objective.problem, self.objective.xp
        terms = xp.zeros(self.shape, dtype=xp.float64)
        if linear is not None:
            terms = cast(xp.asarray(linear), xp.float64) / objective.n
        if problem.isotropic_curvature is not None:
            found = minimisers.isotropic_minimiser(objective, problem.isotropic_curvature, terms, self.weight)
            return cast(found, objective.dtype)
        assert isinstance(problem, GeneralisedLinear)
        terms, mean = to_numpy(terms), minimisers.MeanTerms(problem, objective.host_data)
        minimise = partial(
            minimisers.minimise_glm_in_ball, problem, mean.data, self._radius, weight=self.weight, mean=mean
        )
        start = minimise(start=problem.start).point
        points, norms, settled = minimise_rows(mean, self._radius, terms, self.weight, start)
        for row in np.flatnonzero(~settled):
            best = minimise(linear=terms[row], start=start)
            points[row], norms[row] = best.point, best.gradient_norm
        sizes = np.linalg.norm(terms, axis=1) + objective.constants.lipschitz
        self.info.certify(float(np.max(norms / sizes)))
        objective.count(objective.n)
        return xp.asarray(points, dtype=objective.dtype)


def suits(mean: minimisers.MeanTerms, weight: float) -> bool:
    """Check that a problem is small, and that a ridge makes every Hessian regular."""
    n, d = mean.data.features.shape
    return mean.regularisation + weight > 0.0 and n * d * d <= MOST_PRODUCTS


def minimise_rows(
    mean: minimisers.MeanTerms, radius: float, linear: Array, weight: float, start: Array
) -> tuple[Array, Array, Array]:
    """Minimisers of ``F + (weight/2) ||.||^2 + <b, .>`` over ``||x||_2 <= radius`` for rows b of ``linear (R, d)``.

    As `minimisers.minimise_glm_in_ball` does for one term: each row has a multiplier and step sizes of its own, all
    begin at the same start ``(d,)``. Returns points ``(R, d)``, norms ``(R,)`` of the Lagrangian's gradient, and which
    rows have settled, ``(R,)``; other rows, all of a large problem, mean nothing.
    """
    points, norms, settled = np.empty_like(linear), np.empty(len(linear)), np.zeros(len(linear), dtype=bool)
    if not suits(mean, weight):
        return points, norms, settled
    features, n = mean.data.features, mean.data.n
    products = np.ascontiguousarray((features[:, :, None] * features[:, None, :]).reshape(n, -1)) / n
    size = max(1, NUMBERS // n)
    for first in range(0, len(linear), size):
        rows = slice(first, first + size)
        terms = linear[rows]
        part = _Rows(mean.problem, mean.data, products, terms, np.full(len(terms), mean.regularisation + weight))
        points[rows], norms[rows], settled[rows] = _in_ball(part, radius, np.tile(start, (len(terms), 1)))
    return points, norms, settled


@dataclass(frozen=True)
class _Rows:
    """``F(x) + <b, x>`` with a ridge for each row; ``products (n, d d)`` of features, over n."""

    problem: GeneralisedLinear
    data: Data
    products: Array
    linear: Array
    ridge: Array

    def of(self, rows: Array) -> _Rows:
        return replace(self, linear=self.linear[rows], ridge=self.ridge[rows])

    def value(self, x: Array) -> Array:
        losses = self.problem.loss(x @ self.data.features.T, self.data.labels)
        return losses.mean(axis=1) + 0.5 * self.ridge * np.sum(x * x, axis=1) + np.sum(self.linear * x, axis=1)

    def gradient(self, x: Array, margins: Array) -> Array:
        mean = self.problem.slope(margins, self.data.labels) @ self.data.features / self.data.n
        return mean + self.ridge[:, None] * x + self.linear

    def slopes(self, x: Array) -> tuple[Array, Array]:
        """Gradients ``(m, d)`` and Hessians ``(m, d, d)``."""
        margins, d = x @ self.data.features.T, x.shape[1]
        hessian = (self.problem.curvature(margins, self.data.labels) @ self.products).reshape(-1, d, d)
        return self.gradient(x, margins), hessian + self.ridge[:, None, None] * np.eye(d)


def _solved(hessian: Array, vector: Array) -> Array:
    return np.linalg.solve(hessian, vector[:, :, None])[:, :, 0]


def _in_ball(rows: _Rows, radius: float, x: Array) -> tuple[Array, Array, Array]:
    """Points, norms of gradients, and which rows have settled."""
    multiplier, norms = np.zeros(len(x)), np.full(len(x), np.inf)
    settled, todo = np.zeros(len(x), dtype=bool), np.arange(len(x))
    for _ in range(minimisers.SECULAR_STEPS):
        part = replace(rows.of(todo), ridge=rows.ridge[todo] + multiplier[todo])
        found, norm, good = _newton(part, x[todo])
        x[todo], norms[todo] = found, norm
        length = np.linalg.norm(found, axis=1)
        there = np.abs(length - radius) <= minimisers.RADIUS_TOLERANCE * radius
        there = there | ((multiplier[todo] == 0.0) & (length <= radius))
        settled[todo] = there & good
        again = good & ~there
        todo, found, length = todo[again], found[again], length[again]
        if not todo.size:
            break
        part = part.of(again)
        slope = np.sum(found * _solved(part.slopes(found)[1], found), axis=1)
        multiplier[todo] = np.maximum(0.0, multiplier[todo] + length**2 / slope * (length - radius) / radius)
    return x, norms, settled


def _newton(rows: _Rows, x: Array) -> tuple[Array, Array, Array]:
    """Damped Newton steps, then full ones as long as they shorten gradients: as `_in_ball` returns them."""
    x, value = np.array(x), rows.value(x)
    good, todo = np.zeros(len(x), dtype=bool), np.arange(len(x))
    for _ in range(STEPS):
        part = rows.of(todo)
        gradient, hessian = part.slopes(x[todo])
        direction = _solved(hessian, gradient)
        decrement = 0.5 * np.sum(gradient * direction, axis=1)
        unit = np.maximum(1.0, np.abs(value[todo]))
        small = decrement <= TOLERANCE * unit
        moved, values, stuck = _line_search(part, x[todo], direction, value[todo], np.where(small, -1.0, decrement))
        good[todo] = small | (stuck & (decrement <= STALLED * unit))
        x[todo], value[todo] = np.where(small[:, None], x[todo], moved), np.where(small, value[todo], values)
        todo = todo[~small & ~stuck]
        if not todo.size:
            break
    return _polished(rows, x, good)


def _line_search(rows: _Rows, x: Array, direction: Array, value: Array, decrement: Array) -> tuple[Array, Array, Array]:
    """Backtrack to Armijo steps: points, values, and rows in which rounding hides any decrease; none if < 0."""
    step, todo = np.ones(len(x)), np.flatnonzero(decrement >= 0.0)
    moved, values, stuck = np.array(x), np.array(value), np.zeros(len(x), dtype=bool)
    while todo.size:
        candidates = x[todo] - step[todo, None] * direction[todo]
        found = rows.of(todo).value(candidates)
        low = found <= value[todo] - 0.2 * step[todo] * decrement[todo]
        moved[todo[low]], values[todo[low]] = candidates[low], found[low]
        todo = todo[~low]
        step[todo] *= 0.5
        ended = step[todo] <= LEAST_STEP
        stuck[todo[ended]] = True
        todo = todo[~ended]
    return moved, values, stuck


def _polished(rows: _Rows, x: Array, good: Array) -> tuple[Array, Array, Array]:
    """Make a few full Newton steps of each row, as long as they shorten its gradient."""
    gradient, hessian = rows.slopes(x)
    norms, todo = np.linalg.norm(gradient, axis=1), np.arange(len(x))
    for _ in range(minimisers.POLISHING_STEPS):
        part = rows.of(todo)
        candidates = x[todo] - _solved(hessian[todo], gradient[todo])
        others, hessians = part.slopes(candidates)
        lengths = np.linalg.norm(others, axis=1)
        shorter = lengths < norms[todo]
        todo = todo[shorter]
        x[todo], gradient[todo], hessian[todo] = candidates[shorter], others[shorter], hessians[shorter]
        norms[todo] = lengths[shorter]
        if not todo.size:
            break
    return x, norms, good
