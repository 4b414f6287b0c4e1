"""The quadratic with a geometric spectrum whose risk under output perturbation has a closed form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem


@problem
class OpSpectrum(DiagonalOracle):
    """``h_j = 2^-j``, ``j = 0..d-1``: convex for practical purposes; start at distance 1 from the minimiser."""

    name = "op_spectrum"
    summary = "quadratic oracle with a geometric spectrum; closed form for output perturbation"
    source = "instance `op_spectrum` for row [34] of Wang, Ye, Xu 2017, Table 2"
    default_dimension = 24
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})

    @property
    def spectrum(self) -> np.ndarray:
        """Curvatures from 1 down to ``2^(1-d)``."""
        return 0.5 ** np.arange(self.dimension)

    @property
    def start(self) -> np.ndarray:
        """``ones/sqrt(d)``; the minimiser is the origin."""
        return np.full(self.dimension, self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal), L = 1, no strong convexity to rely on, the exact initial gap and distance."""
        return self.declared()

    def expected_gap(self, algorithm: str, schedule: Mapping[str, Any], scales: Mapping[str, float]) -> float:
        """Exact expected excess risk of output perturbation after T exact gradient steps.

        ``(1/2) sum_j h_j [(1 - eta h_j)^(2T)/d + sd^2]``.
        """
        if algorithm != "wang2017.output_perturbation_zhang17":
            return super().expected_gap(algorithm, schedule, scales)
        decay = (1.0 - schedule["step"] * self.spectrum) ** (2 * schedule["steps"])
        return 0.5 * float(np.sum(self.spectrum * (decay * self.start**2 + scales["output"] ** 2)))
