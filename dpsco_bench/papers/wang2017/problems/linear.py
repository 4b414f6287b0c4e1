"""Linear oracles of Wang, Ye, Xu 2017, whose slope is matched to a method's schedule or bound at each n."""

from __future__ import annotations

from functools import cached_property
from math import log, sqrt
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import BALLS, Ball
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.papers.wang2017.problems.quadratics import L1_BALL, MirrorDescentFamily, OnBall
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.constants import CURVED, STRONG
from dpsco_bench.problems.data import opposite
from dpsco_bench.problems.families import CellFamily
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import problem

Array = Any


class LinearOracle(OnBall):
    """``F(x) = -<c, x>`` over a ball, for every record, c along the first axis; the minimum is ``-R ||c||_*``."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    shares_records = True
    default_dimension = 64

    @property
    def slope(self) -> np.ndarray:
        raise InputError("problem", self.name, "a linear oracle that defines its slope")

    @property
    def own_constants(self) -> Constants:
        """G = L = 1 declared, G nominal where c is longer; the exact initial gap."""
        size, ball = float(self.slope[0]), self.ball
        found = Constants(1.0, 1.0, initial_gap=size, initial_distance=1.0, diameter=ball.diameter, domain=ball.name)
        return found if size <= 1.0 else found.but(status="nominal")

    def mean_gradient(self, x: Array, data: Data) -> Array:
        return 0.0 * x - array_namespace(x).asarray(self.slope, dtype=x.dtype)

    def risk(self, x: Array, data: Data) -> Array:
        xp = array_namespace(x)
        return -xp.sum(xp.asarray(self.slope, dtype=x.dtype) * x, axis=-1)

    def optimal_risk(self, data: Data) -> float:
        dual = np.abs(self.slope).max() if self.ball.name == "l1_ball" else np.linalg.norm(self.slope)
        return -self.ball.radius * float(dual)


@problem
class L1Linear(MirrorDescentFamily, LinearOracle):
    """``F(x) = -<c, x>`` on the unit ball, ``c = (4 Lc B/T^2) e_1`` with the T of Theorem 5.4 (K = 1) at the cell.

    The bound's scale is built in and the bias dominates, so that a matching slope says little.
    """

    name = "l1_linear"
    summary = "family of linear oracles on the unit l1 or l2 ball matched to the schedule of DP-AccMD at each n"
    source = "instance `l1_linear` for Wang, Ye, Xu 2017, Theorem 5.4"
    ball_name: str = option("l1_ball", "norm of the ball", choices=BALLS, key="ball")

    @cached_property
    def ball(self) -> Ball:
        return Ball(self.ball_name, 1.0)

    @property
    def slope(self) -> np.ndarray:
        T, B = self.mirror_descent_steps(1.0), ball_geometry(self.ball).bregman_radius(self.dimension)
        return 4 * self.ball.diameter**2 * B / T**2 * np.eye(1, self.dimension)[0]


@problem
class SignedLinear(GeneralisedLinear):
    """``f(x, y) = y x_1`` with ``y = +-1``, and a ridge that hardly matters: gradients do not depend on x.

    Variance-reduced steps have no difference d here, so that every query is v plus noise and the output is normal.
    """

    name = "signed_linear"
    summary = "linear losses of one direction and either sign with a tiny ridge on the whole space"
    source = "instance `linear` for Wang, Ye, Xu 2017, Theorems 4.1 and 4.3 (ours)"
    default_dimension = 1
    traits = CURVED | STRONG | {Trait.LINEAR_LOSS, Trait.GENERALISED_LINEAR}
    ridge: float = option(4.8e-5, "lambda; by default 1e-6/eta of DP-SVRG's step", within="(0, inf)")

    @property
    def own_constants(self) -> Constants:
        """G = 1; L = 1 declared, the Hessians are zero; mu = lambda, ``D0 = 1/(2 lambda)``."""
        gap = 0.5 / self.ridge
        return Constants(1.0, 1.0, strong_convexity=self.ridge, regularisation=self.ridge, initial_gap=gap)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Alternating signs: nothing is random."""
        return self.domain_records(n, 0)

    def loss(self, margins: Array, labels: Array) -> Array:
        return labels * margins

    def slope(self, margins: Array, labels: Array) -> Array:
        return labels + 0.0 * margins

    def curvature(self, margins: Array, labels: Array) -> Array:
        return 0.0 * (margins + labels)

    def optimal_risk(self, data: Data) -> float:
        """``-mean(y)^2/(2 lambda)``."""
        return -0.5 * float(np.mean(data.labels)) ** 2 / self.ridge

    def opposed_records(self, distance: float, order: float) -> Data | None:
        found = opposite(np.eye(self.dimension)[0], distance, order)
        return None if found is None else self.domain_records(2, 0)

    def domain_records(self, count: int, seed: int) -> Data:
        return Data(count, np.tile(np.eye(1, self.dimension), (count, 1)), np.where(np.arange(count) % 2, -1.0, 1.0))


@problem
class MdLinear(CellFamily, LinearOracle):
    """``F(x) = -<c, x>`` over the unit l1 ball, ``c = 2 sqrt(B W) ln(n/delta)/(n eps) e_1``: the scale is built in."""

    name = "md_linear"
    summary = "family of linear oracles over the l1 ball with a slope of the size of the noisy mirror descent bound"
    source = "instance `md_linear` for row [28] of Wang, Ye, Xu 2017, Table 3"
    ball = L1_BALL

    @property
    def slope(self) -> np.ndarray:
        geometry, d = ball_geometry(self.ball), self.dimension
        size = 2 * sqrt(geometry.bregman_radius(d) * geometry.squared_width(d)) * log(self.count / self.delta)
        return size / (self.count * self.epsilon) * np.eye(1, d)[0]
