"""Records at the corners of a cube with independent, slightly biased signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.problems.base import Draws
from dpsco_bench.problems.cube import Cube
from dpsco_bench.problems.linear_samples import SignSample
from dpsco_bench.problems.registry import problem


@problem
class CubeIid(Cube):
    """``z in {+-d^(-1/q)}^d`` with independent signs, ``P(+) = (1 + tau)/2`` and ``tau = min(1, signal * unit)``.

    Parameters
    ----------
    d : int
        Dimension, default 32.
    p : float
        Norm of the ball, in (1, 2].
    norm_kappa : float, optional
        Gives p by ``kappa = 1/(p - 1)``, for sweeps over kappa.
    unit : str
        As in `Cube`, default ``population``.
    signal, declared_smoothness
        As in `LinearLosses`.
    """

    name = "cube_iid"
    summary = "linear losses with independent signs on the unit l_p ball, 1 < p <= 2; population risk"
    source = "instance `cube_iid` for Bassily, Guzman, Nandi 2021, Theorems 10 and 12"

    def __init__(
        self,
        d: int | None = None,
        p: float = 1.5,
        norm_kappa: float | None = None,
        unit: str = "population",
        signal: float = 1.0,
        declared_smoothness: float = 1.0,
        constants: dict[str, float] | None = None,
    ) -> None:
        super().__init__(d, p, norm_kappa, unit, signal, declared_smoothness, constants)

    @property
    def means(self) -> np.ndarray:
        """``tau d^(-1/q)`` everywhere."""
        return self.scale * np.repeat(self.strengths[:, None], self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        """Independent signs."""
        chances = np.repeat((0.5 + 0.5 * self.strengths)[:, None], self.dimension, axis=1)
        return SignSample(n, draws, chances, self.scale)
