"""Records at the corners of a cube with independent, slightly biased signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.problems.base import Draws, option
from dpsco_bench.problems.cube import Cube
from dpsco_bench.problems.linear_samples import SignSample
from dpsco_bench.problems.registry import problem


@problem
class CubeIid(Cube):
    """``z in {+-d^(-1/q)}^d`` with independent signs, ``P(+) = (1 + tau)/2`` and ``tau = min(1, signal * unit)``."""

    name = "cube_iid"
    summary = "linear losses with independent signs on the unit l_p ball, 1 < p <= 2; population risk"
    source = "instance `cube_iid` for Bassily, Guzman, Nandi 2021, Theorems 10 and 12"
    unit_name = option("population")

    @property
    def means(self) -> np.ndarray:
        return self.scale * np.repeat(self.strengths[:, None], self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        chances = np.repeat((0.5 + 0.5 * self.strengths)[:, None], self.dimension, axis=1)
        return SignSample(n, draws, chances, self.scale)
