"""The quadratic on the unit l2 ball at whose curvature accelerated mirror descent is noisiest, at each n."""

from __future__ import annotations

import numpy as np

from dpsco_bench.geometry.ball import Ball
from dpsco_bench.papers.wang2017.problems.quadratics import MirrorDescentFamily
from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem

UNIT_BALL = Ball("l2_ball", 1.0)
SIGNAL = 0.5
CURVATURES = (15.0, 30.0)
"""Ends of h T: much softer directions keep a bias, in much stiffer ones the steps damp their noise."""


@problem
class ResolvedQuadraticL2(MirrorDescentFamily, DiagonalOracle):
    """``h_j = min(1, c_j/T)`` with c_j from 15 to 30 and the printed T of Theorem 5.4 (K = 1) at the cell.

    The steps of z oscillate about the minimiser with a period that depends on h; over the d directions this averages
    out. The minimiser is ``ones/(2 sqrt(d))``.
    """

    name = "resolved_quadratic_l2"
    summary = "family of quadratic oracles on the unit l2 ball in which the noise of DP-AccMD decides the risk"
    source = "instance `resolved_quadratic_l2` for Wang, Ye, Xu 2017, Theorem 5.4 (ours)"
    default_dimension = 64
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})

    @property
    def spectrum(self) -> np.ndarray:
        T = self.mirror_descent_steps(UNIT_BALL, 1.0)
        return np.minimum(1.0, np.linspace(*CURVATURES, self.dimension) / T)

    @property
    def optimum(self) -> np.ndarray:
        return np.full(self.dimension, SIGNAL * self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """L = 1 declared; G = 1 holds on the ball from T = 45 on, else it is nominal."""
        return self.declared(UNIT_BALL)
