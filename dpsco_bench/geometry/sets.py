"""Symmetric convex sets other than l_p balls: k-support, group and subspace balls.

Source: Su, Zhao, Wang 2023 need their Gaussian widths and projections; k-support norm: Argyriou, Foygel, Srebro 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.centred import CentredSet, set_kind
from dpsco_bench.geometry.k_support import k_largest, k_support_norm, project_k_support
from dpsco_bench.geometry.lp import first_largest, project_l1, project_l2
from dpsco_bench.geometry.norms import l1_norm, l2_norm, largest, nonzero
from dpsco_bench.geometry.width import mean_largest, mean_length, mean_longest_block, simulated_width

Array = Any


@set_kind("k_support_ball", "k")
@dataclass(frozen=True)
class KSupportBall(CentredSet):
    """R times the convex hull of the k-sparse unit vectors: the l1 ball for k = 1, the l2 ball for k = d."""

    k: int
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", checked_count("k of the k_support_ball", self.k))
        self.check_radius()

    @property
    def name(self) -> str:
        return f"k_support_ball:{self.k}"

    def norm(self, x: Array) -> Array:
        return k_support_norm(x, self._k(x.shape[-1]))

    def project(self, x: Array) -> Array:
        return project_k_support(x, self._k(x.shape[-1]), self.radius)

    def support(self, z: Array) -> Array:
        """R times the Euclidean norm of the k largest ``|z_j|``, shape ``(..., 1)``."""
        xp, d = array_namespace(z), z.shape[-1]
        return self.radius * l2_norm(xp.sort(xp.abs(z), axis=-1)[..., d - self._k(d) :])

    def minimise_linear(self, g: Array) -> Array:
        """``-R`` times the unit vector along the k largest entries of g, of ties the lowest; 0 for ``g = 0``."""
        xp = array_namespace(g)
        kept = xp.where(k_largest(g, self._k(g.shape[-1])), g / nonzero(largest(g)), xp.zeros_like(g))
        return -self.radius * kept / nonzero(l2_norm(kept))

    def euclidean_diameter(self, d: int) -> float:
        self._k(d)
        return 2.0 * self.radius

    def inradius(self, d: int) -> float:
        """``R sqrt(k/d)``, reached in the direction (1, ..., 1)."""
        return self.radius * (self._k(d) / d) ** 0.5

    def width(self, d: int) -> float:
        """Gaussian width: in closed form for k = 1 and k = d, else simulated (`width.simulated_width`)."""
        k = self._k(d)
        if k in (1, d):
            return self.radius * (mean_length(d) if k == d else mean_largest(d))
        return self.radius * _simulated(k, d)

    def _k(self, d: int) -> int:
        """K, checked against the dimension."""
        if self.k > d:
            raise InputError("k of the k_support_ball", self.k, f"at most the dimension {d}")
        return self.k


@lru_cache(maxsize=256)
def _simulated(k: int, d: int) -> float:
    return simulated_width(KSupportBall(k, 1.0).support, d)


@set_kind("group_ball", "b")
@dataclass(frozen=True)
class GroupBall(CentredSet):
    """``sum_g ||w_g||_2 <= R`` over the blocks of b consecutive coordinates; b >= 1 divides the dimension."""

    block: int
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "block", checked_count("block size of the group_ball", self.block))
        self.check_radius()

    @property
    def name(self) -> str:
        return f"group_ball:{self.block}"

    def norm(self, x: Array) -> Array:
        """Sum of the Euclidean norms of the blocks, shape ``(..., 1)``."""
        return l1_norm(self._lengths(x))

    def project(self, x: Array) -> Array:
        """Euclidean projection of ``x (..., d)``: the block norms go to the l1 ball."""
        lengths = self._lengths(x)
        return self._scaled(x, project_l1(lengths, self.radius) / nonzero(lengths))

    def support(self, z: Array) -> Array:
        """R times the largest block norm, shape ``(..., 1)``."""
        return self.radius * largest(self._lengths(z))

    def minimise_linear(self, g: Array) -> Array:
        """``-R`` times the unit vector along the first block of the largest norm; 0 for ``g = 0``."""
        xp = array_namespace(g)
        g = g / nonzero(largest(g))
        lengths = self._lengths(g)
        weights = xp.where(first_largest(lengths), -self.radius / nonzero(lengths), xp.zeros_like(lengths))
        return self._scaled(g, weights)

    def euclidean_diameter(self, d: int) -> float:
        self._count(d)
        return 2.0 * self.radius

    def inradius(self, d: int) -> float:
        """``R sqrt(b/d)``, reached where all blocks have the same norm."""
        return self.radius * self._count(d) ** -0.5

    def width(self, d: int) -> float:
        """``R E max_g ||b_g||_2``, by one integral."""
        return self.radius * mean_longest_block(self._count(d), self.block)

    def _count(self, d: int) -> int:
        if d % self.block:
            raise InputError("block size of the group_ball", self.block, f"a divisor of the dimension {d}")
        return d // self.block

    def _lengths(self, x: Array) -> Array:
        """Block norms ``(..., d/b)``."""
        blocks = (*x.shape[:-1], self._count(x.shape[-1]), self.block)
        return l2_norm(array_namespace(x).reshape(x, blocks))[..., 0]

    def _scaled(self, x: Array, weights: Array) -> Array:
        """``x`` with every block times its weight ``(..., d/b)``."""
        xp = array_namespace(x)
        blocks = xp.reshape(x, (*weights.shape, self.block))
        return xp.reshape(blocks * xp.expand_dims(weights, axis=-1), x.shape)


@set_kind("subspace_ball", "k")
@dataclass(frozen=True)
class SubspaceBall(CentredSet):
    """``||w||_2 <= R`` with ``w_j = 0`` from coordinate k >= 1 on."""

    k: int
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", checked_count("k of the subspace_ball", self.k))
        self.check_radius()

    @property
    def name(self) -> str:
        return f"subspace_ball:{self.k}"

    def norm(self, x: Array) -> Array:
        """Compute the Euclidean norm, shape ``(..., 1)``; infinite outside the subspace."""
        xp = array_namespace(x)
        length = l2_norm(x)
        return xp.where(largest(x - self._head(x)) > 0, xp.full_like(length, float("inf")), length)

    def project(self, x: Array) -> Array:
        """Euclidean projection of ``x (..., d)``: drop the tail, shrink the head."""
        return project_l2(self._head(x), self.radius)

    def support(self, z: Array) -> Array:
        """R times the Euclidean norm of the head, shape ``(..., 1)``."""
        return self.radius * l2_norm(self._head(z))

    def minimise_linear(self, g: Array) -> Array:
        """``-R`` times the unit vector along the head of g; 0 where that is 0."""
        head = self._head(g)
        head = head / nonzero(largest(head))
        return -self.radius * head / nonzero(l2_norm(head))

    def euclidean_diameter(self, d: int) -> float:
        self._k(d)
        return 2.0 * self.radius

    def inradius(self, d: int) -> float:
        """0, for it has no interior; R for k = d."""
        return self.radius if self._k(d) == d else 0.0

    def width(self, d: int) -> float:
        """``R E ||b||_2`` of k normal variables."""
        return self.radius * mean_length(self._k(d))

    def _k(self, d: int) -> int:
        """K, checked against the dimension."""
        if self.k > d:
            raise InputError("k of the subspace_ball", self.k, f"at most the dimension {d}")
        return self.k

    def _head(self, x: Array) -> Array:
        """``x`` with zeros from coordinate k on."""
        xp, d = array_namespace(x), x.shape[-1]
        return xp.where(xp.arange(d) < self._k(d), x, xp.zeros_like(x))
