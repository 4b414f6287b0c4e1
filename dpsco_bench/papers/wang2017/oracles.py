"""A linear oracle and a spectrum that several instances share: all records equal, only the noise is random."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.problems.base import Data, Problem, Trait

Array = Any


def geometric_spectrum(d: int) -> np.ndarray:
    """``2^-(j mod 16)`` for j = 0..d-1: sixteen scales, shape ``(d,)``."""
    return 2.0 ** -(np.arange(d) % 16).astype(np.float64)


class LinearOracle(Problem):
    """``F(x) = -<c, x>`` over a ball, for every record; the minimum is ``-R ||c||_*``."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    shares_records = True

    @property
    def slope(self) -> np.ndarray:
        raise InputError("problem", self.name, "a linear oracle that defines its slope")

    @property
    def feasible(self) -> Ball:
        raise InputError("problem", self.name, "a linear oracle that defines its ball")

    def mean_gradient(self, x: Array, data: Data) -> Array:
        return 0.0 * x - array_namespace(x).asarray(self.slope, dtype=x.dtype)

    def risk(self, x: Array, data: Data) -> Array:
        xp = array_namespace(x)
        return -xp.sum(xp.asarray(self.slope, dtype=x.dtype) * x, axis=-1)

    def optimal_risk(self, data: Data) -> float:
        """``-R`` times the dual norm of c."""
        dual = np.abs(self.slope).max() if self.feasible.name == "l1_ball" else np.linalg.norm(self.slope)
        return -self.feasible.radius * float(dual)
