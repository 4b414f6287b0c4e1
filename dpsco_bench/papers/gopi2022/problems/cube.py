"""Linear losses on the cube, of Gopi, Lee, Liu, Shen, Tian 2022."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.gopi2022.laws.counts import signed_count_law
from dpsco_bench.papers.gopi2022.laws.truncated import tilted_gap
from dpsco_bench.papers.gopi2022.problems.regularised_law import RegularisedLaw, SharedLinear
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.base import Constants, Data, option
from dpsco_bench.problems.data import gathered
from dpsco_bench.problems.families import CellFamily
from dpsco_bench.problems.linear import Onehot
from dpsco_bench.problems.registry import problem

Array = Any
WRITTEN_OUT = 1 << 20
"""Most entries of records that are written out; a longer rotation is known by its length."""


@problem
class CubeOnehot(SharedLinear, CellFamily):
    """``f(x, s) = -<x, s>`` on [-1, 1]^d with record i equal to ``e_(i mod d)``; empirical risk."""

    name = "cube_onehot"
    summary = "linear losses with the unit vectors in rotation on the cube; empirical risk"
    source = "instance `cube_onehot` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 4 and Proposition 9"
    shares_records: ClassVar[bool] = False
    default_dimension = 4
    has_loss_values: ClassVar[bool] = True
    p = math.inf

    @property
    def slope(self) -> np.ndarray:
        """Mean record of a data set of whole rotations, shape ``(d,)``."""
        return np.full(self.dimension, 1.0 / self.dimension)

    def draw(self, n: int, streams: Any) -> Data:
        """Draw the rotation, written out where it is small enough for others to look at."""
        if n * self.dimension > WRITTEN_OUT:
            return Data(n)
        return Data(n, np.eye(self.dimension)[np.arange(n) % self.dimension], np.zeros(n))

    def shares(self, n: int) -> np.ndarray:
        """Mean record of n in rotation, shape ``(d,)``."""
        return ((n - 1 - np.arange(self.dimension)) // self.dimension + 1) / n

    def mean_gradient(self, x: Array, data: Any) -> Array:
        return 0.0 * x - array_namespace(x).asarray(self._mean(data), dtype=x.dtype)

    def gather(self, data: Any, indices: Array) -> Data:
        if data.features is not None:
            return gathered(data, indices)
        rows = np.eye(self.dimension)[to_numpy(indices) % self.dimension]
        return Data(data.n, rows, np.zeros(rows.shape[:-1]))

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Minus the weighted sum of the records."""
        xp = array_namespace(x)
        return -xp.matmul(weights[:, None, :], xp.asarray(batch.features, dtype=x.dtype))[:, 0, :]

    def batch_losses(self, x: Array, data: Any, indices: Array) -> Array:
        """``-<x, s>`` of records ``indices (R, W)``, shape ``(R, W)``."""
        rows = array_namespace(x).asarray(self.gather(data, indices).features, dtype=x.dtype)
        return -array_namespace(x).matmul(rows, x[:, :, None])[:, :, 0]

    def risk(self, x: Array, data: Any) -> Array:
        xp = array_namespace(x)
        return -xp.sum(xp.asarray(self._mean(data), dtype=x.dtype) * x, axis=-1)

    def optimal_risk(self, data: Any) -> float:
        """Minus the l1 norm of the mean record."""
        return -float(np.abs(self._mean(data)).sum())

    def domain_records(self, count: int, seed: int) -> Data:
        """Return unit vectors of both signs, then random points of the l1 ball's boundary."""
        rng = np.random.default_rng(seed)
        rows = rng.laplace(size=(count, self.dimension))
        rows /= np.abs(rows).sum(axis=1, keepdims=True)
        corners = np.concatenate([np.eye(self.dimension), -np.eye(self.dimension)])[[0, self.dimension, 1]]
        rows[: len(corners)] = corners[:count]
        return Data(count, rows, np.zeros(count))

    def mean_excess(self, k: float, mu: float) -> float:
        """Mean over the unit vectors of ``E[1 - x_j]``, in a data set of `count` records in rotation."""
        shares = self.shares(self.count)
        if math.isinf(k):
            gaps = np.maximum(0.0, 1.0 - shares / mu) if mu > 0 else np.zeros(self.dimension)
        else:
            gaps = tilted_gap(k * shares, 0.5 * k * mu)
        return float(np.sum(shares * gaps))

    def _mean(self, data: Any) -> np.ndarray:
        return self.shares(data.n) if data.features is None else to_numpy(data.features).mean(axis=-2)


@problem
class LpOnehot(CubeOnehot):
    """`CubeOnehot` on the unit l_p ball, p < 2. No quadrature of its law is known."""

    name = "lp_onehot"
    summary = "linear losses with the unit vectors in rotation on the unit l_p ball, 1 <= p < 2; empirical risk"
    source = "the records of `cube_onehot` for Gopi, Lee, Liu, Shen, Tian 2022, Proposition 9"
    algorithms: ClassVar[tuple[str, ...]] = ()
    p: float = option(1.5, "norm of the ball", within="[1, 2)")

    def optimal_risk(self, data: Any) -> float:
        """Minus the dual norm of the mean record."""
        return -float(np.linalg.norm(self._mean(data), ord=dual_exponent(self.p)))

    def domain_records(self, count: int, seed: int) -> Data:
        """Return unit vectors of both signs, then random corners of a cube, all of dual norm 1."""
        signs = np.sign(np.random.default_rng(seed).standard_normal((count, self.dimension)))
        rows = signs * self.dimension ** (1.0 / self.p - 1.0)
        corners = np.concatenate([np.eye(self.dimension), -np.eye(self.dimension)])[[0, self.dimension, 1]]
        rows[: len(corners)] = corners[:count]
        return Data(count, rows, np.zeros(count))


@problem
class BiasCube(RegularisedLaw, Onehot):
    """`Onehot` on the cube with ``b = min(1, signal sqrt(d/n))``, as a problem of the exponential mechanism."""

    name = "bias_cube"
    summary = "linear losses with biased unit vectors on the cube; population risk"
    source = "instance `bias_cube` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 4"
    has_loss_values: ClassVar[bool] = False
    closed_form_error: ClassVar[float] = 1e-9
    p = math.inf
    unit_name = "statistical"
    signal = option(1.0, "b = min(1, signal sqrt(d/n))")
    declared_smoothness = 0.0

    @property
    def own_constants(self) -> Constants:
        """G = 1 in l_inf, S = 2, D = 2."""
        return Constants(
            1.0,
            0.0,
            initial_distance=math.sqrt(self.dimension),
            diameter=2.0,
            norm=math.inf,
            hessian_rank=0.0,
            domain="linf_ball",
            losses="linear",
        )

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.dimension)

    def mean_excess(self, k: float, mu: float) -> float:
        """``b E[1 - x_j]`` over the law of one coordinate of the mean record, of the first signal."""
        n, d, bias = self.count, self.dimension, float(self.strengths[0])
        values, law = signed_count_law(n, (0.5 + 0.5 * bias) / d, (0.5 - 0.5 * bias) / d)
        kept = (law > 1e-14 * law.max()) & (np.abs(values) <= n)
        means, law = values[kept] / n, law[kept]
        gaps: Any = np.clip(1.0 - means / mu, 0.0, 2.0) if math.isinf(k) else tilted_gap(k * means, 0.5 * k * mu)
        return bias * float(np.sum(law * gaps) / np.sum(law))
