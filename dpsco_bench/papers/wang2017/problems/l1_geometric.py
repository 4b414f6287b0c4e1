"""A quadratic with curvatures on sixteen scales, on the unit ball of either norm: what the geometry is worth in d."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpsco_bench.geometry.ball import BALLS, Ball
from dpsco_bench.papers.wang2017.oracles import geometric_spectrum
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem

SUPPORT = 16


@problem
class L1Geometric(DiagonalOracle):
    """``h_j = 2^-(j mod 16)``; the minimiser has norm 0.9 and sixteen equal coordinates."""

    name = "l1_geometric"
    summary = "quadratic oracle with curvatures 1, ..., 2^-15 and a sparse minimiser on the l1 or l2 ball"
    source = "instance `l1_geometric` for Wang, Ye, Xu 2017, Theorem 5.4"
    default_dimension = 64
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    least_dimension = SUPPORT
    ball_name: str = option("l1_ball", "norm of the ball", choices=BALLS, key="ball")
    radius: float = option(1.0, "of the ball", within="(0, inf)")

    @cached_property
    def ball(self) -> Ball:
        return Ball(self.ball_name, self.radius)

    @property
    def spectrum(self) -> np.ndarray:
        """Sixteen powers of two, in turn."""
        return geometric_spectrum(self.dimension)

    @property
    def optimum(self) -> np.ndarray:
        """``0.9 R/16`` (l1) or ``0.9 R/4`` (l2) on the first sixteen coordinates."""
        share = SUPPORT if self.ball.name == "l1_ball" else SUPPORT**0.5
        return np.where(np.arange(self.dimension) < SUPPORT, 0.9 * self.ball.radius / share, 0.0)

    @property
    def own_constants(self) -> Constants:
        """G = L = 1 declared; on the unit ball G is nominal."""
        return self.declared(self.ball)
