"""Linear losses of random signs: at the corners of a cube, and on the unit l1 ball."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.problems.base import Data, Draws, option
from dpsco_bench.problems.data import opposite
from dpsco_bench.problems.linear import LinearLosses, SignSample
from dpsco_bench.problems.registry import problem


class Cube(LinearLosses):
    """Linear losses with ``||z||_q = 1`` for every record, the mean ``tau d^(-1/q)`` in every coordinate."""

    default_dimension = 32
    p: float = option(1.5, within="(1, 2]")
    norm_kappa: float | None = option(None, "p = 1 + 1/norm_kappa instead, for sweeps over kappa_q", within="(0, inf)")
    unit_name: str = option(
        "fixed",
        "of the signal: empirical sqrt(d l)/(eps n), population sqrt(kappa_q) (d l)^(1/4)/sqrt n, frank_wolfe sqrt(d)"
        " s1 n^(1/4) with the increments' noise s1 of Theorem 11, statistical sqrt(2/n), fixed 1",
        choices=("empirical", "population", "frank_wolfe", "statistical", "fixed"),
        key="unit",
    )
    signal = option(1.0, "tau = min(1, signal * unit)")

    def prepare(self) -> None:
        super().prepare()
        if self.norm_kappa is not None:
            self.p = self.options["p"].checked(1.0 + 1.0 / self.norm_kappa)

    def opposed_records(self, distance: float, order: float) -> Data | None:
        return opposite(np.full(self.dimension, self.scale), distance, order)

    @property
    def scale(self) -> float:
        return self.dimension ** (1.0 / self.p - 1.0)

    @property
    def unit(self) -> float:
        n, c = self.count, self.constants
        match self.unit_name:
            case "empirical":
                return self.root / (self.epsilon * n)
            case "population":
                return math.sqrt(self.root / ((self.p - 1.0) * n))
            case "frank_wolfe":  # sqrt(d) s1 n^(1/4), s1 = sqrt(32 kappa_q l/n) L1 M eta/eps, eta = ln n/(2 sqrt n)
                drift = c.smoothness * c.diameter * math.log(n) / (2.0 * math.sqrt(n))
                return math.sqrt(32.0 / (self.p - 1.0)) * self.root * drift / self.epsilon * n**-0.25
            case "statistical":
                return math.sqrt(2.0 / n)
        return 1.0

    @property
    def root(self) -> float:
        return math.sqrt(-math.log(self.delta) * self.dimension)


@problem
class CubeIid(Cube):
    """``z in {+-d^(-1/q)}^d`` with independent signs, ``P(+) = (1 + tau)/2`` and ``tau = min(1, signal * unit)``."""

    name = "cube_iid"
    summary = "linear losses with independent signs on the unit l_p ball, 1 < p <= 2; population risk"
    source = "instance `cube_iid` for Bassily, Guzman, Nandi 2021, Theorems 10 and 12"
    unit_name = option("population")

    @property
    def means(self) -> np.ndarray:
        return self.scale * np.repeat(self.strengths[:, None], self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        chances = np.repeat((0.5 + 0.5 * self.strengths)[:, None], self.dimension, axis=1)
        return SignSample(n, draws, chances, self.scale)


class SignsL1(LinearLosses):
    """``z in {+-1}^d`` with independent signs on the unit l1 ball, whose 2d vertices are ``+-e_j``."""

    default_dimension = 64
    p = 1.0
    declared_smoothness = option(0.0)

    @property
    def vertices(self) -> int:
        return 2 * self.dimension

    def sample(self, n: int, draws: Draws) -> Any:
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
