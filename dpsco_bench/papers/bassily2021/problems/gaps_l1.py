"""Evenly spread means on the unit l1 ball: good coordinates differ little from the best."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.signs import SignsL1


@problem
class GapsL1(SignsL1):
    """``z in {+-1}^d`` with mean ``mu_j = j/(d - 1)``, ``j = 0..d-1``; there is no free signal."""

    name = "gaps_l1"
    summary = "linear losses with evenly spread means on the unit l1 ball; population risk"
    source = "instance `gaps_l1` for Bassily, Guzman, Nandi 2021, Theorem 4"
    signal_option: ClassVar[str] = ""
    signal = 1.0
    least_dimension = 2

    @property
    def means(self) -> np.ndarray:
        return np.linspace(0.0, 1.0, self.dimension)[None, :]
