"""Random signs on the unit l1 ball: one good coordinate among many, at the scale of private Frank-Wolfe's noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.problems.base import Draws, option
from dpsco_bench.problems.linear_losses import LinearLosses
from dpsco_bench.problems.linear_samples import SignSample
from dpsco_bench.problems.registry import problem


class SignsL1(LinearLosses):
    """``z in {+-1}^d`` with independent signs on the unit l1 ball, whose 2d vertices are ``+-e_j``."""

    default_dimension = 64
    p = 1.0
    declared_smoothness = option(0.0)

    @property
    def vertices(self) -> int:
        """K = 2d."""
        return 2 * self.dimension

    def sample(self, n: int, draws: Draws) -> Any:
        """Independent signs with the given means."""
        return SignSample(n, draws, 0.5 + 0.5 * np.asarray(self.means), 1.0)


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
        """Compute the unit that the option names, at the cell's n, epsilon and delta."""
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
