"""Records at the corners of a cube in a fixed cyclic pattern, so that the mean of the sample is exact."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.problems.base import Draws, option
from dpsco_bench.problems.cube import Cube
from dpsco_bench.problems.linear_samples import LinearSample
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


class ShiftedRows(LinearSample):
    """A fixed sample: column j has its pluses in rows ``(i + floor(j n/d)) mod n``, ``i < k``; nothing is random.

    Parameters
    ----------
    pluses : array (S,), k, of every column
    """

    def __init__(self, n: int, d: int, draws: Draws, pluses: np.ndarray, scale: float) -> None:
        super().__init__(n, d, draws, len(pluses))
        self.pluses, self.scale = pluses, scale
        self._offsets = np.arange(d) * n // d

    def mean(self, first: int, count: int) -> np.ndarray:
        """All records together have the mean that the signal sets, exactly."""
        if count < self.n:
            return super().mean(first, count)
        means = np.repeat(self.scale * (2.0 * self.pluses / self.n - 1.0), self.replicates)
        return np.broadcast_to(means[:, None], (self.rows, self.d))

    def chosen(self, indices: np.ndarray) -> np.ndarray:
        """A record is a plus where it lies less than k rows behind the column's offset, cyclically."""
        _, k = self.per_row(self.pluses, 2)
        behind = indices[:, :, None] - self._offsets
        plus = ((behind >= 0) & (behind < k)) | (behind < k - self.n)
        return np.where(plus, self.scale, -self.scale)
