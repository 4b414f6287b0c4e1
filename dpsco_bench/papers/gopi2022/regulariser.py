"""Squared norms that are 1-strongly convex in an l_p or Schatten-p norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import checked_exponent, dual_exponent, lp_norm
from dpsco_bench.geometry.sets import singular_values

Array = Any


@dataclass(frozen=True)
class NormRegulariser:
    """``r(x) = coefficient ||x||_q^2``, about the origin.

    Raises InputError for p = 1 and a size below 3, where no q exists (erratum E5). Source: Gopi, Lee, Liu, Shen, Tian
    2022, Corollaries 2 to 5.

    Parameters
    ----------
    p : float, norm in which r is 1-strongly convex, in [1, inf]
    matrices : bool, whether the norms are Schatten norms of matrices with ``size`` columns, flattened row by row
    """

    p: float
    size: int
    matrices: bool = False

    def __post_init__(self) -> None:
        checked_exponent(self.p)
        if self.p == 1 and self.size < 3:
            key = "columns" if self.matrices else "d"
            raise InputError(key, self.size, "at least 3 for p = 1", "Gopi et al. 2022, Corollary 3")

    @property
    def q(self) -> float:
        """Exponent of its norm: p for 1 < p <= 2, ``1 + 1/ln size`` for p = 1, 2 for p > 2."""
        return 1.0 + 1.0 / math.log(self.size) if self.p == 1 else min(self.p, 2.0)

    @property
    def coefficient(self) -> float:
        """``1/(2 (p - 1))`` for 1 < p <= 2, ``e^2 ln(size)/2`` for p = 1, 1/2 for p > 2."""
        if self.p == 1:
            return 0.5 * math.e**2 * math.log(self.size)
        return 0.5 / (min(self.p, 2.0) - 1.0)

    @property
    def dual(self) -> float:
        """Same exponent, as `SmoothNorm` names it."""
        return self.q

    @property
    def r(self) -> float:
        """Exponent of the norm that is dual to l_q."""
        return dual_exponent(self.q)

    @property
    def kappa(self) -> float:
        return 2.0 * self.coefficient

    def theta(self, radius: float) -> float:
        """Bound on r over points of p-norm at most ``radius``."""
        stretch = self.size ** (1.0 - 2.0 / self.p) if self.p > 2 else 1.0
        return self.coefficient * stretch * radius**2

    def norm(self, x: Array) -> Array:
        """``||x||_q`` of ``x (..., d)``, shape ``(...,)``."""
        entries = singular_values(x, self.size) if self.matrices else x
        return lp_norm(entries, self.q)[..., 0]

    def value(self, x: Array) -> Array:
        """``r(x)`` of ``x (..., d)``, shape ``(...,)``."""
        return self.coefficient * array_namespace(x).square(self.norm(x))
