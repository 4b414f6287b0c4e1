"""A quadratic of one curvature on an l2 ball: accelerated steps leave of it what their noise does."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpsco_bench.geometry.ball import Ball
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem


@problem
class RoundQuadratic(DiagonalOracle):
    """``F(x) = (1/2) ||x - x*||^2`` on the l2 ball of radius R, with ``x* = signal R e_1``."""

    name = "round_quadratic"
    summary = "quadratic oracle of curvature 1 in all directions on an l2 ball"
    source = "instance `round_quadratic` for Wang, Ye, Xu 2017, Theorem 5.4 (ours)"
    default_dimension = 64
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    radius: float = option(0.5, "of the ball", within="(0, inf)")
    signal: float = option(0.5, "norm of the minimiser, over the radius", within="(0, 1]")

    @cached_property
    def ball(self) -> Ball:
        return Ball("l2_ball", self.radius)

    @property
    def spectrum(self) -> np.ndarray:
        return np.ones(self.dimension)

    @property
    def optimum(self) -> np.ndarray:
        return self.signal * self.radius * np.eye(1, self.dimension)[0]

    @property
    def own_constants(self) -> Constants:
        """G = L = 1 declared; G is true where ``R (1 + signal)`` is at most 1."""
        return self.declared(self.ball)
