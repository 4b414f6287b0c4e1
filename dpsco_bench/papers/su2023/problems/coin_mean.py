"""The mean of fair coins on the unit l2 ball: the statistical term for strongly convex losses alone."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.problems.base import Constants, Data, Draws, Problem
from dpsco_bench.problems.quadratic import MEAN_TRAITS, mean_constants
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.slopes import CoinSample

Array = Any


@problem
class CoinMean(Problem):
    """``f(x, z) = ||x - z v||^2/2`` with fair ``z = +-1``, v the first axis; its excess is ``||x||^2/2``."""

    name = "coin_mean"
    summary = "mean estimation of fair coins on the unit l2 ball; population risk"
    source = "instance `coin_mean` for Su, Zhao, Wang 2023, Theorem 4"
    traits = MEAN_TRAITS
    draws_per_replicate: ClassVar[bool] = True
    population: ClassVar[bool] = True
    default_dimension: ClassVar[int] = 1

    @property
    def own_constants(self) -> Constants:
        return mean_constants(feasible_set("l2_ball", 1.0), self.dimension)

    @property
    def start(self) -> np.ndarray:
        """Point v: the origin is the population's optimum already."""
        return np.eye(1, self.dimension)[0]

    @property
    def isotropic_curvature(self) -> float:
        return 1.0

    def sample(self, n: int, draws: Draws) -> CoinSample:
        """Draw the number of heads of every replicate."""
        return CoinSample(n, draws, np.array([0.5]))

    def row_size(self, n: int) -> int:
        return self.dimension

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        """``x`` minus the mean coin times v."""
        return x - data.mean(x, first, count) * self._axis(x)

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        indices = np.broadcast_to(np.arange(first, first + count), (x.shape[0], count))
        coins = array_namespace(x).asarray(data.chosen(indices), dtype=x.dtype)
        return x[:, None, :] - coins[:, :, None] * self._axis(x)

    def gather(self, data: Any, indices: Array) -> Data:
        """Coins ``indices (R, W)`` of each replicate."""
        return Data(data.n, data.chosen(indices))

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        xp = array_namespace(x)
        total = xp.sum(xp.asarray(batch.features, dtype=x.dtype) * weights, axis=-1, keepdims=True)
        return xp.sum(weights, axis=-1, keepdims=True) * x - total * self._axis(x)

    def risk(self, x: Array, data: Any) -> Array:
        return self.excess_risk(x, data) + 0.5

    def optimal_risk(self, data: Any) -> float:
        return 0.5

    def excess_risk(self, x: Array, data: Any) -> Array:
        return 0.5 * array_namespace(x).sum(x * x, axis=-1)

    def _axis(self, x: Array) -> Array:
        return array_namespace(x).asarray(np.eye(1, self.dimension)[0], dtype=x.dtype)
