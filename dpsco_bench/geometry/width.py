"""Gaussian widths of balls, for bounds."""

from __future__ import annotations

import math

from scipy.integrate import quad
from scipy.special import gammaln, log_ndtr

from dpsco_bench.geometry.ball import Ball


def gaussian_width(ball: Ball, d: int) -> float:
    """``E sup_{w in C} <b, w>`` of a standard normal ``b`` in d dimensions.

    The l2 ball has ``R E ||b||_2``, the l1 ball ``R E max_j |b_j|``.
    """
    if ball.name == "l2_ball":
        return ball.radius * math.sqrt(2.0) * math.exp(float(gammaln(0.5 * (d + 1)) - gammaln(0.5 * d)))
    return ball.radius * mean_largest(d)


def mean_largest(d: int) -> float:
    """``E max_{j <= d} |b_j|`` of d standard normal variables."""

    def tail(t: float) -> float:
        """``P(max|b_j| > t)``."""
        return -math.expm1(d * math.log1p(-2.0 * math.exp(float(log_ndtr(-t))))) if t > 0 else 1.0

    middle = math.sqrt(2.0 * math.log(d + 1.0))
    return sum(quad(tail, *ends, epsabs=0.0, epsrel=1e-12, limit=200)[0] for ends in ((0.0, middle), (middle, 40.0)))
