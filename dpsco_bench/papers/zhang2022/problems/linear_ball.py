"""Linear losses on the unit l2 ball, in a uniform direction with Rademacher noise."""

from __future__ import annotations

from typing import ClassVar

from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.direction_losses import DirectionLosses
from dpsco_bench.problems.registry import problem


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
