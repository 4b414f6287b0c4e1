"""Evenly spread means on the unit l1 ball: good coordinates differ little from the best."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.signs_l1 import SignsL1


@problem
class GapsL1(SignsL1):
    """``z in {+-1}^d`` with mean ``mu_j = j/(d - 1)``, ``j = 0..d-1``; there is no free signal.

    Parameters
    ----------
    d : int
        Dimension, at least 2, default 64.
    declared_smoothness
        As in `LinearLosses`; the declared L1 is 0.
    """

    name = "gaps_l1"
    summary = "linear losses with evenly spread means on the unit l1 ball; population risk"
    source = "instance `gaps_l1` for Bassily, Guzman, Nandi 2021, Theorem 4"
    signal_option: ClassVar[str] = ""

    def __init__(
        self, d: int | None = None, declared_smoothness: float = 0.0, constants: dict[str, float] | None = None
    ) -> None:
        super().__init__(d, 1.0, declared_smoothness, constants)
        if self.dimension < 2:
            raise InputError("d", self.dimension, "an integer >= 2")

    @property
    def means(self) -> np.ndarray:
        """``j/(d - 1)``."""
        return np.linspace(0.0, 1.0, self.dimension)[None, :]
