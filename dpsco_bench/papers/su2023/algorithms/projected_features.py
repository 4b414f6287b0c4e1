"""A random projection of generalised linear problems, and the set it leaves: for the method of Kasiviswanathan, Jin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, row_norm, to_numpy
from dpsco_bench.errors import NumericalFailure, Refusal
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.glm import GeneralisedLinear, record_blocks
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.streams import Stream, stream_key

Array = Any
INNER_STEPS = 50
LONGEST = 1.1
"""Features of the projected problem are clipped to this norm."""


def random_projection(m: int, d: int) -> np.ndarray:
    """``Phi (m, d)`` with entries N(0, 1/m): public, the same in every run."""
    stream = Stream(stream_key(0, "random projection", f"{m} x {d}"), np)
    return stream.normal(0, 1, 0, m, d)[0].astype(np.float64) / np.sqrt(m)


class Projected:
    """The losses ``f(<v, Phi a>, y)`` of ``v in Phi C``, C the objective's domain, with slopes clipped.

    Points of Phi C are up to ``||Phi||`` times as long as those of C, so that a loss which is Lipschitz on C only, such
    as the squared one, is steeper there.

    Raises Refusal for a problem that does not say its loss as a function of the margin.

    Parameters
    ----------
    m : int, dimension of the projection
    steepest : float, L: slopes are clipped to [-L, L]
    """

    def __init__(self, objective: Objective, m: int, steepest: float) -> None:
        problem = objective.problem
        if not isinstance(problem, GeneralisedLinear):
            raise Refusal(f"random projection of {problem.name}", "its class is no GeneralisedLinear, with a slope")
        xp, d = objective.xp, problem.dimension
        self.objective, self.matrix = objective, random_projection(m, d)
        self._slope: Callable[[Array, Array], Array] = problem.slope
        self._steepest = steepest
        self.phi = xp.asarray(self.matrix, dtype=objective.dtype)
        self.curvature = float(np.linalg.norm(self.matrix, 2)) ** 2
        rows = objective.data.features @ self.phi.T
        length = row_norm(rows)
        rows = rows * (LONGEST / xp.maximum(length, xp.full_like(length, LONGEST)))
        self.data = Data(objective.n, rows, objective.data.labels)
        self._point = xp.zeros((objective.replicates, d), dtype=objective.dtype)

    def mean_gradient(self, v: Array) -> Array:
        """Mean of the records' gradients at ``v (R, m)``, slopes clipped; costs n evaluations."""
        xp, total = self.objective.xp, 0.0
        self.objective.count(self.objective.n)
        for block in record_blocks(self.data, v.shape[0]):
            slopes = self._slope(v @ block.features.T, block.labels)
            total = total + xp.clip(slopes, -self._steepest, self._steepest) @ block.features
        return total / self.data.n

    def project(self, u: Array) -> Array:
        """Nearest point of ``Phi C`` to ``u (R, m)``: accelerated steps on ``||Phi x - u||^2``, from the last point."""
        x = y = self._point
        t = 1.0
        for _ in range(INNER_STEPS):
            moved = self.objective.domain.project(y - ((y @ self.phi.T - u) @ self.phi) / self.curvature)
            t_next = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5)
            x, y, t = moved, moved + (t - 1.0) / t_next * (moved - x), t_next
        self._point = x
        return x @ self.phi.T

    def lift(self, v: Array) -> Array:
        """``argmin ||x||_C`` with ``Phi x = v``: the pseudo-inverse on an l2 ball, a linear programme on an l1 ball."""
        xp = array_namespace(v)
        if self.objective.domain.name == "l2_ball":
            return v @ xp.asarray(np.linalg.pinv(self.matrix), dtype=v.dtype).T
        rows = [shortest_in_l1(self.matrix, row) for row in to_numpy(v).astype(np.float64)]
        return xp.asarray(np.stack(rows), dtype=v.dtype)


def shortest_in_l1(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """``argmin ||x||_1`` with ``matrix x = target``, shape ``(d,)``, by linear programming.

    Raises NumericalFailure if the programme is not solved.
    """
    from scipy.optimize import linprog

    d = matrix.shape[1]
    size = float(np.abs(target).max())
    if size == 0.0:
        return np.zeros(d)
    found = linprog(np.ones(2 * d), A_eq=np.concatenate([matrix, -matrix], axis=1), b_eq=target / size)
    if found.status != 0:
        raise NumericalFailure(f"lift of a projected point: {found.message}")
    return size * (found.x[:d] - found.x[d:])
