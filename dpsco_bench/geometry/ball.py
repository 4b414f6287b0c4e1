"""Balls ``||x|| <= R`` of the l1 and l2 norm as feasible sets, with their Euclidean projections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpsco_bench.backend.namespace import array_namespace, cast, cumulative_sum
from dpsco_bench.errors import InputError

Array = Any

BALLS = ("l1_ball", "l2_ball")


@dataclass(frozen=True)
class Ball:
    """The ball of a norm around the origin.

    Attributes
    ----------
    name : str
        ``l1_ball`` or ``l2_ball``.
    radius : float
        R > 0, in the ball's own norm.
    """

    name: str
    radius: float

    def __post_init__(self) -> None:
        if self.name not in BALLS:
            raise InputError("domain", self.name, "one of " + ", ".join(BALLS))
        if not 0.0 < self.radius < float("inf"):
            raise InputError("radius", self.radius, "a finite number > 0")

    @property
    def diameter(self) -> float:
        """Largest Euclidean distance of two of its points, 2R for both norms."""
        return 2.0 * self.radius

    def norm(self, x: Array) -> Array:
        """The ball's norm along the last axis, shape ``(..., 1)``."""
        return l1_norm(x) if self.name == "l1_ball" else l2_norm(x)

    def project(self, x: Array) -> Array:
        """Euclidean projection of ``x (R, d)`` along the last axis."""
        return project_l1(x, self.radius) if self.name == "l1_ball" else project_l2(x, self.radius)


def largest(x: Array) -> Array:
    """Largest absolute value along the last axis, shape ``(..., 1)``."""
    xp = array_namespace(x)
    return xp.max(xp.abs(x), axis=-1, keepdims=True)


def l1_norm(x: Array) -> Array:
    """Sum of absolute values along the last axis, shape ``(..., 1)``."""
    xp = array_namespace(x)
    return xp.sum(xp.abs(x), axis=-1, keepdims=True)


def l2_norm(x: Array) -> Array:
    """Euclidean norm along the last axis, shape ``(..., 1)``; squares neither overflow nor underflow."""
    xp = array_namespace(x)
    top = largest(x)
    scaled = x / xp.where(top > 0, top, xp.ones_like(top))
    return top * xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True))


def project_l2(x: Array, radius: float) -> Array:
    """Nearest point of ``||y||_2 <= radius``: shrink what lies outside.

    Parameters
    ----------
    x : array (..., d)
        Finite.
    radius : float
        > 0.

    Returns
    -------
    array (..., d)
    """
    xp = array_namespace(x)
    top = largest(x)
    scaled = x / xp.where(top > 0, top, xp.ones_like(top))
    length = xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True))
    outside = top * length > radius
    return xp.where(outside, scaled * (radius / xp.where(outside, length, xp.ones_like(length))), x)


def project_l1(x: Array, radius: float) -> Array:
    """Nearest point of ``||y||_1 <= radius``: subtract one threshold from all absolute values.

    Works with the distances of the absolute values from their largest one, so that huge entries cost no digits.

    Parameters
    ----------
    x : array (..., d)
        Finite.
    radius : float
        > 0.

    Returns
    -------
    array (..., d)

    References
    ----------
    Duchi, Shalev-Shwartz, Singer, Chandra 2008, Figure 1.
    """
    xp = array_namespace(x)
    deficit = largest(x) - xp.abs(x)
    ordered = xp.sort(deficit, axis=-1)
    counts = cast(xp.arange(1, x.shape[-1] + 1), x.dtype)
    height = (radius + cumulative_sum(ordered)) / counts  # what is left of the largest entry if k entries stay
    kept = xp.sum(cast(ordered < height, xp.int64), axis=-1, keepdims=True)
    height = xp.take_along_axis(height, kept - 1, axis=-1)
    rest = height - deficit
    projected = xp.sign(x) * xp.where(rest > 0, rest, xp.zeros_like(rest))
    return xp.where(l1_norm(x) > radius, projected, x)
