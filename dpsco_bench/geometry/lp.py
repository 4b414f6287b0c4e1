"""Linear minimisation and Euclidean projection over l_p balls, 1 <= p <= infinity.

Source: Bassily, Guzman, Nandi 2021; the ball of radius R is ``||x||_p <= R``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, cast, cumulative_sum
from dpsco_bench.geometry.norms import checked_exponent, dual_exponent, l1_norm, largest, nonzero
from dpsco_bench.geometry.penalised import penalised_step

Array = Any
LEAST_RADIUS, LARGEST_LENGTH = 1e-140, 1e150
"""Beyond these squares may vanish or overflow."""


def first_largest(x: Array) -> Array:
    """Mask ``(..., d)`` of the first coordinate with the largest absolute value."""
    xp = array_namespace(x)
    index = xp.argmax(xp.abs(x), axis=-1)
    return xp.arange(x.shape[-1]) == xp.expand_dims(index, axis=-1)


def minimise_linear_lp(g: Array, p: float, radius: float) -> Array:
    """``argmin <g, v>`` over ``||v||_p <= radius``, for finite ``g (..., d)`` and radius > 0.

    ``-radius sign(g) |g|^(q - 1)/||g||_q^(q - 1)``; for p = 1 a vertex, at the first largest ``|g_j|``. Zero for ``g =
    0``, except the vertex ``-radius e_1`` for p = 1. Raises InputError for p outside [1, inf].
    """
    xp, p = array_namespace(g), checked_exponent(p)
    if p == 1:
        vertex = xp.where(g >= 0, xp.full_like(g, -radius), xp.full_like(g, radius))
        return xp.where(first_largest(g), vertex, xp.zeros_like(g))
    if math.isinf(p):
        return -radius * xp.sign(g)
    q = dual_exponent(p)
    ratio = xp.abs(g) / nonzero(largest(g))
    powers = ratio ** (q - 1.0)
    total = nonzero(xp.sum(powers * ratio, axis=-1, keepdims=True))
    return -radius * xp.sign(g) * powers / total ** (1.0 / p)


def project_lp(x: Array, p: float, radius: float) -> Array:
    """Nearest point of ``||y||_p <= radius`` to finite ``x (..., d)``, radius > 0; points of the ball are unchanged.

    Raises InputError for p outside [1, inf].
    """
    p = checked_exponent(p)
    if p == 1:
        return project_l1(x, radius)
    if p == 2:
        return project_l2(x, radius)
    if math.isinf(p):
        return project_linf(x, radius)
    return penalised_step(x, x, p, 2.0, 1.0, radius)


def project_linf(x: Array, radius: float) -> Array:
    """Nearest point of ``max_j |y_j| <= radius``: clip every entry."""
    xp = array_namespace(x)
    return xp.clip(x, -radius, radius)


def project_l2(x: Array, radius: float) -> Array:
    """Nearest point of ``||y||_2 <= radius`` to finite ``x (..., d)``, radius > 0: shrink what lies outside.

    On the host squares are summed as they are where none can overflow or vanish, which is four times as fast; a device
    is not asked, since the answer would make every step wait for it.
    """
    xp = array_namespace(x)
    if xp is np and x.dtype == np.float64 and radius > LEAST_RADIUS:
        length = np.sqrt(np.einsum("...i,...i->...", x, x)[..., None])
        if length.max(initial=0.0) < LARGEST_LENGTH:
            return x * (radius / np.maximum(length, radius))
    top = largest(x)
    scaled = x / xp.where(top > 0, top, xp.ones_like(top))
    length = xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True))
    outside = top * length > radius
    return xp.where(outside, scaled * (radius / xp.where(outside, length, xp.ones_like(length))), x)


def project_l1(x: Array, radius: float) -> Array:
    """Nearest point of ``||y||_1 <= radius`` to finite ``x (..., d)``: subtract one threshold from all absolute values.

    Works with the distances of the absolute values from their largest one, so that huge entries cost no digits. Source:
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
