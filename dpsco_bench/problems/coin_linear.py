"""A linear loss of biased coins on the unit l2 ball: the statistical term of objective perturbation alone."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.problems.base import Constants, Data, Draws, Trait, option
from dpsco_bench.problems.coin import CoinSample
from dpsco_bench.problems.families import SignalFamily
from dpsco_bench.problems.forms import CONSTANT, RecordForm
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import on_unit_set

Array = Any


@problem
class CoinLinear(SignalFamily):
    """``f(x, z) = -z <x, v>``, ``z = +-1``, ``P(+) = (1 + rho)/2``, v = e_1; ``rho = min(1, signal/sqrt n)``."""

    name = "coin_linear"
    summary = "linear losses of biased coins on the unit l2 ball; population risk"
    source = "instance `coin_linear` for Su, Zhao, Wang 2023, Theorem 2"
    traits = frozenset(
        {
            Trait.CONVEX,
            Trait.SMOOTH,
            Trait.LIPSCHITZ,
            Trait.TWICE_DIFFERENTIABLE,
            Trait.LINEAR_LOSS,
            Trait.PLANE_GRADIENTS,
        }
    )
    draws_per_replicate: ClassVar[bool] = True
    population: ClassVar[bool] = True
    default_dimension: ClassVar[int] = 1
    reference: ClassVar[tuple[int, float, float]] = (4096, 1.0, 1e-6)
    signal = option(1.0, "in units of 1/sqrt n")

    @property
    def own_constants(self) -> Constants:
        """L = 1; beta = 1 is declared as for `pointmass_linear`, the Hessian is zero."""
        return on_unit_set(feasible_set("l2_ball", 1.0), 1.0, 1.0, hessian_rank=0.0, initial_distance=1.0)

    @property
    def unit(self) -> float:
        return 1.0 / math.sqrt(self.count)

    def sample(self, n: int, draws: Draws) -> CoinSample:
        """Draw the number of heads of every row."""
        return CoinSample(n, draws, 0.5 + 0.5 * self.strengths)

    def row_size(self, n: int) -> int:
        return self.dimension

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        return 0.0 * x - data.mean(x, first, count) * self._axis(x)

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        indices = np.broadcast_to(np.arange(first, first + count), (x.shape[0], count))
        coins = array_namespace(x).asarray(data.chosen(indices), dtype=x.dtype)
        return -coins[:, :, None] * self._axis(x)

    @property
    def record_form(self) -> RecordForm:
        return RecordForm(CONSTANT, (-1.0, 0.0))

    def form_records(self, data: Any, indices: Array) -> Data:
        """Coins times the axis."""
        return Data(data.n, data.chosen(indices)[:, :, None] * np.eye(1, self.dimension))

    def form_range(self, data: Any, first: int, count: int) -> Data:
        indices = np.broadcast_to(np.arange(first, first + count), (len(data.heads), count))
        return self.form_records(data, indices)

    def gather(self, data: Any, indices: Array) -> Data:
        """Coins ``indices (R, W)`` of each row."""
        return Data(data.n, data.chosen(indices))

    def opposed_records(self, distance: float, order: float) -> Data | None:
        """Heads and tails."""
        return Data(2, np.array([1.0, -1.0])) if abs(distance - 2.0) <= 1e-9 else None

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Minus the weighted sum of coins times v."""
        xp = array_namespace(x)
        total = xp.sum(xp.asarray(batch.features, dtype=x.dtype) * weights, axis=-1, keepdims=True)
        return 0.0 * x - total * self._axis(x)

    def risk(self, x: Array, data: Any) -> Array:
        return -self.by_row(self.strengths, x)[:, 0] * x[:, 0]

    def optimal_risk(self, data: Any) -> np.ndarray:
        return -np.repeat(self.strengths, len(data.heads) // len(self.strengths))

    def excess_risk(self, x: Array, data: Any) -> Array:
        return self.by_row(self.strengths, x)[:, 0] * (1.0 - x[:, 0])

    def _axis(self, x: Array) -> Array:
        xp = array_namespace(x)
        return xp.asarray(np.eye(1, self.dimension)[0], dtype=x.dtype)
