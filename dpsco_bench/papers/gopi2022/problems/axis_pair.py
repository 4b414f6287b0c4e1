"""A pair of neighbouring data sets on the axis of the unit l2 ball, on which the privacy of the draw is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.privacy_curve import pair_epsilon
from dpsco_bench.papers.gopi2022.problems.axis_linear import AxisLinear
from dpsco_bench.privacy.temperature import Temperature
from dpsco_bench.problems.base import option
from dpsco_bench.problems.cell_family import CellFamily
from dpsco_bench.problems.registry import problem


@problem
class AxisPair(AxisLinear, CellFamily):
    """`AxisLinear` with p = 2, and the exact privacy of one draw on data sets that differ in one record, ``+-e_1``.

    Their mean records are ``a mu +- 1/n``, so that without the boundary both laws would be Gaussians around a.
    """

    name = "axis_pair"
    summary = "neighbouring data sets on the axis of the unit l2 ball: exact privacy of the draw"
    source = "instance `axis_pair` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 2"
    signal_option: ClassVar[str] = "centre"
    p = 2.0
    centre: float = option(0.0, "a: the mean records are a mu +- 1/n", within="[0, inf)")

    def expected_extras(
        self, algorithm: str, schedule: Mapping[str, Any], scales: Mapping[str, float]
    ) -> dict[str, float]:
        """``epsilon_pair``: the exact epsilon at the cell's delta; none without noise."""
        (scale,) = scales.values()
        if scale == 0.0:
            return {}
        k, mu = Temperature.of(schedule).at(scale)
        c, middle, shift = k * mu * self.regulariser.coefficient, k * mu * self.centre, k / self.count
        first, second = (AxisLaw(2.0, self.dimension, middle + sign * shift, c) for sign in (1.0, -1.0))
        return {"epsilon_pair": pair_epsilon(first, second, self.delta)}
