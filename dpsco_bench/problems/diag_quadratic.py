"""The diagonal quadratic whose risk under noisy gradient descent has a closed form."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpsco_bench.problems.base import Constants, option
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem


@problem
class DiagQuadratic(DiagonalOracle):
    """``h = linspace(1/kappa, 1, d)``, start at distance 1 from the minimiser."""

    name = "diag_quadratic"
    summary = "diagonal quadratic oracle with condition number kappa; closed form for gradient descent"
    source = "instance `diag_quadratic` for Wang, Ye, Xu 2017, Theorem 6.2"
    default_dimension = 16
    kappa: float = option(4.0, "condition number", within="[1, inf)")

    @cached_property
    def spectrum(self) -> np.ndarray:
        return np.linspace(1.0 / self.kappa, 1.0, self.dimension)

    @property
    def start(self) -> np.ndarray:
        """``ones/sqrt(d)``; the minimiser is the origin."""
        return np.full(self.dimension, self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal), L = 1, mu = 1/kappa, the exact initial gap and distance."""
        return self.declared(strong_convexity=1.0 / self.kappa)
