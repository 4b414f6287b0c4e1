"""Biased coins along the first axis of the unit l_p ball, 1 < p <= 2: population risk of the regularised draw."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpsco_bench.papers.gopi2022.laws.counts import signed_count_law
from dpsco_bench.papers.gopi2022.laws.table import gap_table
from dpsco_bench.papers.gopi2022.problems.regularised_law import RegularisedLaw
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.coin_linear import CoinLinear
from dpsco_bench.problems.linear_losses import ball_name
from dpsco_bench.problems.registry import problem

WIDEST = 26.0
"""Tables of the law reach so many times ``1/sqrt n``: the strongest bias of the usual grid, 16, and its spread."""
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
            widest = float(np.abs(means).max())
            reach = k * max(widest, min(1.0, WIDEST / math.sqrt(n)))
            gaps = gap_table(self.p, self.dimension, k * mu * coefficient, reach)(k * means)
        return bias * float(np.sum(law * gaps) / np.sum(law))
