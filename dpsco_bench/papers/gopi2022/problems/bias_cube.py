"""Biased unit vectors on the cube: population risk of the regularised draw, whose coordinates are independent."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.papers.gopi2022.laws.counts import signed_count_law
from dpsco_bench.papers.gopi2022.laws.truncated import tilted_gap
from dpsco_bench.papers.gopi2022.problems.regularised_law import RegularisedLaw
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.base import Constants, option
from dpsco_bench.problems.onehot import Onehot
from dpsco_bench.problems.registry import problem


@problem
class BiasCube(RegularisedLaw, Onehot):
    """`Onehot` on the cube with ``b = min(1, signal sqrt(d/n))``, as a problem of the exponential mechanism."""

    name = "bias_cube"
    summary = "linear losses with biased unit vectors on the cube; population risk"
    source = "instance `bias_cube` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 4"
    has_loss_values: ClassVar[bool] = False
    closed_form_error: ClassVar[float] = 1e-9
    p = math.inf
    unit_name = "statistical"
    signal = option(1.0, "b = min(1, signal sqrt(d/n))")
    declared_smoothness = 0.0

    @property
    def own_constants(self) -> Constants:
        """G = 1 in l_inf, S = 2, D = 2."""
        return Constants(
            1.0,
            0.0,
            initial_distance=math.sqrt(self.dimension),
            diameter=2.0,
            norm=math.inf,
            hessian_rank=0.0,
            domain="linf_ball",
            losses="linear",
        )

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.dimension)

    def mean_excess(self, k: float, mu: float) -> float:
        """``b E[1 - x_j]`` over the law of one coordinate of the mean record, of the first signal."""
        n, d, bias = self.count, self.dimension, float(self.strengths[0])
        values, law = signed_count_law(n, (0.5 + 0.5 * bias) / d, (0.5 - 0.5 * bias) / d)
        kept = (law > 1e-14 * law.max()) & (np.abs(values) <= n)
        means, law = values[kept] / n, law[kept]
        gaps: Any = np.clip(1.0 - means / mu, 0.0, 2.0) if math.isinf(k) else tilted_gap(k * means, 0.5 * k * mu)
        return bias * float(np.sum(law * gaps) / np.sum(law))
