"""One good coordinate among many on the unit l1 ball, at the scale of the noise of private Frank-Wolfe."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.problems.base import option
from dpsco_bench.problems.linear_losses import LinearLosses
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.signs_l1 import SignsL1


@problem
class NeedleL1(SignsL1):
    """``z in {+-1}^d`` with mean ``g e_1``, ``g = min(1, signal * unit)``."""

    name = "needle_l1"
    summary = "linear losses with one biased coordinate on the unit l1 ball; population risk"
    source = "instance `needle_l1` for Bassily, Guzman, Nandi 2021, Theorem 4"
    unit_name: str = option(
        "noise",
        "of the signal: noise b_N ln K, b_N the last Laplace scale of Algorithm 1 at the cell (L0 = 1, M = 2, declared"
        " L1); statistical sqrt(eta ln K), for runs without noise; fixed 1",
        choices=("noise", "statistical", "fixed"),
        key="unit",
    )
    signal = option(0.7, "g = min(1, signal * unit)")

    @property
    def unit(self) -> float:
        """As the option says, at the cell's n, epsilon and delta."""
        n, log_k = self.count, math.log(self.vertices)
        step = math.log(n / log_k) / n
        if self.unit_name == "fixed":
            return 1.0
        if self.unit_name == "statistical":
            return math.sqrt(step * log_k)
        return last_laplace_scale(self, self.vertices) * log_k

    @property
    def means(self) -> np.ndarray:
        return self.strengths[:, None] * np.eye(1, self.dimension)


def last_laplace_scale(problem: LinearLosses, vertices: int) -> float:
    """b_N of Algorithm 1 with the printed noise at a problem's cell: ``2 s_N sqrt(n l)/eps``."""
    n, c = problem.count, problem.constants
    step = math.log(n / math.log(vertices)) / n
    decayed = (1.0 - step) ** (n // 2) * 2.0 * c.lipschitz * c.diameter / n
    least = 2.0 * step * (c.smoothness * c.diameter**2 + c.lipschitz * c.diameter)
    return 2.0 * max(decayed, least) * math.sqrt(n * -math.log(problem.delta)) / problem.epsilon
