"""Mean estimation with all records at a sparse vertex of a unit set: the optimum lies on the boundary."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpsco_bench.problems.mean_loss import MeanOracle
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import sparse_vertex


@problem
class BoundaryMean(MeanOracle):
    """``F(x) = ||x - u||^2/2`` over a unit set with u its sparse vertex."""

    name = "boundary_mean"
    summary = "mean estimation oracle whose optimum is a sparse vertex of a unit set"
    source = "instance `boundary_mean` for Su, Zhao, Wang 2023, Theorems 4 and 5"
    default_dimension = 256

    @cached_property
    def record(self) -> np.ndarray:
        return sparse_vertex(self.domain, self.size, self.dimension)
