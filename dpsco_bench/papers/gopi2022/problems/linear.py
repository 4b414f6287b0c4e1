"""Linear losses along an axis of an l_p ball or on the cube, of Gopi, Lee, Liu, Shen, Tian 2022."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw, gap_table, pair_epsilon
from dpsco_bench.papers.gopi2022.laws.quadrature import signed_count_law, tilted_gap
from dpsco_bench.papers.gopi2022.regulariser import RegularisedLaw, SharedLinear
from dpsco_bench.problems.base import Constants, Data, Trait, option
from dpsco_bench.problems.data import gathered
from dpsco_bench.problems.families import CellFamily
from dpsco_bench.problems.linear import Onehot, linear_constants
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.slopes import CoinLinear

Array = Any
WIDEST = 26.0
"""Tables of the law reach so many times ``1/sqrt n``: the strongest bias of the usual grid, 16, and its spread. Those
of stronger ones reach a power of 4 as far, so that neighbours on a grid share them."""
UNITS = ("statistical", "fixed")
WRITTEN_OUT = 1 << 20
"""Most entries of records that are written out; a longer rotation is known by its length."""


@problem
class AxisLinear(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s = e_1, of the domain {e_1, -e_1}."""

    name = "axis_linear"
    summary = "linear loss along an axis of the unit l_p ball, 1 < p <= 2; empirical risk"
    source = "instance `axis_linear` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 3 and Corollary 2"
    losses = "axis_linear"
    p: float = option(1.5, "norm of the ball", within="(1, 2]")

    def mean_excess(self, k: float, mu: float) -> float:
        coefficient = self.regulariser.coefficient
        if math.isinf(k):
            return max(0.0, 1.0 - 0.5 / (mu * coefficient)) if mu > 0 else 0.0
        return AxisLaw(self.p, self.dimension, k, k * mu * coefficient).mean_gap()


@problem
class AxisPair(AxisLinear, CellFamily):
    """`AxisLinear`, and the exact privacy of one draw on data sets that differ in one record, ``+-e_1``.

    Their mean records are ``a mu +- 1/n``; for p = 2, without the boundary, both laws would be Gaussians around a.
    """

    name = "axis_pair"
    summary = "neighbouring data sets on the axis of the unit l_p ball: exact privacy of the draw"
    source = "instance `axis_pair` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 2"
    signal_option: ClassVar[str] = "centre"
    p: float = option(2.0, "norm of the ball", within="(1, 2]")
    centre: float = option(0.0, "a: the mean records are a mu +- 1/n", within="[0, inf)")

    def law_extras(self, k: float, mu: float) -> dict[str, float]:
        """``epsilon_pair``: the exact epsilon at the cell's delta; ``mean_shift``: the difference of ``E x_1``.

        The shift is the least distance W_2 of the laws, and all of it for d = 1 in the interior.
        """
        c, middle, shift = k * mu * self.regulariser.coefficient, k * mu * self.centre, k / self.count
        first, second = (AxisLaw(self.p, self.dimension, middle + sign * shift, c) for sign in (1.0, -1.0))
        return {
            "epsilon_pair": pair_epsilon(first, second, self.delta),
            "mean_shift": second.mean_gap() - first.mean_gap(),
        }


@problem
class BiasAxis(RegularisedLaw, CoinLinear):
    """``f(x, s) = -<x, s>``, ``s = +-e_1``, ``P(+) = (1 + b)/2``; ``b = min(1, signal unit)``."""

    name = "bias_axis"
    summary = "biased coins along an axis of the unit l_p ball, 1 <= p <= 2; population risk"
    source = "instance `bias_axis` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 4 and Corollary 2"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS, Trait.PLANE_GRADIENTS})
    default_dimension = 2
    closed_form_error: ClassVar[float] = 1e-6
    p: float = option(1.5, "norm of the ball; its law is known by quadrature for p > 1", within="[1, 2]")
    unit_name: str = option("statistical", "of the signal: statistical 1/sqrt n, fixed 1", choices=UNITS, key="unit")
    signal = option(0.5, "b = min(1, signal unit)")

    @property
    def own_constants(self) -> Constants:
        """G = 1 in l_p, S = 2, D = 2."""
        return linear_constants(self.domain, self.p, losses="axis_linear")

    @property
    def unit(self) -> float:
        """Compute the unit that the option names, at the cell's n."""
        return 1.0 if self.unit_name == "fixed" else 1.0 / math.sqrt(self.count)

    def mean_excess(self, k: float, mu: float) -> float:
        """``b E[1 - x_1]`` over the binomial law of the mean record, of the first signal."""
        if self.p == 1.0:
            raise InputError("p", self.p, "> 1, where the law is known by quadrature")
        bias = float(self.strengths[0])
        means, law = self._means(self.count)
        return bias * float(np.sum(law * self._gaps(means, k, mu)) / np.sum(law))

    def law_extras(self, k: float, mu: float) -> dict[str, float]:
        """``generalisation``: ``E[F_pop - F_D]`` at the draw, of the first signal.

        ``swap_error``: its relative distance from ``E[f(x; s) - f(x'; s)]``, x' drawn from the data with s in place of
        one record, which is summed over s and the other records.
        """
        if self.p == 1.0:
            return {}
        n, bias = self.count, float(self.strengths[0])
        means, law = self._means(n)
        points = 1.0 - self._gaps(means, k, mu)
        others, rest = self._means(n - 1)
        ends = [(0.5 + 0.5 * s * bias) * s * (1.0 - self._gaps((others * (n - 1) + s) / n, k, mu)) for s in (1.0, -1.0)]
        swapped = float(np.sum(rest * (ends[0] + ends[1])) / np.sum(rest))
        own = float(np.sum(law * points) / np.sum(law))
        given = float(np.sum(law * means * points) / np.sum(law))
        found, other = given - bias * own, swapped - bias * own
        return {"generalisation": found, "swap_error": abs(other / found - 1.0)}

    def _means(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean records of n coins at the first signal, and their law."""
        bias = float(self.strengths[0])
        values, law = signed_count_law(n, 0.5 + 0.5 * bias, 0.5 - 0.5 * bias)
        kept = (law > 0.0) & (np.abs(values) <= n)
        return values[kept] / n, law[kept]

    def _gaps(self, means: np.ndarray, k: float, mu: float) -> np.ndarray:
        """``E[1 - x_1]`` at mean records ``(N,)``."""
        n, coefficient = self.count, self.regulariser.coefficient
        if math.isinf(k):
            return np.clip(1.0 - means / (2.0 * mu * coefficient), 0.0, 2.0)
        shortest = WIDEST / math.sqrt(n)
        further = max(0, math.ceil(math.log(float(np.abs(means).max()) / shortest, 4.0)))
        reach = k * min(1.0, shortest * 4.0**further)
        return gap_table(self.p, self.dimension, k * mu * coefficient, reach)(k * means)


@problem
class DiagLinearP4(SharedLinear, CellFamily):
    """All s equal ``g d^(-3/4) (1, ..., 1)``, of dual norm ``g = min(1, 4 d/k)``, calibrated with G = 1.

    Here ``k = n t sqrt(d/Theta)`` with the paper's ``t = eps/sqrt(2 ln(1/(2 delta)))``, S = G and ``Theta = d^(1/2)/2``
    decides g alone, whatever the calibration.
    """

    name = "diag_linear_p4"
    summary = "weak linear loss along the diagonal of the unit l_4 ball; empirical risk"
    source = "instance `diag_linear_p4` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 4"
    algorithms: ClassVar[tuple[str, ...]] = ()
    p = 4.0
    reference: ClassVar[tuple[int, float, float]] = (1_000_000, 1.0, 1e-6)

    @property
    def strength(self) -> float:
        """G."""
        t = self.epsilon / math.sqrt(2.0 * math.log(0.5 / self.delta))
        k = self.count * t * math.sqrt(self.dimension / self.regulariser.theta(1.0))
        return min(1.0, 4.0 * self.dimension / k)

    def mean_record(self, data: Any = None) -> np.ndarray:
        return np.full(self.dimension, self.strength * self.dimension**-0.75)


@problem
class VertexLinearP1(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s = e_1. The regulariser is of another norm: no quadrature is known."""

    name = "vertex_linear_p1"
    summary = "linear loss with its minimum at a vertex of the unit l1 ball; empirical risk"
    source = "instance `vertex_linear_p1` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 3"
    algorithms: ClassVar[tuple[str, ...]] = ()
    p = 1.0


@problem
class CubeOnehot(SharedLinear, CellFamily):
    """``f(x, s) = -<x, s>`` on [-1, 1]^d with record i equal to ``e_(i mod d)``; empirical risk."""

    name = "cube_onehot"
    summary = "linear losses with the unit vectors in rotation on the cube; empirical risk"
    source = "instance `cube_onehot` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 4 and Proposition 9"
    shares_records: ClassVar[bool] = False
    has_loss_values: ClassVar[bool] = True
    p = math.inf

    def row_size(self, n: int) -> int:
        return self.dimension

    def draw(self, n: int, streams: Any) -> Data:
        """Draw the rotation, written out where it is small enough for others to look at."""
        if n * self.dimension > WRITTEN_OUT:
            return Data(n)
        return Data(n, np.eye(self.dimension)[np.arange(n) % self.dimension], np.zeros(n))

    def shares(self, n: int) -> np.ndarray:
        """Mean record of n in rotation, shape ``(d,)``."""
        return ((n - 1 - np.arange(self.dimension)) // self.dimension + 1) / n

    def mean_record(self, data: Any = None) -> np.ndarray:
        return self.shares(data.n) if data.features is None else to_numpy(data.features).mean(axis=-2)

    def gather(self, data: Any, indices: Array) -> Data:
        if data.features is not None:
            return gathered(data, indices)
        rows = np.eye(self.dimension)[to_numpy(indices) % self.dimension]
        return Data(data.n, rows, np.zeros(rows.shape[:-1]))

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        xp = array_namespace(x)
        return -xp.matmul(weights[:, None, :], xp.asarray(batch.features, dtype=x.dtype))[:, 0, :]

    def batch_losses(self, x: Array, data: Any, indices: Array) -> Array:
        """``-<x, s>`` of records ``indices (R, W)``, shape ``(R, W)``."""
        rows = array_namespace(x).asarray(self.gather(data, indices).features, dtype=x.dtype)
        return -array_namespace(x).matmul(rows, x[:, :, None])[:, :, 0]

    def domain_records(self, count: int, seed: int) -> Data:
        """Return unit vectors of both signs, then random points of the l1 ball's boundary."""
        rows = np.random.default_rng(seed).laplace(size=(count, self.dimension))
        return self._after_corners(rows / np.abs(rows).sum(axis=1, keepdims=True))

    def _after_corners(self, rows: np.ndarray) -> Data:
        corners = np.concatenate([np.eye(self.dimension), -np.eye(self.dimension)])[[0, self.dimension, 1]]
        rows[: len(corners)] = corners[: len(rows)]
        return Data(len(rows), rows, np.zeros(len(rows)))

    def mean_excess(self, k: float, mu: float) -> float:
        """Mean over the unit vectors of ``E[1 - x_j]``, in a data set of `count` records in rotation."""
        shares = self.shares(self.count)
        if math.isinf(k):
            gaps = np.maximum(0.0, 1.0 - shares / mu) if mu > 0 else np.zeros(self.dimension)
        else:
            gaps = tilted_gap(k * shares, 0.5 * k * mu)
        return float(np.sum(shares * gaps))


@problem
class LpOnehot(CubeOnehot):
    """`CubeOnehot` on the unit l_p ball, p < 2. No quadrature of its law is known."""

    name = "lp_onehot"
    summary = "linear losses with the unit vectors in rotation on the unit l_p ball, 1 <= p < 2; empirical risk"
    source = "the records of `cube_onehot` for Gopi, Lee, Liu, Shen, Tian 2022, Proposition 9"
    algorithms: ClassVar[tuple[str, ...]] = ()
    p: float = option(1.5, "norm of the ball", within="[1, 2)")

    def domain_records(self, count: int, seed: int) -> Data:
        """Return unit vectors of both signs, then random corners of a cube, all of dual norm 1."""
        signs = np.sign(np.random.default_rng(seed).standard_normal((count, self.dimension)))
        return self._after_corners(signs * self.dimension ** (1.0 / self.p - 1.0))


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
        return linear_constants("linf_ball", math.inf, initial_distance=math.sqrt(self.dimension), losses="linear")

    def mean_excess(self, k: float, mu: float) -> float:
        """``b E[1 - x_j]`` over the law of one coordinate of the mean record, of the first signal."""
        n, d, bias = self.count, self.dimension, float(self.strengths[0])
        values, law = signed_count_law(n, (0.5 + 0.5 * bias) / d, (0.5 - 0.5 * bias) / d)
        kept = (law > 1e-14 * law.max()) & (np.abs(values) <= n)
        means, law = values[kept] / n, law[kept]
        gaps: Any = np.clip(1.0 - means / mu, 0.0, 2.0) if math.isinf(k) else tilted_gap(k * means, 0.5 * k * mu)
        return bias * float(np.sum(law * gaps) / np.sum(law))
