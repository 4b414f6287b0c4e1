"""A linear loss over the l1 ball whose slope is the bound of noisy mirror descent itself."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dpsco_bench.geometry.ball import Ball
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.papers.wang2017.oracles import LinearOracle
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.cell_family import CellFamily
from dpsco_bench.problems.registry import problem


@problem
class MdLinear(CellFamily, LinearOracle):
    """``F(x) = -<c, x>`` over the unit l1 ball, ``c = 2 sqrt(B W) ln(n/delta)/(n eps) e_1``: the scale is built in."""

    name = "md_linear"
    summary = "family of linear oracles over the l1 ball with a slope of the size of the noisy mirror descent bound"
    source = "instance `md_linear` for row [28] of Wang, Ye, Xu 2017, Table 3"
    default_dimension = 64

    @property
    def feasible(self) -> Ball:
        return Ball("l1_ball", 1.0)

    @property
    def slope(self) -> np.ndarray:
        geometry, d = ball_geometry(self.feasible), self.dimension
        size = 2 * sqrt(geometry.bregman_radius(d) * geometry.squared_width(d)) * log(self.count / self.delta)
        return size / (self.count * self.epsilon) * np.eye(1, d)[0]

    @property
    def own_constants(self) -> Constants:
        """G = L = 1 declared, nominal where c is longer; the exact initial gap."""
        size, ball = float(self.slope[0]), self.feasible
        return Constants(
            1.0,
            1.0,
            initial_gap=size,
            initial_distance=1.0,
            diameter=ball.diameter,
            domain=ball.name,
            status="global" if size <= 1.0 else "nominal",
        )
