"""Base of the cube instances: records ``z in {+-d^(-1/q)}^d`` and the units of their signal."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpsco_bench.problems.base import Data, option
from dpsco_bench.problems.data import opposite
from dpsco_bench.problems.linear_losses import LinearLosses


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
        """P from `norm_kappa`, where that is given."""
        super().prepare()
        if self.norm_kappa is not None:
            self.p = self.options["p"].checked(1.0 + 1.0 / self.norm_kappa)

    def opposed_records(self, distance: float, order: float) -> Data | None:
        """Two opposite corners."""
        return opposite(np.full(self.dimension, self.scale), distance, order)

    @property
    def scale(self) -> float:
        """``d^(-1/q)``."""
        return self.dimension ** (1.0 / self.p - 1.0)

    @property
    def unit(self) -> float:
        """Compute the unit that the option names, at the cell's n, epsilon and delta."""
        return UNITS[self.unit_name](self)

    @property
    def root(self) -> float:
        """``sqrt(d l)``."""
        return math.sqrt(-math.log(self.delta) * self.dimension)


def _frank_wolfe(problem: Cube) -> float:
    """``sqrt(d) s1 n^(1/4)`` with ``s1 = sqrt(32 kappa_q l/n) L1 M eta/eps`` and ``eta = ln n/(2 sqrt n)``."""
    n, c = problem.count, problem.constants
    drift = c.smoothness * c.diameter * math.log(n) / (2.0 * math.sqrt(n))
    return math.sqrt(32.0 / (problem.p - 1.0)) * problem.root * drift / problem.epsilon * n**-0.25


UNITS: dict[str, Callable[[Cube], float]] = {
    "empirical": lambda problem: problem.root / (problem.epsilon * problem.count),
    "population": lambda problem: math.sqrt(problem.root / ((problem.p - 1.0) * problem.count)),
    "frank_wolfe": _frank_wolfe,
    "statistical": lambda problem: math.sqrt(2.0 / problem.count),
    "fixed": lambda problem: 1.0,
}
