"""Balls of Schatten norms: matrices whose singular values lie in an l_p ball. Points are flattened row by row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.centred import CentredSet, set_kind
from dpsco_bench.geometry.lp import minimise_linear_lp, project_lp
from dpsco_bench.geometry.norms import checked_exponent, dual_exponent, lp_norm
from dpsco_bench.geometry.width import simulated_width

Array = Any


def as_matrices(x: Array, columns: int) -> Array:
    """``x (..., d)`` as matrices ``(..., d/columns, columns)``.

    Raises InputError if there are not at least as many rows as columns, or d is no multiple of the number of columns.
    """
    d = x.shape[-1]
    rows = matrix_rows(d, columns)
    return array_namespace(x).reshape(x, (*x.shape[:-1], rows, columns))


def matrix_rows(d: int, columns: int) -> int:
    """``d1 = d/d2``, checked: a whole number >= d2."""
    if d % columns or d < columns**2:
        allowed = f"a multiple of the {columns} columns with at least as many rows as columns"
        raise InputError("d", d, allowed, "Gopi et al. 2022, Corollary 5")
    return d // columns


def singular_values(x: Array, columns: int) -> Array:
    """Singular values of ``x (..., d)``, decreasing, shape ``(..., columns)``."""
    linalg = array_namespace(x).linalg
    if hasattr(linalg, "svdvals"):
        return linalg.svdvals(as_matrices(x, columns))
    return linalg.svd(as_matrices(x, columns), compute_uv=False)


@dataclass(frozen=True)
class SchattenBall(CentredSet):
    """Matrices of Schatten-p norm at most R, p in [1, inf], with d2 columns and ``d1 = d/d2 >= d2`` rows."""

    p: float
    columns: int
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", checked_exponent(self.p))
        checked_count("columns of the schatten_ball", self.columns)
        self.check_radius()

    @property
    def name(self) -> str:
        return f"schatten_ball:{self.p!r}:{self.columns}"

    def norm(self, x: Array) -> Array:
        """Schatten-p norm of ``x (..., d)``, shape ``(..., 1)``."""
        return lp_norm(singular_values(x, self.columns), self.p)

    def project(self, x: Array) -> Array:
        """Euclidean projection: that of the singular values. Points of the set are returned unchanged."""
        xp = array_namespace(x)
        projected = self._map(x, lambda values: project_lp(values, self.p, self.radius))
        return xp.where(self.norm(x) <= self.radius, x, projected)

    def support(self, z: Array) -> Array:
        """``R`` times the dual Schatten norm, shape ``(..., 1)``."""
        return self.radius * lp_norm(singular_values(z, self.columns), dual_exponent(self.p))

    def minimise_linear(self, g: Array) -> Array:
        """Find a minimiser of ``<g, w>``: that of the l_p ball on the singular values."""
        return self._map(g, lambda values: minimise_linear_lp(values, self.p, self.radius))

    def euclidean_diameter(self, d: int) -> float:
        """``2 R max(1, d2^(1/2 - 1/p))``."""
        matrix_rows(d, self.columns)
        return 2.0 * self.radius * max(1.0, self.columns ** (0.5 - 1.0 / self.p))

    def inradius(self, d: int) -> float:
        """``R min(1, d2^(1/2 - 1/p))``."""
        matrix_rows(d, self.columns)
        return self.radius * min(1.0, self.columns ** (0.5 - 1.0 / self.p))

    def width(self, d: int) -> float:
        return self.radius * _simulated(self.p, self.columns, d)

    def _map(self, x: Array, change: Any) -> Array:
        """Map the singular values of the matrices ``x``; the result is flattened."""
        xp = array_namespace(x)
        left, values, right = xp.linalg.svd(as_matrices(x, self.columns), full_matrices=False)
        return xp.reshape(xp.matmul(left * change(values)[..., None, :], right), x.shape)


@lru_cache(maxsize=64)
def _simulated(p: float, columns: int, d: int) -> float:
    return simulated_width(SchattenBall(p, columns, 1.0).support, d)


def read_parameters(text: str) -> tuple[float, int]:
    """``p:columns`` of a name."""
    p, _, columns = text.partition(":")
    return float(p), int(columns)


@set_kind("schatten_ball", "p:columns", read_parameters)
def schatten_ball(parameters: tuple[float, int], radius: float) -> SchattenBall:
    return SchattenBall(*parameters, radius)
