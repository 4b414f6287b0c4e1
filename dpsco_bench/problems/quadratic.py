"""Quadratic oracles: all records equal, so that only the noise makes the risk random."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Data, Problem, Trait

Array = Any


class DiagonalOracle(Problem):
    """``F(x) = (1/2) sum_j h_j (x_j - x*_j)^2`` for every record; the Lipschitz constant is nominal."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ, Trait.LIPSCHITZ})
    shares_records = True

    @property
    def spectrum(self) -> np.ndarray:
        """Curvatures ``h``, shape ``(d,)``."""
        raise InputError("problem", self.name, "a quadratic that defines its spectrum")

    @cached_property
    def optimum(self) -> np.ndarray:
        """The minimiser, shape ``(d,)``."""
        return np.zeros(self.dimension)

    def mean_gradient(self, x: Array, data: Data) -> Array:
        """``h * (x - x*)``."""
        return array_namespace(x).asarray(self.spectrum, dtype=x.dtype) * self._error(x)

    @cached_property
    def _centred(self) -> bool:
        return not self.optimum.any()

    def _error(self, x: Array) -> Array:
        """``x - x*``: x itself where the minimiser is the origin."""
        if self._centred:
            return x
        return x - array_namespace(x).asarray(self.optimum, dtype=x.dtype)

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Each selected record contributes the same gradient."""
        xp = array_namespace(x)
        return xp.sum(weights, axis=-1, keepdims=True) * self.mean_gradient(x, batch)

    def risk(self, x: Array, data: Data) -> Array:
        """The quadratic, in float64 up to the caller's dtype."""
        xp, error = array_namespace(x), self._error(x)
        return 0.5 * xp.sum(xp.asarray(self.spectrum, dtype=x.dtype) * error * error, axis=-1)

    def optimal_risk(self, data: Data) -> float:
        """Zero."""
        return 0.0
