"""The distance from the centre again, with the tail of its law beside the bound of Lemma 5."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.problems.radial_norm import RadialNorm
from dpsco_bench.privacy.temperature import Temperature
from dpsco_bench.problems.registry import problem

SHIFTS = 64
"""Deviations at which the tail is compared, geometric from a thousandth of the largest possible one."""


@problem
class RadialTail(RadialNorm):
    """`RadialNorm` for 1 < p <= 2, and the tail of the loss of a draw.

    Parameters
    ----------
    d : int
        Dimension, default 4.
    p : float
        Norm of the loss and of the ball, in (1, 2], default 2.
    """

    name = "radial_tail"
    summary = "l_p distance from the centre of the unit l_p ball: tail of the loss of the draw"
    source = "instance `radial_norm` for Gopi, Lee, Liu, Shen, Tian 2022, Lemma 5"

    def __init__(self, d: int | None = None, p: float = 2.0, constants: dict[str, float] | None = None) -> None:
        if isinstance(p, bool) or not isinstance(p, int | float) or not 1 < p <= 2:
            raise InputError("p", p, "in (1, 2]")
        super().__init__(d, p, constants)

    def expected_extras(
        self, algorithm: str, schedule: Mapping[str, Any], scales: Mapping[str, float]
    ) -> dict[str, float]:
        """``tail_ratio``: largest ``P(l - E l >= s) exp(s^2 k mu/2)`` over s; none without noise."""
        (scale,) = scales.values()
        if scale == 0.0:
            return {}
        k, mu = Temperature.of(schedule).at(scale)
        law = RadialLaw(self.dimension, k, k * mu * self.regulariser.coefficient)
        shifts = (1.0 - law.mean()) * np.geomspace(1e-3, 0.999, SHIFTS)
        return {"tail_ratio": max(law.tail(float(s)) * math.exp(0.5 * k * mu * s * s) for s in shifts)}
