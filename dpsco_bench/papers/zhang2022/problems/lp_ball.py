"""A linear loss on the unit l_p ball, without noise, in a Gaussian direction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.base import Constants, option
from dpsco_bench.problems.direction_losses import DirectionLosses
from dpsco_bench.problems.registry import problem


@problem
class LpBallLinear(DirectionLosses):
    """``f(x, z) = <m, x>`` over the unit l_p ball, m a Gaussian direction with ``||m||_q = s``; every record is m.

    G = 1 in l_q, H = 0; the excess is ``<m, x> + s``.
    """

    name = "lp_ball"
    summary = "a linear loss in a Gaussian direction on the unit l_p ball, without noise"
    source = "instance `lp_ball` for Zhang, Tran, Cutkosky 2022"
    default_dimension: ClassVar[int] = 16
    p: float = option(1.5, "norm of the ball", within="(1, 2]")
    spread = 0.0

    def prepare(self) -> None:
        """Directions have length 1 in l_q."""
        self.exponent = dual_exponent(self.p)

    @property
    def own_constants(self) -> Constants:
        domain = "l2_ball" if self.p == 2.0 else f"lp_ball:{self.p!r}"
        distance = max(1.0, self.dimension ** (0.5 - 1.0 / self.p))
        return Constants(
            1.0, 0.0, initial_distance=distance, diameter=2.0, norm=self.p, hessian_rank=0.0, domain=domain
        )

    def optimum(self, data: Any) -> np.ndarray:
        """The point of the ball at which ``<m, x>`` is least, in every row."""
        return feasible_set(self.own_constants.domain, 1.0).minimise_linear(data.means)
