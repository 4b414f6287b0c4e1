"""Polytopes given by their vertices, and the l1 ball with vertices that are never written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, cast
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.norms import checked_exponent, lp_norm

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

    @property
    def count(self) -> int:
        return self.vertices.shape[0]

    @property
    def dimension(self) -> int:
        return self.vertices.shape[1]

    def scores(self, e: Array) -> Array:
        """``<v, e>`` of every vertex: ``e (R, d)`` -> ``(R, K)``; one replicate at a time, whatever the others."""
        xp = array_namespace(e)
        vertices = xp.asarray(self.vertices, dtype=e.dtype)
        return xp.matmul(vertices, xp.expand_dims(e, axis=-1))[..., 0]

    def vertex(self, index: Array, dtype: Any = None) -> Array:
        """Vertices by index: ``(R,)`` of integers -> ``(R, d)``, float64 unless a dtype is given."""
        xp = array_namespace(index)
        return xp.take(xp.asarray(self.vertices, dtype=dtype or xp.float64), index, axis=0)

    def diameter(self, p: float) -> float:
        """Largest l_p distance of two vertices, p in [1, inf]."""
        return max(float(lp_norm(self.vertices[i:] - self.vertices[i], p).max()) for i in range(self.count))


@dataclass(frozen=True)
class CrossPolytope:
    """The l1 ball by its 2d vertices ``+-radius e_j`` in the order ``+e_1, -e_1, +e_2, ...``, held implicitly."""

    dimension: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        checked_count("d", self.dimension)
        if not 0.0 < self.radius < float("inf"):
            raise InputError("radius", self.radius, "a finite number > 0")

    @property
    def count(self) -> int:
        """``K = 2 d``."""
        return 2 * self.dimension

    def scores(self, e: Array) -> Array:
        """``<v, e>`` of every vertex: ``e (R, d)`` -> ``(R, 2d)``."""
        xp = array_namespace(e)
        scaled = self.radius * e
        return xp.reshape(xp.stack([scaled, -scaled], axis=-1), (*e.shape[:-1], self.count))

    def vertex(self, index: Array, dtype: Any = None) -> Array:
        xp = array_namespace(index)
        here = xp.arange(self.dimension) == xp.expand_dims(index // 2, axis=-1)
        entry = self.radius * cast(1 - 2 * (index % 2), dtype or xp.float64)
        return xp.where(here, xp.expand_dims(entry, axis=-1), xp.zeros_like(entry[..., None]))

    def diameter(self, p: float) -> float:
        """Largest l_p distance of two vertices: ``2 radius`` for every p in [1, inf]."""
        checked_exponent(p)
        return 2.0 * self.radius
