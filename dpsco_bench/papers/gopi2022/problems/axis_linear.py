"""A linear loss along the first axis of the unit l_p ball, 1 < p <= 2: the law of the draw is one-dimensional."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.problems.regularised_law import SharedLinear
from dpsco_bench.problems.registry import problem


@problem
class AxisLinear(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s = e_1, of the domain {e_1, -e_1}.

    Parameters
    ----------
    d : int
        Dimension, default 4.
    p : float
        Norm of the ball, in (1, 2], default 1.5.
    """

    name = "axis_linear"
    summary = "linear loss along an axis of the unit l_p ball, 1 < p <= 2; empirical risk"
    source = "instance `axis_linear` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 3 and Corollary 2"
    default_dimension = 4
    losses = "axis_linear"

    def __init__(self, d: int | None = None, p: float = 1.5, constants: dict[str, float] | None = None) -> None:
        if isinstance(p, bool) or not isinstance(p, int | float) or not 1 < p <= 2:
            raise InputError("p", p, "in (1, 2]")
        self.p = float(p)
        super().__init__(d, constants)

    @property
    def slope(self) -> np.ndarray:
        """``e_1``."""
        return np.eye(1, self.dimension)[0]

    def mean_excess(self, k: float, mu: float) -> float:
        """``E[1 - x_1]``."""
        coefficient = self.regulariser.coefficient
        if math.isinf(k):
            return max(0.0, 1.0 - 0.5 / (mu * coefficient)) if mu > 0 else 0.0
        return AxisLaw(self.p, self.dimension, k, k * mu * coefficient).mean_gap()
