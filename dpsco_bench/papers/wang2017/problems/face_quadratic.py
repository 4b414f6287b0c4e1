"""A quadratic over the l1 ball whose minimiser lies on a face."""

from __future__ import annotations

import numpy as np

from dpsco_bench.geometry.ball import Ball
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem

SUPPORT = 8


@problem
class FaceQuadratic(DiagonalOracle):
    """``F(x) = (1/2) ||x - x*||^2`` over the unit l1 ball, ``x* = 1/8`` on the first 8 coordinates."""

    name = "face_quadratic"
    summary = "quadratic oracle over the l1 ball, minimiser on a face with 8 vertices"
    source = "instance `face_quadratic` for row [29] of Wang, Ye, Xu 2017, Table 3"
    default_dimension = 64
    least_dimension = SUPPORT

    @property
    def spectrum(self) -> np.ndarray:
        return np.ones(self.dimension)

    @property
    def optimum(self) -> np.ndarray:
        """1/8 on the first 8 coordinates."""
        return np.where(np.arange(self.dimension) < SUPPORT, 1.0 / SUPPORT, 0.0)

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal), also in the maximum norm; L = mu = 1; the exact initial gap and distance."""
        return self.declared(Ball("l1_ball", 1.0), strong_convexity=1.0)
