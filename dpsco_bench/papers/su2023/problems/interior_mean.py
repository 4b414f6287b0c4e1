"""Mean estimation with all records at the centre of a unit set: a negative control for bounds by Gaussian widths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_bench.problems.mean_loss import MeanOracle
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import unit_set


@problem
class InteriorMean(MeanOracle):
    """``F(x) = ||x||^2/2`` over a unit set.

    Parameters
    ----------
    d : int
        Dimension, default 256.
    domain : str
        ``l1_ball``, ``l2_ball``, ``k_support_ball``, ``group_ball`` or ``subspace_ball``.
    size : int
        k of a k-support or subspace ball, block size of a group ball; None for the others.
    """

    name = "interior_mean"
    summary = "mean estimation oracle whose optimum is the centre of a unit set"
    source = "instance `interior_mean` for Su, Zhao, Wang 2023, Theorem 4 (erratum E4b)"
    default_dimension = 256

    def __init__(
        self,
        d: int | None = None,
        domain: str = "l2_ball",
        size: int | None = None,
        constants: dict[str, float] | None = None,
    ) -> None:
        dimension = self.default_dimension if d is None else d
        self.set, self.record = unit_set(domain, size, dimension), np.zeros(dimension)
        super().__init__(d, constants)

    def expected_gap(self, algorithm: str, schedule: Mapping[str, Any], scales: Mapping[str, float]) -> float:
        """``d s1^2/(2 n^2)`` for Algorithm 2 with lambda = 0, as long as the noisy minimiser stays inside the set."""
        if algorithm != "su2023.app_objp_sc":
            return super().expected_gap(algorithm, schedule, scales)
        return self.dimension * (scales["linear term"] / schedule["n"]) ** 2 / 2.0
