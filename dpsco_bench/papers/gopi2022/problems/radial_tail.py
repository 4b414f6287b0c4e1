"""The distance from the centre again, with the tail of its law beside the bound of Lemma 5."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.problems.radial_norm import RadialNorm
from dpsco_bench.privacy.temperature import Temperature
from dpsco_bench.problems.base import option
from dpsco_bench.problems.registry import problem

SHIFTS = 64
"""Deviations at which the tail is compared, geometric from a thousandth of the largest possible one."""


@problem
class RadialTail(RadialNorm):
    """`RadialNorm` for 1 < p <= 2, and the tail of the loss of a draw."""

    name = "radial_tail"
    summary = "l_p distance from the centre of the unit l_p ball: tail of the loss of the draw"
    source = "instance `radial_norm` for Gopi, Lee, Liu, Shen, Tian 2022, Lemma 5"
    p: float = option(2.0, within="(1, 2]")

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
