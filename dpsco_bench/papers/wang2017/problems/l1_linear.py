"""A linear loss whose slope is matched to the schedule of accelerated mirror descent at each n."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpsco_bench.geometry.ball import BALLS, Ball
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.papers.wang2017.oracles import LinearOracle
from dpsco_bench.problems.base import Constants, option
from dpsco_bench.problems.cell_family import CellFamily
from dpsco_bench.problems.registry import problem


@problem
class L1Linear(CellFamily, LinearOracle):
    """``F(x) = -<c, x>`` on the unit ball, ``c = (4 Lc B/T^2) e_1`` with the T of Theorem 5.4 (K = 1) at the cell.

    The bound's scale is built in and the bias dominates, so that a matching slope says little.
    """

    name = "l1_linear"
    summary = "family of linear oracles on the unit l1 or l2 ball matched to the schedule of DP-AccMD at each n"
    source = "instance `l1_linear` for Wang, Ye, Xu 2017, Theorem 5.4"
    default_dimension = 64
    ball_name: str = option("l1_ball", "norm of the ball", choices=BALLS, key="ball")

    @cached_property
    def feasible(self) -> Ball:
        return Ball(self.ball_name, 1.0)

    @property
    def slope(self) -> np.ndarray:
        T, B = (
            self.mirror_descent_steps(self.feasible, 1.0),
            ball_geometry(self.feasible).bregman_radius(self.dimension),
        )
        return 4 * self.feasible.diameter**2 * B / T**2 * np.eye(1, self.dimension)[0]

    @property
    def own_constants(self) -> Constants:
        """G = L = 1 declared, G nominal where c is longer; the exact initial gap."""
        size = float(self.slope[0])
        return Constants(
            1.0,
            1.0,
            initial_gap=size,
            initial_distance=1.0,
            diameter=self.feasible.diameter,
            domain=self.feasible.name,
            status="global" if size <= 1.0 else "nominal",
        )
