"""A quadratic with curvatures on sixteen scales: convex for practical purposes."""

from __future__ import annotations

import numpy as np

from dpsco_bench.papers.wang2017.oracles import geometric_spectrum
from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import InBall


@problem
class GeometricQuadratic(InBall, DiagonalOracle):
    """``h_j = 2^-(j mod 16)``, minimiser ``ones/sqrt(d)``; its strong convexity of 2^-15 is not declared."""

    name = "geometric_quadratic"
    summary = "quadratic oracle with curvatures 1, 1/2, ..., 2^-15"
    source = "instance `geometric_quadratic` for Wang, Ye, Xu 2017, Theorem 4.4"
    default_dimension = 64  # each curvature four times
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})

    @property
    def spectrum(self) -> np.ndarray:
        """Sixteen powers of two, in turn."""
        return geometric_spectrum(self.dimension)

    @property
    def optimum(self) -> np.ndarray:
        return np.full(self.dimension, self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal), L = 1, the exact initial gap and distance."""
        return self.declared(self.ball)
