"""The isotropic quadratic on which Theorem 6.3 of Wang, Ye, Xu 2017 is exact."""

from __future__ import annotations

import numpy as np

from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem


@problem
class IsotropicQuadratic(DiagonalOracle):
    """``h = 1``, start at distance 1 from the minimiser ``ones/sqrt(d)``."""

    name = "isotropic_quadratic"
    summary = "isotropic quadratic oracle; closed form for gradient norms"
    source = "instance `isotropic_quadratic` for Wang, Ye, Xu 2017, Theorem 6.3"
    default_dimension = 16

    @property
    def spectrum(self) -> np.ndarray:
        return np.ones(self.dimension)

    @property
    def optimum(self) -> np.ndarray:
        return np.full(self.dimension, self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal), L = mu = 1, D0 = 1/2."""
        return self.declared(strong_convexity=1.0)
