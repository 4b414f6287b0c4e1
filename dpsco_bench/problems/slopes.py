"""Linear losses with random slopes: biased coins, and heavy-tailed Student noise."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.problems.base import Constants, Data, Draws, Trait, option
from dpsco_bench.problems.constants import CURVED
from dpsco_bench.problems.data import CONSTANT, RecordForm, like
from dpsco_bench.problems.families import Sampled, SignalFamily, consecutive, on_unit_set
from dpsco_bench.problems.linear import ball_name
from dpsco_bench.problems.registry import problem

Array = Any
FREEDOM = 2.1
"""Degrees of freedom; the variance is 2.1/0.1 = 21."""


class CoinSample:
    """``n`` coins of every row, ``R`` replicates at ``S`` signals (signal-major), in a fixed order given their number.

    The number of heads is binomial, by inversion of one uniform a replicate, which all signals share. Given it, heads
    are spread evenly: coins are exchangeable, so that methods that look at all of them, or at random ones, see the law
    of independent coins. ``chances (S,)`` are the probabilities of heads.
    """

    def __init__(self, n: int, draws: Draws, chances: np.ndarray) -> None:
        from scipy.stats import binom

        self.n = n
        u = to_numpy(draws.stream("heads").uniform(*draws.box(0, 1, 1)))[0, :, 0]
        self.heads = np.asarray(binom.ppf(u, n, np.asarray(chances)[:, None]), dtype=np.float64).reshape(-1)

    def mean(self, x: Array, first: int, count: int) -> Array:
        """Compute the mean of ``count`` coins from ``first`` on, shape ``(S R, 1)``, as x is."""
        found = self._before(first + count) - self._before(first)
        return array_namespace(x).asarray((2.0 * found / count - 1.0)[:, None], dtype=x.dtype)

    def chosen(self, indices: Array) -> np.ndarray:
        """Coins ``indices (S R, W)``, as +-1."""
        i = to_numpy(indices)
        return 2.0 * (self._before(i.T + 1) - self._before(i.T)).T - 1.0

    def _before(self, index: Any) -> Any:
        """Count the heads before an index."""
        return np.floor(index * self.heads / self.n)


class CoinLosses(Sampled):
    """``f(x, z) = -z <x, v> + (h/2) ||x||_2^2`` with ``z = +-1``, v = e_1 and h the `curvature`."""

    default_dimension: ClassVar[int] = 1
    curvature: float = 0.0

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        return self.curvature * x - data.mean(x, first, count) * self._axis(x)

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        coins = like(data.chosen(consecutive(x.shape[0], first, count)), x)
        return self.curvature * x[:, None, :] - coins[:, :, None] * self._axis(x)

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        xp = array_namespace(x)
        total = xp.sum(like(batch.features, x) * weights, axis=-1, keepdims=True)
        return self.curvature * xp.sum(weights, axis=-1, keepdims=True) * x - total * self._axis(x)

    def _axis(self, x: Array) -> Array:
        return like(np.eye(1, self.dimension)[0], x)


@problem
class CoinLinear(CoinLosses, SignalFamily):
    """``f(x, z) = -z <x, v>``, ``z = +-1``, ``P(+) = (1 + rho)/2``, v = e_1; ``rho = min(1, signal/sqrt n)``."""

    name = "coin_linear"
    summary = "linear losses of biased coins on the unit l2 ball; population risk"
    source = "instance `coin_linear` for Su, Zhao, Wang 2023, Theorem 2"
    traits = CURVED | {Trait.LINEAR_LOSS, Trait.PLANE_GRADIENTS}
    signal = option(1.0, "in units of 1/sqrt n")
    record_form = RecordForm(CONSTANT, (-1.0, 0.0))

    @property
    def own_constants(self) -> Constants:
        """L = 1; beta = 1 is declared as for `pointmass_linear`, the Hessian is zero."""
        return on_unit_set(feasible_set("l2_ball", 1.0), 1.0, 1.0, hessian_rank=0.0, initial_distance=1.0)

    @property
    def unit(self) -> float:
        return 1.0 / math.sqrt(self.count)

    def sample(self, n: int, draws: Draws) -> CoinSample:
        return CoinSample(n, draws, 0.5 + 0.5 * self.strengths)

    def form_records(self, data: Any, indices: Array) -> Data:
        return Data(data.n, data.chosen(indices)[:, :, None] * np.eye(1, self.dimension))

    def form_range(self, data: Any, first: int, count: int) -> Data:
        return self.form_records(data, consecutive(len(data.heads), first, count))

    def opposed_records(self, distance: float, order: float) -> Data | None:
        return Data(2, np.array([1.0, -1.0])) if abs(distance - 2.0) <= 1e-9 else None

    def optimal_risk(self, data: Any) -> np.ndarray:
        return -np.repeat(self.strengths, len(data.heads) // len(self.strengths))

    def excess_risk(self, x: Array, data: Any) -> Array:
        return self.by_row(self.strengths, x)[:, 0] * (1.0 - x[:, 0])


class StudentSample:
    """Records of R replicates, drawn when they are looked at: Student noise of variance 1/d a coordinate."""

    def __init__(self, n: int, d: int, draws: Draws) -> None:
        self.n, self.d, self.draws = n, d, draws
        self.transform = student_noise

    def noise(self, first: int, count: int) -> np.ndarray:
        """Noise of records from ``first`` on, shape ``(R, count, d)``."""
        drawn = to_numpy(self.draws.stream("student").uniform(*self.draws.box(first, count, 2 * self.d)))
        return self.transform(drawn).swapaxes(0, 1)


def student_noise(drawn: np.ndarray) -> np.ndarray:
    """Student noise of variance 1/d from uniform numbers ``(..., 2 d)``, u and then v, shape ``(..., d)``.

    Polar form (Bailey 1994): ``sqrt(f (u^(-2/f) - 1)) cos(2 pi v)`` is Student with f degrees of freedom.
    """
    d = drawn.shape[-1] // 2
    u, v = drawn[..., :d], drawn[..., d:]
    student: np.ndarray = np.sqrt(FREEDOM * np.expm1(-2.0 / FREEDOM * np.log(u))) * np.cos(2.0 * np.pi * v)
    return student_scale(d) * student


def student_scale(d: int) -> float:
    """Compute the scale that gives Student noise a variance of 1/d."""
    return math.sqrt((FREEDOM - 2.0) / (FREEDOM * d))


@problem
class HeavyLinearT(Sampled, SignalFamily):
    """``f(x, z) = <x, z>`` over an l_p ball, ``z = mu +`` Student noise with ``E ||noise||_2^2 = 1``.

    ``mu_j = +-rho d^(-1/q)``, alternating, with rho the signal. beta = rho/M is declared, so that gradients are cut at
    rho plus the truncation level.
    """

    name = "heavy_linear_t"
    summary = "linear losses with Student slopes (2.1 degrees of freedom) on an l_p ball; population risk"
    source = "instance `heavy_linear_t` for Su, Zhao, Wang 2023, Theorems 10 and 11"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LINEAR_LOSS})
    unkeyed_options: ClassVar[tuple[str, ...]] = ("largest",)
    default_dimension: ClassVar[int] = 4
    reference: ClassVar[tuple[int, float, float]] = (1 << 16, 1.0, 1e-6)
    p: float = option(
        1.5,
        "norm of the ball and of the constants; 2 is the limit of the theorems' range",
        within="(1, 2]",
        source="Su, Zhao, Wang 2023, Theorems 10 and 11",
    )
    largest: float = option(
        math.inf,
        "largest admissible signal; Theorems 10 and 11 ask for rho of at most their lambda",
        within="(0, inf]",
        source="Su, Zhao, Wang 2023, Theorems 10 and 11",
    )
    radius: float = option(1.0, "of the ball", within="(0, inf)")
    signal = option(1.0, "rho")
    record_form = RecordForm(CONSTANT)

    @property
    def cap(self) -> float:  # type: ignore[override]
        return self.largest

    @property
    def own_constants(self) -> Constants:
        """Sigma = 1 in l_q (q >= 2), beta = rho/M declared; L is nominal: no record's slope is bounded."""
        rho = float(self.strengths.max())
        return Constants(
            rho,
            0.5 * rho / self.radius,
            initial_gap=rho * self.radius,
            initial_distance=self.radius,
            diameter=2.0 * self.radius,
            norm=self.p,
            gradient_deviation=1.0,
            hessian_rank=0.0,
            domain=ball_name(self.p),
        )

    @property
    def direction(self) -> np.ndarray:
        """``mu/rho``, shape ``(d,)``."""
        return self.dimension ** (1.0 / self.p - 1.0) * (1.0 - 2.0 * (np.arange(self.dimension) % 2))

    def sample(self, n: int, draws: Draws) -> StudentSample:
        """Nothing yet: records are drawn when they are looked at."""
        return StudentSample(n, self.dimension, draws)

    def row_size(self, n: int) -> int:
        return self.dimension * min(n, 1 << 14)

    def opposed_records(self, distance: float, order: float) -> Data | None:
        slope = 0.5 * distance * np.eye(self.dimension)[0]
        return Data(2, np.stack([slope, -slope]) - float(self.strengths[0]) * self.direction)

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        return self._slopes(x, data.noise(first, count))

    def form_records(self, data: Any, indices: Array) -> Data:
        rows = np.empty((len(indices), self.dimension))
        return Data(data.n, self.gather(data, indices).features + self._mean(rows)[:, None, :])

    def form_range(self, data: Any, first: int, count: int) -> Data:
        rows = np.empty((len(self.strengths) * data.draws.replicates, self.dimension))
        return Data(count, self._slopes(rows, data.noise(first, count)))

    def gather(self, data: Any, indices: Array) -> Data:
        noise, i = data.noise(0, data.n), to_numpy(indices)
        return Data(data.n, noise[np.arange(i.shape[0])[:, None] % noise.shape[0], i])

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        slopes = like(batch.features, x) + self._mean(x)[:, None, :]
        return array_namespace(x).sum(slopes * weights[:, :, None], axis=1)

    def risk(self, x: Array, data: Any) -> Array:
        return array_namespace(x).sum(self._mean(x) * x, axis=-1)

    def optimal_risk(self, data: Any) -> np.ndarray:
        return -self.radius * np.repeat(self.strengths, data.draws.replicates)

    def excess_risk(self, x: Array, data: Any) -> Array:
        return self.risk(x, data) + self.radius * self.by_row(self.strengths, x)[:, 0]

    def _mean(self, x: Array) -> Array:
        return self.by_row(self.strengths, x) * like(self.direction, x)

    def _slopes(self, x: Array, noise: np.ndarray) -> Array:
        """``mu`` plus the noise ``(R, W, d)`` of the replicates at every signal."""
        repeated = array_namespace(x).tile(like(noise, x), (len(self.strengths), 1, 1))
        return repeated + self._mean(x)[:, None, :]
