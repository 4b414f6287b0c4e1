"""A linear loss along the first axis of the unit l_p ball, 1 < p <= 2: the law of the draw is one-dimensional."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.problems.regularised_law import SharedLinear
from dpsco_bench.problems.base import option
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
