"""Linear losses along one axis of an l_p ball, of Gopi, Lee, Liu, Shen, Tian 2022."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.counts import signed_count_law
from dpsco_bench.papers.gopi2022.laws.privacy_curve import pair_epsilon
from dpsco_bench.papers.gopi2022.laws.table import gap_table
from dpsco_bench.papers.gopi2022.problems.regularised_law import RegularisedLaw, SharedLinear
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.temperature import Temperature
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.coin_linear import CoinLinear
from dpsco_bench.problems.families import CellFamily
from dpsco_bench.problems.linear_losses import ball_name
from dpsco_bench.problems.registry import problem


@problem
class AxisLinear(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s = e_1, of the domain {e_1, -e_1}."""

    name = "axis_linear"
    summary = "linear loss along an axis of the unit l_p ball, 1 < p <= 2; empirical risk"
    source = "instance `axis_linear` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 3 and Corollary 2"
    default_dimension = 4
    losses = "axis_linear"
    p: float = option(1.5, "norm of the ball", within="(1, 2]")

    @property
    def slope(self) -> np.ndarray:
        return np.eye(1, self.dimension)[0]

    def mean_excess(self, k: float, mu: float) -> float:
        coefficient = self.regulariser.coefficient
        if math.isinf(k):
            return max(0.0, 1.0 - 0.5 / (mu * coefficient)) if mu > 0 else 0.0
        return AxisLaw(self.p, self.dimension, k, k * mu * coefficient).mean_gap()


@problem
class AxisPair(AxisLinear, CellFamily):
    """`AxisLinear` with p = 2, and the exact privacy of one draw on data sets that differ in one record, ``+-e_1``.

    Their mean records are ``a mu +- 1/n``, so that without the boundary both laws would be Gaussians around a.
    """

    name = "axis_pair"
    summary = "neighbouring data sets on the axis of the unit l2 ball: exact privacy of the draw"
    source = "instance `axis_pair` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 2"
    signal_option: ClassVar[str] = "centre"
    p = 2.0
    centre: float = option(0.0, "a: the mean records are a mu +- 1/n", within="[0, inf)")

    def expected_extras(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> dict[str, float]:
        """``epsilon_pair``: the exact epsilon at the cell's delta; none without noise."""
        (scale,) = scales.values()
        if scale == 0.0:
            return {}
        k, mu = Temperature.of(schedule).at(scale)
        c, middle, shift = k * mu * self.regulariser.coefficient, k * mu * self.centre, k / self.count
        first, second = (AxisLaw(2.0, self.dimension, middle + sign * shift, c) for sign in (1.0, -1.0))
        return {"epsilon_pair": pair_epsilon(first, second, self.delta)}


WIDEST = 26.0
"""Tables of the law reach so many times ``1/sqrt n``: the strongest bias of the usual grid, 16, and its spread. Those
of stronger ones reach a power of 4 as far, so that neighbours on a grid share them."""
UNITS = ("statistical", "fixed")


@problem
class BiasAxis(RegularisedLaw, CoinLinear):
    """``f(x, s) = -<x, s>``, ``s = +-e_1``, ``P(+) = (1 + b)/2``; ``b = min(1, signal unit)``."""

    name = "bias_axis"
    summary = "biased coins along an axis of the unit l_p ball, 1 < p <= 2; population risk"
    source = "instance `bias_axis` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 4 and Corollary 2"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS, Trait.PLANE_GRADIENTS})
    default_dimension = 2
    closed_form_error: ClassVar[float] = 1e-6
    p: float = option(1.5, "norm of the ball", within="(1, 2]")
    unit_name: str = option("statistical", "of the signal: statistical 1/sqrt n, fixed 1", choices=UNITS, key="unit")
    signal = option(0.5, "b = min(1, signal unit)")

    @property
    def own_constants(self) -> Constants:
        """G = 1 in l_p, S = 2, D = 2."""
        return Constants(
            1.0,
            0.0,
            initial_distance=1.0,
            diameter=2.0,
            norm=self.p,
            hessian_rank=0.0,
            domain=ball_name(self.p),
            losses="axis_linear",
        )

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.dimension)

    @property
    def unit(self) -> float:
        """As the option says, at the cell's n."""
        return 1.0 if self.unit_name == "fixed" else 1.0 / math.sqrt(self.count)

    def mean_excess(self, k: float, mu: float) -> float:
        """``b E[1 - x_1]`` over the binomial law of the mean record, of the first signal."""
        n, bias = self.count, float(self.strengths[0])
        values, law = signed_count_law(n, 0.5 + 0.5 * bias, 0.5 - 0.5 * bias)
        kept = (law > 0.0) & (np.abs(values) <= n)
        means, law = values[kept] / n, law[kept]
        coefficient = self.regulariser.coefficient
        if math.isinf(k):
            gaps = np.maximum(0.0, 1.0 - means / (2.0 * mu * coefficient))
            gaps = np.minimum(2.0, gaps)
        else:
            shortest = WIDEST / math.sqrt(n)
            further = max(0, math.ceil(math.log(float(np.abs(means).max()) / shortest, 4.0)))
            reach = k * min(1.0, shortest * 4.0**further)
            gaps = gap_table(self.p, self.dimension, k * mu * coefficient, reach)(k * means)
        return bias * float(np.sum(law * gaps) / np.sum(law))


@problem
class DiagLinearP4(SharedLinear, CellFamily):
    """All s equal ``g d^(-3/4) (1, ..., 1)``, of dual norm ``g = min(1, 4 d/k)``, calibrated with G = 1.

    Here ``k = n t sqrt(d/Theta)`` with the paper's ``t = eps/sqrt(2 ln(1/(2 delta)))``, S = G and ``Theta = d^(1/2)/2``
    decides g alone, whatever the calibration.
    """

    name = "diag_linear_p4"
    summary = "weak linear loss along the diagonal of the unit l_4 ball; empirical risk"
    source = "instance `diag_linear_p4` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 4"
    default_dimension = 4
    algorithms: ClassVar[tuple[str, ...]] = ()
    p = 4.0
    reference: ClassVar[tuple[int, float, float]] = (1_000_000, 1.0, 1e-6)

    @property
    def strength(self) -> float:
        """G."""
        t = self.epsilon / math.sqrt(2.0 * math.log(0.5 / self.delta))
        k = self.count * t * math.sqrt(self.dimension / self.regulariser.theta(1.0))
        return min(1.0, 4.0 * self.dimension / k)

    @property
    def slope(self) -> np.ndarray:
        return np.full(self.dimension, self.strength * self.dimension**-0.75)

    @property
    def own_constants(self) -> Constants:
        """As of all losses of the domain."""
        return super().own_constants


@problem
class VertexLinearP1(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s = e_1. The regulariser is of another norm: no quadrature is known."""

    name = "vertex_linear_p1"
    summary = "linear loss with its minimum at a vertex of the unit l1 ball; empirical risk"
    source = "instance `vertex_linear_p1` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 3"
    default_dimension = 4
    algorithms: ClassVar[tuple[str, ...]] = ()
    p = 1.0

    @property
    def slope(self) -> np.ndarray:
        return np.eye(1, self.dimension)[0]
