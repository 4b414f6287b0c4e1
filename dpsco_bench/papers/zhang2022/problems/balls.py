"""Linear losses and cones on balls, of Zhang, Tran, Cutkosky 2022."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.base import Constants, option
from dpsco_bench.problems.directions import DirectionLosses
from dpsco_bench.problems.registry import problem


@problem
class AnchoredBall(DirectionLosses):
    """``f(x, z) = <z, x> + (h/2) ||x||^2`` over the unit l2 ball, ``z = s u + a Rad/sqrt(d)``, started at the anchor.

    For s >= h the optimum is -u, and the anchor ``x_0 = -(1 - b) u`` is at distance b from it. G = 1 (hence
    s <= 1 - a - h), H = h, sigma_G = a, sigma_H = 0; the excess is ``<s u, x> + s + (h/2) (||x||^2 - 1)``.
    """

    name = "anchored_ball"
    summary = "slightly curved losses on the unit l2 ball, started near the optimum; population risk"
    source = "instance `anchored_ball` for Zhang, Tran, Cutkosky 2022, Theorem 11"
    default_dimension: ClassVar[int] = 8
    unkeyed_options: ClassVar[tuple[str, ...]] = ("spread", "distance", "curvature")
    distance: float = option(0.25, "b: distance of the optimum from the anchor", within="(0, 1]")
    spread = option(0.25)
    curvature: float = option(1.0 / 64.0, "h", within="(0, inf)")

    def prepare(self) -> None:
        """Check that the optimum is on the sphere, and that G = 1."""
        if self.signal < self.curvature or self.spread + 2.0 * self.curvature >= 1.0:
            allowed = f"at least the curvature {self.curvature:g}, which is below (1 - a)/2"
            raise InputError("signal", self.signal, allowed)

    @property
    def own_constants(self) -> Constants:
        """See the class."""
        return Constants(
            1.0,
            self.curvature,
            initial_distance=self.distance,
            diameter=2.0,
            gradient_deviation=self.spread,
            hessian_rank=0.0,
            domain="l2_ball",
        )

    def starting_points(self, data: Any) -> np.ndarray:
        """``-(1 - b) u`` in every row."""
        return (self.distance - 1.0) * np.tile(data.directions, (len(self.strengths), 1))


@problem
class LinearBall(DirectionLosses):
    """``f(x, z) = <z, x>`` over the unit l2 ball, ``z = s u + a Rad/sqrt(d)``; the excess is ``<s u, x> + s``.

    G = 1 (hence s <= 1 - a), H = 0, sigma_G = a.
    """

    name = "linear_ball"
    summary = "linear losses in a uniform direction on the unit l2 ball; population risk"
    source = "instance `linear_ball` for Zhang, Tran, Cutkosky 2022"
    default_dimension: ClassVar[int] = 8

    @property
    def own_constants(self) -> Constants:
        """See the class."""
        return Constants(
            1.0,
            0.0,
            initial_distance=1.0,
            diameter=2.0,
            gradient_deviation=self.spread,
            hessian_rank=0.0,
            domain="l2_ball",
        )


@problem
class LpBallLinear(DirectionLosses):
    """``f(x, z) = <z, x>`` over the unit l_p ball, ``z = m + a Rad/sqrt(d)``, m a Gaussian direction, ``||m||_q = s``.

    G = 1 in l_q (hence s <= 1 - a), H = 0, sigma_G = a d^(1/q - 1/2); the excess is ``<m, x> + s``.
    """

    name = "lp_ball"
    summary = "linear losses in a Gaussian direction on the unit l_p ball; population risk"
    source = "instance `lp_ball` for Zhang, Tran, Cutkosky 2022"
    default_dimension: ClassVar[int] = 16
    p: float = option(1.5, "norm of the ball", within="(1, 2]")

    def prepare(self) -> None:
        """Directions have length 1 in l_q."""
        self.exponent = dual_exponent(self.p)

    @property
    def own_constants(self) -> Constants:
        domain = "l2_ball" if self.p == 2.0 else f"lp_ball:{self.p!r}"
        distance = max(1.0, self.dimension ** (0.5 - 1.0 / self.p))
        deviation = self.spread * self.dimension ** (1.0 / dual_exponent(self.p) - 0.5)
        return Constants(
            1.0,
            0.0,
            initial_distance=distance,
            diameter=2.0,
            norm=self.p,
            gradient_deviation=deviation,
            hessian_rank=0.0,
            domain=domain,
        )

    def optimum(self, data: Any) -> np.ndarray:
        """Find the point of the ball at which ``<m, x>`` is least, in every row."""
        return feasible_set(self.own_constants.domain, 1.0).minimise_linear(data.means)
