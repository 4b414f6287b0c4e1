"""Losses ``<z, x> + (h/2) ||x||^2`` on a unit ball, whose mean slope points in a direction of each replicate."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.problems.base import Data, Draws, Trait, option
from dpsco_bench.problems.direction_samples import DirectionSample
from dpsco_bench.problems.families import Signalled
from dpsco_bench.problems.forms import CONSTANT, Listed, RecordForm

Array = Any
_ALL = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.TWICE_DIFFERENTIABLE, Trait.PLANE_GRADIENTS})


class DirectionLosses(Signalled):
    """``f(x, z) = <z, x> + (h/2) ||x||_2^2`` with ``z = m + a Rad/sqrt(d)``, ``m = s u``, over a unit ball.

    u is a uniform direction of each replicate, shared by all strengths s. Constants are those of the class, the same
    for all strengths. The population's optimum lies in the direction -u.
    """

    draws_per_replicate: ClassVar[bool] = True
    population: ClassVar[bool] = True
    unkeyed_options: ClassVar[tuple[str, ...]] = ("spread",)
    curvature: float = 0.0
    exponent: float = 2.0
    spread: float = option(0.0, "a: root mean square of the slopes about their mean", within="[0, 1)")
    signal = option(0.5, "s: strength of the free signal")

    @property
    def traits(self) -> frozenset[Trait]:  # type: ignore[override]
        """Quadratic with a common Hessian, or linear."""
        return _ALL | {Trait.COMMON_HESSIAN} if self.curvature > 0 else _ALL - {Trait.SMOOTH} | {Trait.LINEAR_LOSS}

    @property
    def isotropic_curvature(self) -> float:
        return self.curvature

    @property
    def strengths(self) -> np.ndarray:
        """S at each signal, shape ``(S,)``, at most `cap`."""
        return np.minimum(self.cap, self.signals)

    @property
    def cap(self) -> float:
        """Largest s for which the declared Lipschitz constant of 1 holds."""
        return 1.0 - self.spread - self.curvature

    @property
    def signal_capped(self) -> bool:
        return bool((self.signals >= self.cap).all())

    def sample(self, n: int, draws: Draws) -> DirectionSample:
        """Directions; records are drawn when they are looked at."""
        return DirectionSample(n, self.dimension, draws, self.strengths, self.spread, self.exponent)

    def row_size(self, n: int) -> int:
        return 16 * self.dimension

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        """Mean slope of the records, plus ``h x``."""
        return self._with_curvature(self._slope(x, data, first, count), x)

    def range_gradient_pair(self, x: Array, other: Array, data: Any, first: int, count: int) -> tuple[Array, Array]:
        slope = self._slope(x, data, first, count)
        return self._with_curvature(slope, x), self._with_curvature(slope, other)

    def range_gradient_difference(self, x: Array, other: Array, data: Any, first: int, count: int) -> Array:
        """``h (x - other)``."""
        return self.curvature * (x - other)

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        return self._with_curvature(_like(data.records(first, count), x), x[:, None, :])

    @property
    def record_form(self) -> RecordForm:
        if not self.curvature:
            return RecordForm(CONSTANT)
        return RecordForm(CONSTANT, hessian=np.full(self.dimension, self.curvature), centre=np.zeros(self.dimension))

    def form_range(self, data: Any, first: int, count: int) -> Data:
        if data.spread == 0.0:
            return Data(count, data.means[:, None, :])
        return Data(count, data.records(first, count))

    def form_kinds(self, data: Any, drawn: bool) -> Listed | None:
        return data.kinds() if drawn else None

    def gather(self, data: Any, indices: Array) -> Data:
        """Slopes of records ``indices (S R, W)``."""
        return Data(data.n, data.chosen(indices))

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Weighted sum of slopes, plus ``h x`` times the sum of the weights."""
        xp = array_namespace(x)
        slopes = xp.matmul(weights[:, None, :], _like(batch.features, x))[:, 0, :]
        return slopes + self.curvature * xp.sum(weights, axis=-1, keepdims=True) * x

    def population_gradient(self, x: Array, data: Any) -> Array:
        """``m + h x`` of points ``x (..., S R, d)``."""
        return _like(data.means, x) + self.curvature * x

    def optimum(self, data: Any) -> np.ndarray:
        """Compute the population's optimum in every row, ``-min(1, s/h) u``, shape ``(S R, d)``."""
        s = np.repeat(self.strengths, len(data.directions))[:, None]
        reach = np.minimum(1.0, s / self.curvature) if self.curvature > 0 else np.ones_like(s)
        return -reach * np.tile(data.directions, (len(self.strengths), 1))

    def risk(self, x: Array, data: Any) -> Array:
        xp = array_namespace(x)
        return xp.sum((_like(data.means, x) + 0.5 * self.curvature * x) * x, axis=-1)

    def optimal_risk(self, data: Any) -> np.ndarray:
        return to_numpy(self.risk(self.optimum(data), data))

    def excess_risk(self, x: Array, data: Any) -> Array:
        """``<m + h x*, x - x*> + (h/2) ||x - x*||^2``, from the differences."""
        xp, best = array_namespace(x), self.optimum(data)
        off = x - _like(best, x)
        return xp.sum((_like(data.means + self.curvature * best, x) + 0.5 * self.curvature * off) * off, axis=-1)

    def _slope(self, x: Array, data: Any, first: int, count: int) -> Array:
        slope = data.record(first) if count == 1 else data.records(first, count).mean(axis=1)
        return _like(slope, x)

    def _with_curvature(self, slope: Array, x: Array) -> Array:
        return slope + self.curvature * x if self.curvature else slope


def _like(values: Any, x: Array) -> Array:
    return array_namespace(x).asarray(values, dtype=x.dtype)
