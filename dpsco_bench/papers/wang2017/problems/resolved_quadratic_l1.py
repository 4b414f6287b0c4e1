"""The quadratic on the unit l1 ball whose risk is made by the noise of accelerated mirror descent, at each n."""

from __future__ import annotations

import numpy as np

from dpsco_bench.geometry.ball import Ball
from dpsco_bench.geometry.mirror import L1Geometry
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.papers.wang2017.problems.quadratics import SUPPORT, MirrorDescentFamily
from dpsco_bench.problems.base import Constants, Data, Trait, option
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem

UNIT_BALL = Ball("l1_ball", 1.0)
CURVATURE = 120.0
"""h T: stiff enough for the steps to forget the start, soft enough for the noise to stay."""


@problem
class ResolvedQuadraticL1(MirrorDescentFamily, DiagonalOracle):
    """``h = min(1, 120/T)`` in every direction, with the printed T of Theorem 5.4 (K = 1) at the cell.

    The minimiser has sixteen coordinates of ``signal/16``: close to the centre, so that it is of the size of the noise.
    """

    name = "resolved_quadratic_l1"
    summary = "family of quadratic oracles on the unit l1 ball in which the noise of DP-AccMD decides the risk"
    source = "instance `resolved_quadratic_l1` for Wang, Ye, Xu 2017, Theorem 5.4 (ours)"
    default_dimension = 64
    least_dimension = SUPPORT
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    signal: float = option(0.02, "l1 norm of the minimiser", within="(0, 1]")

    @property
    def spectrum(self) -> np.ndarray:
        return np.full(self.dimension, min(1.0, CURVATURE / self.mirror_descent_steps(UNIT_BALL, 1.0)))

    @property
    def optimum(self) -> np.ndarray:
        return np.where(np.arange(self.dimension) < SUPPORT, self.signal / SUPPORT, 0.0)

    @property
    def own_constants(self) -> Constants:
        """L = 1 declared; G = 1 holds on the ball where ``h (1 + ||x*||)`` is at most 1."""
        return self.declared(UNIT_BALL)

    def beside(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        """``B_w(x*, 0) = (s/2) ||x*||_q^2``, which Theorem 5.4 has where the schedule bounds it over the whole ball."""
        geometry, d = L1Geometry(UNIT_BALL.radius), self.dimension
        p = geometry.dual_exponent(d)
        length = float(lp_norm(self.optimum[None], p / (p - 1.0))[0, 0])
        return {"minimiser_divergence": np.full(len(x), 0.5 * geometry.curvature(d) * length**2)}
