"""Mean estimation with all records at the centre of a unit set: a negative control for bounds by Gaussian widths."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from dpsco_bench.plain import Schedule
from dpsco_bench.problems.quadratic import MeanOracle
from dpsco_bench.problems.registry import problem


@problem
class InteriorMean(MeanOracle):
    """``F(x) = ||x||^2/2`` over a unit set."""

    name = "interior_mean"
    summary = "mean estimation oracle whose optimum is the centre of a unit set"
    source = "instance `interior_mean` for Su, Zhao, Wang 2023, Theorem 4 (erratum E4b)"
    default_dimension = 256

    @cached_property
    def record(self) -> np.ndarray:
        return np.zeros(self.dimension)

    def expected_gap(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """``d s1^2/(2 n^2)`` for Algorithm 2 with lambda = 0, as long as the noisy minimiser stays inside the set."""
        if algorithm != "su2023.app_objp_sc":
            return super().expected_gap(algorithm, schedule, scales)
        return self.dimension * (scales["linear term"] / schedule["n"]) ** 2 / 2.0
