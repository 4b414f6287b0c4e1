"""A polytope given by its vertices: linear losses over the cube, with all its corners listed."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.papers.bassily2021.polytope import Polytope
from dpsco_bench.problems.base import Constants, Draws, option
from dpsco_bench.problems.linear_losses import LinearLosses
from dpsco_bench.problems.linear_samples import OneHotSample
from dpsco_bench.problems.needle_l1 import last_laplace_scale
from dpsco_bench.problems.registry import problem


@problem
class CubeVertices(LinearLosses):
    """``f(x, z) = -<x, z>`` over conv{+-1}^d by its K = 2^d corners, ``z = +-e_J`` with ``P(+) = (1 + b)/2``.

    The norm is that of the cube, l_inf, in which the losses have L0 = 1 and the cube M = 2. The mean is ``b/d``
    everywhere, ``b = min(1, signal * unit)`` with ``unit = b_N ln K``, b_N the last Laplace scale of Algorithm 1.
    """

    name = "cube_vertices"
    summary = "linear losses over the cube as a polytope with listed vertices; population risk"
    source = "instance of ours for Bassily, Guzman, Nandi 2021, Theorem 4, on polytopes other than the l1 ball"
    default_dimension = 6
    p = math.inf
    signal = option(0.7, "b = min(1, signal * unit)")
    declared_smoothness = option(0.0)

    def checked_dimension(self, d: int | None) -> int:
        found = super().checked_dimension(d)
        if not 2 <= found <= 12:
            raise InputError("d", found, "an integer from 2 to 12, for 2^d vertices")
        return found

    @property
    def own_constants(self) -> Constants:
        """L0 = 1 and M = 2 in l_inf; the domain named by the number of its vertices."""
        return Constants(
            1.0,
            self.declared_smoothness,
            initial_gap=1.0,
            initial_distance=1.0,
            diameter=2.0,
            domain=f"polytope:{2**self.dimension}",
            norm=math.inf,
            hessian_rank=0.0,
        )

    @cached_property
    def feasible_set(self) -> Polytope:
        """The corners."""
        return Polytope(np.array(list(product((1.0, -1.0), repeat=self.dimension))))

    @property
    def unit(self) -> float:
        return last_laplace_scale(self, 2**self.dimension) * self.dimension * math.log(2.0)

    @property
    def means(self) -> np.ndarray:
        return np.repeat(self.strengths[:, None] / self.dimension, self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        return OneHotSample(n, self.dimension, draws, 0.5 + 0.5 * self.strengths)
