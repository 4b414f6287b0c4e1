"""l_p norms along the last axis and the gradients of their squares, at any scale.

Everything divides by the largest entry before it takes powers, so that squares neither overflow nor underflow.
"""

from __future__ import annotations

import math
from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError

Array = Any


def checked_exponent(p: float, *, key: str = "p") -> float:
    """Return p as a float if it lies in [1, inf]. Raises InputError otherwise."""
    if isinstance(p, bool) or not isinstance(p, int | float) or not p >= 1:
        raise InputError(key, p, "a number in [1, inf]")
    return float(p)


def dual_exponent(p: float) -> float:
    """``q = p/(p - 1)``: infinity for p = 1 and 1 for p = infinity."""
    if p == 1:
        return math.inf
    return 1.0 if math.isinf(p) else p / (p - 1.0)


def largest(x: Array) -> Array:
    """Largest absolute value along the last axis, shape ``(..., 1)``."""
    xp = array_namespace(x)
    return xp.max(xp.abs(x), axis=-1, keepdims=True)


def nonzero(x: Array) -> Array:
    """``x`` with ones in place of zeros, to divide by."""
    xp = array_namespace(x)
    return xp.where(x != 0, x, xp.ones_like(x))


def l1_norm(x: Array) -> Array:
    """Sum of absolute values along the last axis, shape ``(..., 1)``."""
    xp = array_namespace(x)
    return xp.sum(xp.abs(x), axis=-1, keepdims=True)


def l2_norm(x: Array) -> Array:
    """Euclidean norm along the last axis, shape ``(..., 1)``; squares neither overflow nor underflow."""
    xp = array_namespace(x)
    top = largest(x)
    scaled = x / nonzero(top)
    return top * xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True))


def lp_norm(x: Array, p: float) -> Array:
    """``||x||_p`` of finite ``x (..., d)``, shape ``(..., 1)``. Raises InputError for p outside [1, inf]."""
    p = checked_exponent(p)
    if p in (1.0, 2.0):
        return l1_norm(x) if p == 1 else l2_norm(x)
    if math.isinf(p):
        return largest(x)
    xp = array_namespace(x)
    top = largest(x)
    ratio = xp.abs(x) / nonzero(top)
    return top * xp.sum(ratio**p, axis=-1, keepdims=True) ** (1.0 / p)


def square_gradient(x: Array, exponent: float, scale: float) -> Array:
    """Gradient of ``(scale/2) ||x||_exponent^2`` at finite ``x (..., d)``: 0 at 0; exponent in (1, inf), scale > 0.

    It is ``scale ||x||^(2 - exponent) |x|^(exponent - 1) sign(x)``.
    """
    xp = array_namespace(x)
    top = largest(x)
    ratio = xp.abs(x) / nonzero(top)
    powers = ratio ** (exponent - 1.0)
    total = nonzero(xp.sum(powers * ratio, axis=-1, keepdims=True))
    return xp.sign(x) * powers * (scale * top * total ** (2.0 / exponent - 1.0))
