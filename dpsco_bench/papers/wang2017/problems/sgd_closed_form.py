"""The quadratic whose risk under noisy SGD with steps 1/(mu t) has a closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_bench.problems.base import Constants, option
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem


@problem
class SgdClosedForm(DiagonalOracle):
    """``F(x) = (mu/2) ||x - x*||^2`` with the minimiser at distance 1 from the start."""

    name = "sgd_closed_form"
    summary = "isotropic quadratic oracle; closed form for noisy SGD with steps 1/(mu t)"
    source = "instance `sgd_closed_form` for row [6] of Wang, Ye, Xu 2017, Table 1"
    default_dimension = 8
    curvature: float = option(1.0, "mu", within="(0, inf)")

    @property
    def spectrum(self) -> np.ndarray:
        """The same curvature mu in every direction."""
        return np.full(self.dimension, self.curvature)

    @property
    def optimum(self) -> np.ndarray:
        """``ones/sqrt(d)``; the start is the origin."""
        return np.full(self.dimension, self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal), L = mu, the exact initial gap and distance."""
        mu = self.curvature
        return replace(self.declared(), smoothness=mu, strong_convexity=mu)

    def expected_gap(self, algorithm: str, schedule: Mapping[str, Any], scales: Mapping[str, float]) -> float:
        """Exact expected excess risk of noisy SGD, last of T iterates: ``d sigma^2 / (2 mu T)``.

        The first step forgets the start and the iterates are averages of the noise: ``x_T = x* - mean(b_1..b_T)/mu``.
        """
        if algorithm != "wang2017.noisy_sgd_bst14":
            return super().expected_gap(algorithm, schedule, scales)
        return self.dimension * scales["gradient"] ** 2 / (2.0 * self.curvature * schedule["steps"])
