"""Balls of Schatten norms: matrices whose singular values have a bounded l_p norm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.lp import minimise_linear_lp, project_lp
from dpsco_bench.geometry.norms import checked_exponent, dual_exponent, lp_norm
from dpsco_bench.geometry.sets import CentredSet
from dpsco_bench.geometry.width import simulated_width

Array = Any


@dataclass(frozen=True)
class SchattenBall(CentredSet):
    """Matrices of ``rows x columns`` whose singular values have an l_p norm of at most R, flattened row by row.

    Attributes
    ----------
    p : float
        In [1, inf].
    rows, columns : int
        d1 >= d2 >= 1.
    radius : float
        R > 0, in the Schatten norm.

    Raises
    ------
    InputError
        For an exponent, shape or radius out of range.
    """

    p: float
    rows: int
    columns: int
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", checked_exponent(self.p))
        checked_count("columns of the schatten_ball", self.columns)
        if checked_count("rows of the schatten_ball", self.rows) < self.columns:
            raise InputError("rows of the schatten_ball", self.rows, f"at least its {self.columns} columns")
        self.check_radius()

    @property
    def name(self) -> str:
        """``schatten_ball:p:d1xd2``."""
        return f"schatten_ball:{repr(self.p).removesuffix('.0')}:{self.rows}x{self.columns}"

    def singular_values(self, x: Array) -> Array:
        """Of ``x (..., d1 d2)``, in decreasing order, shape ``(..., d2)``."""
        return self._svd(x)[1]

    def norm(self, x: Array) -> Array:
        """The Schatten norm along the last axis, shape ``(..., 1)``."""
        return lp_norm(self.singular_values(x), self.p)

    def project(self, x: Array) -> Array:
        """Euclidean projection of ``x (..., d1 d2)``: that of its singular values."""
        left, values, right = self._svd(x)
        projected = self._compose(left, project_lp(values, self.p, self.radius), right, x.shape)
        return array_namespace(x).where(lp_norm(values, self.p) <= self.radius, x, projected)

    def support(self, z: Array) -> Array:
        """``R`` times the dual Schatten norm, shape ``(..., 1)``."""
        return self.radius * lp_norm(self.singular_values(z), dual_exponent(self.p))

    def minimise_linear(self, g: Array) -> Array:
        """A minimiser of ``<g, w>``, with the singular vectors of g."""
        left, values, right = self._svd(g)
        return self._compose(left, minimise_linear_lp(values, self.p, self.radius), right, g.shape)

    def euclidean_diameter(self, d: int) -> float:
        """``2 R max(1, d2^(1/2 - 1/p))``."""
        self._check(d)
        return 2.0 * self.radius * max(1.0, self.columns ** (0.5 - 1.0 / self.p))

    def inradius(self, d: int) -> float:
        """``R min(1, d2^(1/2 - 1/p))``."""
        self._check(d)
        return self.radius * min(1.0, self.columns ** (0.5 - 1.0 / self.p))

    def width(self, d: int) -> float:
        """Simulated (`width.simulated_width`)."""
        self._check(d)
        return self.radius * _simulated(self.p, self.rows, self.columns)

    def _check(self, d: int) -> None:
        if d != self.rows * self.columns:
            raise InputError("shape of the schatten_ball", f"{self.rows}x{self.columns}", f"a matrix of dimension {d}")

    def _matrix(self, x: Array) -> Array:
        self._check(x.shape[-1])
        return array_namespace(x).reshape(x, (*x.shape[:-1], self.rows, self.columns))

    def _svd(self, x: Array) -> tuple[Array, Array, Array]:
        left, values, right = array_namespace(x).linalg.svd(self._matrix(x), full_matrices=False)
        return left, values, right

    def _compose(self, left: Array, values: Array, right: Array, shape: tuple[int, ...]) -> Array:
        xp = array_namespace(values)
        return xp.reshape(xp.matmul(left * values[..., None, :], right), shape)


@lru_cache(maxsize=64)
def _simulated(p: float, rows: int, columns: int) -> float:
    """Simulated width of the unit ball."""
    return simulated_width(SchattenBall(p, rows, columns, 1.0).support, rows * columns)


def schatten_parameters(text: str) -> tuple[float, int, int]:
    """Read ``p:d1xd2``; ValueError for text of another form."""
    p, _, shape = text.partition(":")
    rows, _, columns = shape.partition("x")
    return float(p), int(rows), int(columns)


def schatten_ball(parameters: tuple[float, int, int], radius: float) -> SchattenBall:
    """The ball of p, d1 and d2."""
    return SchattenBall(*parameters, radius)
