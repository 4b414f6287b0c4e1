"""A linear loss on the unit l_p ball, without noise, in a Gaussian direction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.direction_losses import DirectionLosses
from dpsco_bench.problems.registry import problem


@problem
class LpBallLinear(DirectionLosses):
    """``f(x, z) = <m, x>`` over the unit l_p ball, m a Gaussian direction with ``||m||_q = s``; every record is m.

    G = 1 in l_q, H = 0; the excess is ``<m, x> + s``.

    Parameters
    ----------
    d : int
        Dimension, default 16.
    p : float
        Norm of the ball, in (1, 2].
    signal, constants
        As in `DirectionLosses`.
    """

    name = "lp_ball"
    summary = "a linear loss in a Gaussian direction on the unit l_p ball, without noise"
    source = "instance `lp_ball` for Zhang, Tran, Cutkosky 2022"
    default_dimension: ClassVar[int] = 16
    signal_option: ClassVar[str] = "signal"

    def __init__(
        self, d: int | None = None, p: float = 1.5, signal: float = 0.5, constants: dict[str, float] | None = None
    ) -> None:
        if isinstance(p, bool) or not isinstance(p, int | float) or not 1 < p <= 2:
            raise InputError("p", p, "in (1, 2]")
        self.p = float(p)
        self.exponent = dual_exponent(self.p)
        super().__init__(d, 0.0, signal, constants)

    @property
    def own_constants(self) -> Constants:
        """See the class."""
        domain = "l2_ball" if self.p == 2.0 else f"lp_ball:{self.p!r}"
        distance = max(1.0, self.dimension ** (0.5 - 1.0 / self.p))
        return Constants(
            1.0, 0.0, initial_distance=distance, diameter=2.0, norm=self.p, hessian_rank=0.0, domain=domain
        )

    def optimum(self, data: Any) -> np.ndarray:
        """The point of the ball at which ``<m, x>`` is least, in every row."""
        return feasible_set(self.own_constants.domain, 1.0).minimise_linear(data.means)
