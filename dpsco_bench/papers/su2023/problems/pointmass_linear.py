"""A linear loss with all records equal: over a unit set, only the noise makes the risk random."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.families import OnUnitSet, SignalFamily, on_unit_set, sparse_vertex
from dpsco_bench.problems.registry import problem

Array = Any


@problem
class PointmassLinear(OnUnitSet, SignalFamily):
    """``F(x) = -rho <x, u>`` over a unit set, u its sparse vertex, rho the signal; L = 1 is declared.

    Without a sampling error the excess risk is all due to privacy.
    """

    name = "pointmass_linear"
    summary = "linear oracle over a unit set (l1, l2, k-support, group, subspace) with a free signal"
    source = "instance `pointmass_linear` for Su, Zhao, Wang 2023, Theorem 2"
    traits = frozenset(
        {
            Trait.CONVEX,
            Trait.SMOOTH,
            Trait.LIPSCHITZ,
            Trait.TWICE_DIFFERENTIABLE,
            Trait.LINEAR_LOSS,
            Trait.PLANE_GRADIENTS,
        }
    )
    shares_records: ClassVar[bool] = True
    default_dimension: ClassVar[int] = 64
    reference: ClassVar[tuple[int, float, float]] = (4096, 1.0, 1e-6)
    signal = option(1.0, "rho, at most 1 in effect")

    @cached_property
    def vertex(self) -> np.ndarray:
        return sparse_vertex(self.domain, self.size, self.dimension)

    @property
    def own_constants(self) -> Constants:
        """L = 1 is declared, and beta = 1, although the Hessian is zero.

        The ridge of Kifer, Smith, Thakurta 2012, the second method of row [31] of Table 1, is 2 beta/eps: with beta = 0
        the perturbed objective would be linear. Algorithm 1 does not see beta, the Hessian's rank being 0.
        """
        return on_unit_set(self.set, 1.0, 1.0, hessian_rank=0.0, initial_distance=1.0)

    def row_size(self, n: int) -> int:
        return self.dimension

    def mean_gradient(self, x: Array, data: Any) -> Array:
        return 0.0 * x - self.by_row(self.strengths, x) * array_namespace(x).asarray(self.vertex, dtype=x.dtype)

    def risk(self, x: Array, data: Any) -> Array:
        return self.excess_risk(x, data) - self.by_row(self.strengths, x)[:, 0]

    def optimal_risk(self, data: Any) -> float:
        """``-rho``, at u; of the first signal."""
        return -float(self.strengths[0])

    def excess_risk(self, x: Array, data: Any) -> Array:
        xp = array_namespace(x)
        product = xp.sum(xp.asarray(self.vertex, dtype=x.dtype) * x, axis=-1)
        return self.by_row(self.strengths, x)[:, 0] * (1.0 - product)
