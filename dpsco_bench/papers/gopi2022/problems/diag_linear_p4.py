"""A linear loss along the diagonal of the unit l_4 ball, of a strength matched to the temperature."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpsco_bench.papers.gopi2022.problems.regularised_law import SharedLinear
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.cell_family import CellFamily
from dpsco_bench.problems.registry import problem


@problem
class DiagLinearP4(SharedLinear, CellFamily):
    """All s equal ``g d^(-3/4) (1, ..., 1)``, of dual norm ``g = min(1, 4 d/k)``, calibrated with G = 1.

    Here ``k = n t sqrt(d/Theta)`` with the paper's ``t = eps/sqrt(2 ln(1/(2 delta)))``, S = G and ``Theta = d^(1/2)/2``
    decides g alone, whatever the calibration.
    """

    name = "diag_linear_p4"
    summary = "weak linear loss along the diagonal of the unit l_4 ball; empirical risk"
    source = "instance `diag_linear_p4` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 4"
    default_dimension = 4
    algorithms: ClassVar[tuple[str, ...]] = ()
    p = 4.0
    reference: ClassVar[tuple[int, float, float]] = (1_000_000, 1.0, 1e-6)

    @property
    def strength(self) -> float:
        """G."""
        t = self.epsilon / math.sqrt(2.0 * math.log(0.5 / self.delta))
        k = self.count * t * math.sqrt(self.dimension / self.regulariser.theta(1.0))
        return min(1.0, 4.0 * self.dimension / k)

    @property
    def slope(self) -> np.ndarray:
        return np.full(self.dimension, self.strength * self.dimension**-0.75)

    @property
    def own_constants(self) -> Constants:
        """As of all losses of the domain."""
        return super().own_constants
