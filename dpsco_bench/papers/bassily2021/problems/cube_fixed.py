"""Records at the corners of a cube in a fixed cyclic pattern, so that the mean of the sample is exact."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.problems.base import Draws, option
from dpsco_bench.problems.cube import Cube
from dpsco_bench.problems.linear_samples import ShiftedRows
from dpsco_bench.problems.registry import problem


@problem
class CubeFixed(Cube):
    """Column j has ``k = round(n (1 + tau)/2)`` pluses in rows ``(i + floor(j n/d)) mod n``; empirical risk.

    It stands in for the paper's hard data set, a fingerprinting code, which is not constructive.
    """

    name = "cube_fixed"
    summary = "linear losses with a fixed pattern of signs on the unit l_p ball, 1 < p <= 2; empirical risk"
    source = "instance `cube_fixed` for Bassily, Guzman, Nandi 2021, Theorems 10 and 19"
    population: ClassVar[bool] = False
    unit_name = option("empirical")

    @property
    def pluses(self) -> np.ndarray:
        """Pluses per column at each signal, shape ``(S,)``."""
        return np.round(0.5 * self.count * (1.0 + self.strengths)).astype(np.int64)

    @property
    def means(self) -> np.ndarray:
        """``(2k/n - 1) d^(-1/q)`` everywhere."""
        return self.scale * np.repeat((2.0 * self.pluses / self.count - 1.0)[:, None], self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        """The pattern; ``n`` is the cell's."""
        return ShiftedRows(n, self.dimension, draws, self.pluses, self.scale)
