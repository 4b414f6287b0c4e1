"""What the l1 instances share: records of independent signs on the unit l1 ball."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.problems.base import Draws
from dpsco_bench.problems.linear_losses import LinearLosses
from dpsco_bench.problems.linear_samples import SignSample


class SignsL1(LinearLosses):
    """``z in {+-1}^d`` with independent signs on the unit l1 ball, whose 2d vertices are ``+-e_j``.

    Parameters
    ----------
    d : int
        Dimension, default 64.
    signal, declared_smoothness
        As in `LinearLosses`; the declared L1 is 0, the true one.
    """

    default_dimension = 64

    def __init__(
        self, d: int | None, signal: float, declared_smoothness: float, constants: dict[str, float] | None = None
    ) -> None:
        super().__init__(d, 1.0, signal, declared_smoothness, constants)

    @property
    def vertices(self) -> int:
        """K = 2d."""
        return 2 * self.dimension

    def sample(self, n: int, draws: Draws) -> Any:
        """Independent signs with the given means."""
        return SignSample(n, draws, 0.5 + 0.5 * np.asarray(self.means), 1.0)
