"""The quadratic that DP-SVRG++ barely resolves: its curvature is matched to the number of inner steps."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.cell_family import CellFamily
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem

INNER_STEPS = 4


@problem
class SoftQuadraticPP(CellFamily, DiagonalOracle):
    """``h = 1/(eta 2^T m)`` in every direction, with eta = 1/13, m = 4 and the T of Theorem 4.4 at the cell.

    The minimiser is ``ones/sqrt(d)``. The initial gap ``h/2`` shrinks with n, so that a slope of -1 is nearly
    automatic; the ratio of the final gap to it says more.
    """

    name = "soft_quadratic_pp"
    summary = "family of quadratic oracles matched to the schedule of DP-SVRG++ at each n"
    source = "instance `soft_quadratic_pp` for Wang, Ye, Xu 2017, Theorem 4.4"
    default_dimension = 8
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})

    @property
    def epochs(self) -> int:
        """T of Theorem 4.4: ``log2(n eps/(G sqrt(d l)))``, rounded."""
        return max(1, round(math.log2(self.signal_to_noise(self.dimension))))

    @property
    def spectrum(self) -> np.ndarray:
        return np.full(self.dimension, min(1.0, 13.0 / (2**self.epochs * INNER_STEPS)))

    @property
    def optimum(self) -> np.ndarray:
        return np.full(self.dimension, self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """G = L = 1 declared (nominal), the exact initial gap and distance."""
        return self.declared()
