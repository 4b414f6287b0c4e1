"""The quadratic on the unit l2 ball that accelerated mirror descent barely resolves at each n."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.geometry.ball import Ball
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.cell_family import CellFamily
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem

UNIT_BALL = Ball("l2_ball", 1.0)


@problem
class SoftQuadraticL2(CellFamily, DiagonalOracle):
    """``h = min(1, 4 Lc/T^2)`` in every direction, Lc = 4, with the T of Theorem 5.4 (K = sqrt(48)) at the cell.

    The minimiser is ``signal ones/sqrt(d)``.
    """

    name = "soft_quadratic_l2"
    summary = "family of quadratic oracles on the unit l2 ball matched to the schedule of DP-AccMD at each n"
    source = "instance `soft_quadratic_l2` for Wang, Ye, Xu 2017, Theorem 5.4"
    default_dimension = 64
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    signal: float = option(0.5, "norm of the minimiser, in the unit ball", within="(0, 1]")

    @property
    def spectrum(self) -> np.ndarray:
        T = self.mirror_descent_steps(UNIT_BALL, math.sqrt(48.0))
        return np.full(self.dimension, min(1.0, 4 * UNIT_BALL.diameter**2 / T**2))

    @property
    def optimum(self) -> np.ndarray:
        return np.full(self.dimension, self.signal * self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """L = 1 declared; G = 1 holds on the ball where ``h (1 + signal) <= 1``, else it is nominal."""
        return self.declared(UNIT_BALL)
