"""What the l1 instances share: records of independent signs on the unit l1 ball."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.problems.base import Draws, option
from dpsco_bench.problems.linear_losses import LinearLosses
from dpsco_bench.problems.linear_samples import SignSample


class SignsL1(LinearLosses):
    """``z in {+-1}^d`` with independent signs on the unit l1 ball, whose 2d vertices are ``+-e_j``."""

    default_dimension = 64
    p = 1.0
    declared_smoothness = option(0.0)

    @property
    def vertices(self) -> int:
        """K = 2d."""
        return 2 * self.dimension

    def sample(self, n: int, draws: Draws) -> Any:
        """Independent signs with the given means."""
        return SignSample(n, draws, 0.5 + 0.5 * np.asarray(self.means), 1.0)
