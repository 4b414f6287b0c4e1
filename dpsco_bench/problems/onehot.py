"""Records with one entry, on the unit l_p ball for p >= 2: the population that noisy SGD is measured on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.problems.base import Draws, option
from dpsco_bench.problems.linear_losses import LinearLosses
from dpsco_bench.problems.linear_samples import OneHotSample
from dpsco_bench.problems.registry import problem


@problem
class Onehot(LinearLosses):
    """``z = +-e_J`` with J uniform and ``P(+) = (1 + b)/2``, so that the mean is ``b/d`` everywhere.

    ``b = min(1, signal * unit)`` with ``unit = max{sqrt(d/n), d sqrt(l)/(eps n)}``, or its first term alone.
    """

    name = "onehot"
    summary = "linear losses with one-entry records on the unit l_p ball, p >= 2; population risk"
    source = "instance `onehot` for Bassily, Guzman, Nandi 2021, Proposition 13"
    default_dimension = 8
    p: float = option("inf", within="[2, inf]")
    unit_name: str = option(
        "both",
        "of the signal: both terms, or the first alone, for runs without noise",
        choices=("both", "statistical"),
        key="unit",
    )
    signal = option(1.0, "b = min(1, signal * unit)")

    @property
    def unit(self) -> float:
        """As the option says, at the cell's n, epsilon and delta."""
        n, d = self.count, self.dimension
        noise = d * math.sqrt(-math.log(self.delta)) / (self.epsilon * n) if self.unit_name == "both" else 0.0
        return max(math.sqrt(d / n), noise)

    @property
    def means(self) -> np.ndarray:
        return np.repeat(self.strengths[:, None] / self.dimension, self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        return OneHotSample(n, self.dimension, draws, 0.5 + 0.5 * self.strengths)
