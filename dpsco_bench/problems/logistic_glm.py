"""Logistic regression over a unit set: the instance on which the certified solver has work to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.problems.base import Constants, Data, StreamFactory
from dpsco_bench.problems.certified import minimise_over_set
from dpsco_bench.problems.glm import Logistic
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import OnUnitSet, on_unit_set

Array = Any


@problem
class LogisticGlm(OnUnitSet, Logistic):
    """Rows uniform on the unit sphere, labels ``sign(<a, 1> + 0.3 N(0, 1))``, over a unit set; L = 1, beta = 1/4."""

    name = "logistic_glm"
    summary = "logistic loss on the unit sphere over a unit set (l1, l2, k-support, group, subspace)"
    source = "instance `logistic_glm` for Su, Zhao, Wang 2023, Theorem 1"
    default_dimension = 20

    @property
    def own_constants(self) -> Constants:
        """L = 1, beta = 1/4, Hessians of rank 1."""
        return on_unit_set(self.set, 1.0, 0.25, hessian_rank=1.0, initial_distance=1.0)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """``n`` rows; record i depends on i alone."""
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        noise = streams("labels").normal(0, 1, 0, n, 1)[0, :, 0].astype(np.float64)
        return Data(n, rows, np.where(rows.sum(axis=1) + 0.3 * noise >= 0.0, 1.0, -1.0))

    def optimal_risk(self, data: Data) -> float:
        """Minimum over the set, by accelerated steps until the Frank-Wolfe gap is at rounding level."""
        point = minimise_over_set(self, data, self.set)
        return float(self.risk(point[None, :], data)[0])
