"""Setting of the methods of the l_p part: the range of p, the printed kappa, truncation and the mirror step."""

from __future__ import annotations

from math import log
from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import SmoothNorm, lp_norm
from dpsco_bench.problems.base import Constants

Array = Any
NORM_RULE = "two_ln_d"
"""The exponent of the smooth norm: r = max(2, min(q, 2 ln d + 1))."""


def smooth_norm(c: Constants, d: int, source: str, limit: bool = False) -> SmoothNorm:
    """Make the smooth norm beside the dual of l_p, 1 < p < 2, or p = 2 where that limit is allowed.

    Raises InputError for another p, or d < 2, where the rule has no exponent.
    """
    if not (1.0 < c.norm < 2.0 or (limit and c.norm == 2.0)):
        raise InputError("norm", c.norm, f"p in (1, 2{']' if limit else ')'}", source)
    if d < 2:
        raise InputError("d", d, "an integer >= 2", source)
    return SmoothNorm(c.norm, d, NORM_RULE)


def printed_kappa(p: float, d: int) -> float:
    """``k = min{1/(p-1), 2 ln d}``, as printed; kappa_q itself is larger (erratum E5)."""
    return min(1.0 / (p - 1.0), 2.0 * log(d))


def truncated(gradients: Array, q: float, level: float) -> Array:
    """Gradients ``(R, m, d)`` with those of ``l_q`` norm above the level set to zero (not clipped)."""
    xp = array_namespace(gradients)
    return xp.where(lp_norm(gradients, q) <= level, gradients, xp.zeros_like(gradients))


def lp_ball_radius(c: Constants, source: str) -> float:
    """Radius of the l_p ball about the origin that the norm of the constants belongs to.

    Raises InputError for another domain.
    """
    if getattr(c.ball, "p", None) != c.norm:
        raise InputError("domain", c.domain, f"lp_ball:{c.norm:g}, the ball of the norm of L and beta", source)
    return 0.5 * c.diameter
