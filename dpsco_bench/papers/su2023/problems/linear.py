"""Linear losses on a unit set, with one slope for all records or rarely large ones, and estimation of means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Constants, Data, Draws, Trait, option
from dpsco_bench.problems.constants import CURVED
from dpsco_bench.problems.data import like
from dpsco_bench.problems.families import OnUnitSet, Sampled, SignalFamily, consecutive, on_unit_set, sparse_vertex
from dpsco_bench.problems.linear import ball_name
from dpsco_bench.problems.quadratic import MEAN_TRAITS, MeanOracle, mean_constants
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.slopes import CoinLosses, CoinSample, StudentSample

Array = Any
ABOVE = 1.01
"""Height of the rare value over the clipping level."""
DISTANCE = 0.6
"""Distance of the optimum from the origin, in l_p; the radius is 1."""


@problem
class PointmassLinear(OnUnitSet, SignalFamily):
    """``F(x) = -rho <x, u>`` over a unit set, u its sparse vertex, rho the signal; L = 1 is declared.

    Without a sampling error the excess risk is all due to privacy.
    """

    name = "pointmass_linear"
    summary = "linear oracle over a unit set (l1, l2, k-support, group, subspace) with a free signal"
    source = "instance `pointmass_linear` for Su, Zhao, Wang 2023, Theorem 2"
    traits = CURVED | {Trait.LINEAR_LOSS, Trait.PLANE_GRADIENTS}
    shares_records: ClassVar[bool] = True
    default_dimension: ClassVar[int] = 64
    signal = option(1.0, "rho, at most 1 in effect")

    @cached_property
    def vertex(self) -> np.ndarray:
        return sparse_vertex(self.domain, self.size, self.dimension)

    @property
    def own_constants(self) -> Constants:
        """L = 1 is declared, and beta = 1, although the Hessian is zero.

        The ridge of Kifer, Smith, Thakurta 2012, the second method of row [31] of Table 1, is 2 beta/eps: with beta = 0
        the perturbed objective would be linear. Algorithm 1 does not see beta, the Hessian's rank being 0.
        """
        return on_unit_set(self.set, 1.0, 1.0, hessian_rank=0.0, initial_distance=1.0)

    def mean_gradient(self, x: Array, data: Any) -> Array:
        return 0.0 * x - self.by_row(self.strengths, x) * like(self.vertex, x)

    def risk(self, x: Array, data: Any) -> Array:
        return self.excess_risk(x, data) - self.by_row(self.strengths, x)[:, 0]

    def optimal_risk(self, data: Any) -> float:
        """``-rho``, at u; of the first signal."""
        return -float(self.strengths[0])

    def excess_risk(self, x: Array, data: Any) -> Array:
        product = array_namespace(x).sum(like(self.vertex, x) * x, axis=-1)
        return self.by_row(self.strengths, x)[:, 0] * (1.0 - product)


@problem
class SubspaceLinear(PointmassLinear):
    """`PointmassLinear` on ``{||x||_2 <= 1, x_j = 0 for j > k}``."""

    name = "subspace_linear"
    summary = "linear oracle over the unit ball of a coordinate subspace, with a free signal"
    source = "instance `subspace_linear` for Su, Zhao, Wang 2023, Theorem 2"
    default_dimension = 1024
    domain = "subspace_ball"
    size: int = option(2, "k")


@dataclass(frozen=True)
class RareCounts:
    """Numbers of rare values in each coordinate, ``(R, d)``, among n records: evenly spread, as for `CoinSample`."""

    n: int
    counts: np.ndarray

    def chosen(self, indices: np.ndarray) -> np.ndarray:
        """Mark the records ``indices (S R, W)`` with the rare value by 1, others by 0, shape ``(S R, W, d)``."""
        i, c = indices[:, :, None], np.tile(self.counts, (len(indices) // len(self.counts), 1))[:, None, :]
        return np.floor((i + 1) * c / self.n) - np.floor(i * c / self.n)


@problem
class TwoPointTail(Sampled, SignalFamily):
    """``f(x, z) = <x, z>``; every coordinate of z is ``o + V`` with probability ``V^-2``, else o, independently.

    ``V = 1.01 tau`` with tau the clipping level of our stand-in for heavy tails at the cell, and
    ``o = -1/V - rho/sqrt d``: the mean is ``-rho/sqrt d``, the standard deviation at most 1. Its gradient does not
    vanish at the optimum, as the method that the paper cites asks.
    """

    name = "two_point_tail"
    summary = "linear losses with rare large slopes on the unit l2 ball; population risk"
    source = "instance `two_point_tail` for Su, Zhao, Wang 2023, Theorem 12 (stand-in)"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LINEAR_LOSS})
    cap: ClassVar[float] = math.inf
    default_dimension: ClassVar[int] = 8
    warnings = ("the gradient does not vanish at the optimum, as the cited method assumes",)
    signal = option(1.0, "rho = signal sqrt(d)/(3 tau), uncapped")

    @property
    def height(self) -> float:
        """V."""
        return ABOVE * math.sqrt(self.count * self.epsilon) / self.dimension**0.25

    @property
    def unit(self) -> float:
        return ABOVE * math.sqrt(self.dimension) / (3.0 * self.height)

    @property
    def own_constants(self) -> Constants:
        """Sigma = 1 a coordinate; beta = 1 is declared, L is that of the mean slope only."""
        size = float(self.strengths.max())
        known: Options = dict(gradient_deviation=1.0, hessian_rank=0.0, initial_gap=size, initial_distance=1.0)
        return on_unit_set(feasible_set("l2_ball", 1.0), size, 1.0, **known)

    def sample(self, n: int, draws: Draws) -> RareCounts:
        """Binomial counts by inversion of one uniform number a coordinate; all signals share them."""
        from scipy.stats import binom

        u = to_numpy(draws.stream("counts").uniform(*draws.box(0, 1, self.dimension)))[0]
        return RareCounts(n, np.asarray(binom.ppf(u, n, min(1.0, self.height**-2.0)), dtype=np.float64))

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        if (first, count) != (0, data.n):
            return super().range_gradient(x, data, first, count)
        return self._mean(x, data, *self._levels(x))

    def clipped_mean_gradient(self, x: Array, data: Any, level: float) -> Array:
        return self._mean(x, data, *(array_namespace(x).clip(values, -level, level) for values in self._levels(x)))

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        return self._slopes(x, data.chosen(consecutive(x.shape[0], first, count)))

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        return array_namespace(x).sum(self._slopes(x, batch.features) * weights[:, :, None], axis=1)

    def optimal_risk(self, data: Any) -> np.ndarray:
        return -np.repeat(self.strengths, data.counts.shape[0])

    def excess_risk(self, x: Array, data: Any) -> Array:
        product = array_namespace(x).sum(x, axis=-1) / math.sqrt(self.dimension)
        return self.by_row(self.strengths, x)[:, 0] * (1.0 - product)

    def _levels(self, x: Array) -> tuple[Array, Array]:
        """Compute the usual and the rare value at every row's signal, shape ``(rows, 1)``."""
        low = self.by_row(-1.0 / self.height - self.strengths / math.sqrt(self.dimension), x)
        return low, low + self.height

    def _mean(self, x: Array, data: Any, low: Array, high: Array) -> Array:
        """Mean slope ``(rows, d)`` of the usual and the rare value, by the frequencies of the latter."""
        shares = array_namespace(x).tile(like(data.counts / data.n, x), (len(self.strengths), 1))
        return low + shares * (high - low)

    def _slopes(self, x: Array, rare: np.ndarray) -> Array:
        low, high = self._levels(x)
        return low[:, None, :] + like(rare, x) * (high - low)[:, None, :]


@problem
class CoinMean(CoinLosses):
    """``f(x, z) = ||x - z v||^2/2`` with fair ``z = +-1``, v the first axis; its excess is ``||x||^2/2``."""

    name = "coin_mean"
    summary = "mean estimation of fair coins on the unit l2 ball; population risk"
    source = "instance `coin_mean` for Su, Zhao, Wang 2023, Theorem 4"
    traits = MEAN_TRAITS
    curvature = isotropic_curvature = 1.0

    @property
    def own_constants(self) -> Constants:
        return mean_constants(feasible_set("l2_ball", 1.0), self.dimension)

    @property
    def start(self) -> np.ndarray:
        """Point v: the origin is the population's optimum already."""
        return np.eye(1, self.dimension)[0]

    def sample(self, n: int, draws: Draws) -> CoinSample:
        """Draw the number of heads of every replicate."""
        return CoinSample(n, draws, np.array([0.5]))

    def optimal_risk(self, data: Any) -> float:
        return 0.5

    def excess_risk(self, x: Array, data: Any) -> Array:
        return 0.5 * array_namespace(x).sum(x * x, axis=-1)


class SortedRecords:
    """Records ``(R, n, d)``, every coordinate of them sorted, and their sums from below."""

    def __init__(self, records: np.ndarray) -> None:
        self.n, self.records = records.shape[1], records
        self.sorted = np.sort(records, axis=1)
        self.sums = np.concatenate([np.zeros_like(records[:, :1]), np.cumsum(self.sorted, axis=1)], axis=1)

    def chosen(self, indices: np.ndarray) -> np.ndarray:
        return self.records[np.arange(len(indices))[:, None], indices]

    def clipped_mean(self, x: np.ndarray, level: float) -> np.ndarray:
        """``mean_i clip(x - z_i, -level, level)`` of points ``x (R, d)``, shape ``(R, d)``."""
        below, upto = self._ranks(x - level), self._ranks(x + level)
        inside = np.take_along_axis(self.sums, upto[:, None], 1) - np.take_along_axis(self.sums, below[:, None], 1)
        return (level * (below - (self.n - upto)) + x * (upto - below) - inside[:, 0]) / self.n

    def _ranks(self, x: np.ndarray) -> np.ndarray:
        rows, columns = x.shape
        found = [np.searchsorted(self.sorted[r, :, j], x[r, j]) for r in range(rows) for j in range(columns)]
        return np.array(found).reshape(rows, columns)


@problem
class HeavyMean(Sampled):
    """``f(x, z) = ||x - z||_2^2/2`` over the unit l_p ball, ``z = m +`` Student noise, ``||m||_p = 0.6``.

    The mean has entries of one size and alternating signs; coordinates of the noise have variance ``d^(-2/q)``, so that
    ``E ||noise||_q^2 <= 1``. The loss is not negative, and its gradient vanishes at the optimum.
    """

    name = "heavy_mean"
    summary = "means of Student noise (2.1 degrees of freedom) on the unit l_p ball, p >= 2; population risk"
    source = "instance within the assumptions of Su, Zhao, Wang 2023, Theorem 17 (ours)"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.STRONGLY_CONVEX, Trait.COMMON_HESSIAN})
    default_dimension: ClassVar[int] = 8
    isotropic_curvature = 1.0
    p: float = option(2.0, "norm of the ball and of the constants", within="[2, inf]")

    @property
    def deviation(self) -> float:
        """Standard deviation of a coordinate, ``d^(-1/q)``."""
        return float(self.dimension ** (-1.0 / dual_exponent(self.p)))

    @property
    def mean(self) -> np.ndarray:
        """Compute the optimum m, shape ``(d,)``."""
        d = self.dimension
        return DISTANCE * d ** (-1.0 / self.p) * (1.0 - 2.0 * (np.arange(d) % 2))

    @property
    def own_constants(self) -> Constants:
        """``beta = d^(1-2/p)`` in l_p; sigma is a coordinate's. No record's gradient is bounded: L is that of F."""
        d, q, mean = self.dimension, dual_exponent(self.p), self.mean
        start: Options = dict(initial_gap=0.5 * float(np.sum(mean**2)), initial_distance=float(np.linalg.norm(mean)))
        ball: Options = dict(diameter=2.0, norm=self.p, domain=ball_name(self.p))
        known: Options = dict(strong_convexity=1.0, gradient_deviation=self.deviation, hessian_rank=0.0)
        steepest = (1.0 + DISTANCE) * d ** (1.0 / q - 1.0 / self.p)
        return Constants(steepest, d ** (1.0 - 2.0 / self.p), **known, **start, **ball)

    def sample(self, n: int, draws: Draws) -> SortedRecords:
        noise = StudentSample(n, self.dimension, draws).noise(0, n) * self.dimension**0.5  # of variance 1
        return SortedRecords(self.mean + self.deviation * noise)

    def clipped_mean_gradient(self, x: Array, data: Any, level: float) -> Array:
        return like(data.clipped_mean(to_numpy(x), level), x)

    def row_size(self, n: int) -> int:
        return n * self.dimension

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        return x[:, None, :] - like(data.records[:, first : first + count], x)

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        return array_namespace(x).sum((x[:, None, :] - like(batch.features, x)) * weights[:, :, None], axis=1)

    def optimal_risk(self, data: Any) -> float:
        return 0.5 * self.dimension * self.deviation**2

    def excess_risk(self, x: Array, data: Any) -> Array:
        return 0.5 * array_namespace(x).sum((x - like(self.mean, x)) ** 2, axis=-1)


@problem
class InteriorMean(MeanOracle):
    """``F(x) = ||x||^2/2`` over a unit set."""

    name = "interior_mean"
    summary = "mean estimation oracle whose optimum is the centre of a unit set"
    source = "instance `interior_mean` for Su, Zhao, Wang 2023, Theorem 4 (erratum E4b)"
    default_dimension = 256

    @cached_property
    def record(self) -> np.ndarray:
        return np.zeros(self.dimension)
