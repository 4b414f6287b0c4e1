"""A linear loss with its minimum at a vertex of the unit l1 ball."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpsco_bench.papers.gopi2022.problems.regularised_law import SharedLinear
from dpsco_bench.problems.registry import problem


@problem
class VertexLinearP1(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s = e_1. The regulariser is of another norm: no quadrature is known."""

    name = "vertex_linear_p1"
    summary = "linear loss with its minimum at a vertex of the unit l1 ball; empirical risk"
    source = "instance `vertex_linear_p1` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 3"
    default_dimension = 4
    algorithms: ClassVar[tuple[str, ...]] = ()
    p = 1.0

    @property
    def slope(self) -> np.ndarray:
        return np.eye(1, self.dimension)[0]
