"""Polytopes given by their vertices, and the l1 ball and the simplex, whose vertices are never written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, cast
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.norms import l1_norm, over_threshold

Array = Any


@dataclass(frozen=True, eq=False)
class Polytope:
    """Convex hull of at least two finite points, ``vertices (K, d)``. Raises InputError for anything else."""

    vertices: np.ndarray

    def __post_init__(self) -> None:
        vertices = np.asarray(self.vertices, dtype=np.float64)
        if vertices.ndim != 2 or vertices.shape[0] < 2 or vertices.shape[1] < 1 or not np.isfinite(vertices).all():
            raise InputError("vertices", f"array of shape {vertices.shape}", "finite, of shape (K >= 2, d >= 1)")
        object.__setattr__(self, "vertices", vertices)

    def scores(self, e: Array) -> Array:
        """``<v, e>`` of every vertex: ``e (R, d)`` -> ``(R, K)``; one replicate at a time, whatever the others."""
        xp = array_namespace(e)
        vertices = xp.asarray(self.vertices, dtype=e.dtype)
        return xp.matmul(vertices, xp.expand_dims(e, axis=-1))[..., 0]

    def vertex(self, index: Array, dtype: Any) -> Array:
        """Vertices by index: ``(R,)`` of integers -> ``(R, d)``."""
        xp = array_namespace(index)
        return xp.take(xp.asarray(self.vertices, dtype=dtype), index, axis=0)


@dataclass(frozen=True)
class CrossPolytope:
    """The l1 ball by its 2d vertices ``+-radius e_j`` in the order ``+e_1, -e_1, +e_2, ...``, held implicitly."""

    dimension: int
    radius: float

    @property
    def count(self) -> int:
        return 2 * self.dimension

    def scores(self, e: Array) -> Array:
        xp = array_namespace(e)
        scaled = self.radius * e
        return xp.reshape(xp.stack([scaled, -scaled], axis=-1), (*e.shape[:-1], self.count))

    def vertex(self, index: Array, dtype: Any) -> Array:
        xp = array_namespace(index)
        here = xp.arange(self.dimension) == xp.expand_dims(index // 2, axis=-1)
        entry = self.radius * cast(1 - 2 * (index % 2), dtype)
        return xp.where(here, xp.expand_dims(entry, axis=-1), xp.zeros_like(entry[..., None]))


class Simplex(Polytope):
    """``x_j >= 0`` with ``sum_j x_j = R``: the hull of the points ``R e_j``, held implicitly. InputError for d < 2."""

    dimension: int
    radius: float

    def __init__(self, dimension: int, radius: float) -> None:
        if checked_count("d", dimension) < 2:
            raise InputError("d", dimension, "an integer >= 2 on the simplex")
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "dimension", dimension)

    @property
    def centre(self) -> np.ndarray:
        return np.full(self.dimension, self.radius / self.dimension)

    def scores(self, e: Array) -> Array:
        return self.radius * e

    def vertex(self, index: Array, dtype: Any) -> Array:
        xp = array_namespace(index)
        here = xp.arange(self.dimension) == xp.expand_dims(index, axis=-1)
        return self.radius * cast(here, dtype)

    def project(self, x: Array) -> Array:
        """Euclidean projection of finite ``x (..., d)``: one threshold off all entries, to the digit on the simplex."""
        found = over_threshold(array_namespace(x).max(x, axis=-1, keepdims=True) - x, self.radius)
        return found * (self.radius / l1_norm(found))

    def support(self, z: Array) -> Array:
        return self.radius * array_namespace(z).max(z, axis=-1, keepdims=True)

    def minimise_linear(self, g: Array) -> Array:
        return self.vertex(array_namespace(g).argmin(g, axis=-1), g.dtype)
