"""Gaussian widths ``E sup_{w in C} <b, w>``, ``b`` standard normal, for bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def integral(function: Callable[[float], float], ends: Sequence[float], absolute: float = 0.0) -> float:
    """Integral over pieces with increasing ends, to relative accuracy 1e-12 or a piece's absolute one."""
    from scipy.integrate import quad  # a tenth of a second that most runs can do without

    return float(sum(quad(function, *piece, epsabs=absolute, epsrel=1e-12, limit=200)[0] for piece in pairwise(ends)))


DRAWS = 4000
"""Simulated widths are means of so many draws: a relative error of about ``1/(1.4 width sqrt(DRAWS))``."""
SEED = 20230101
BLOCK = 1 << 22
"""Numbers drawn at a time; the draws do not depend on it."""


def mean_length(d: int) -> float:
    """``E ||b||_2`` of d standard normal variables."""
    if d >= 1000:  # the logarithms are large and their difference is not
        return math.sqrt(d) * (1 - 1 / (4 * d) + 1 / (32 * d**2) + 5 / (128 * d**3) - 21 / (2048 * d**4))
    return math.sqrt(2.0) * math.exp(math.lgamma(0.5 * (d + 1)) - math.lgamma(0.5 * d))


def mean_largest(d: int) -> float:
    """``E max_{j <= d} |b_j|`` of d standard normal variables."""
    from scipy.special import log_ndtr

    def tail(t: float) -> float:
        """``P(max|b_j| > t)``."""
        return -math.expm1(d * math.log1p(-2.0 * math.exp(float(log_ndtr(-t))))) if t > 0 else 1.0

    middle = math.sqrt(2.0 * math.log(d + 1.0))
    return integral(tail, (0.0, middle, 40.0))


def mean_longest_block(count: int, size: int) -> float:
    """``E max_{i <= count} ||b_i||_2`` of standard normal vectors of ``size`` entries each."""
    from scipy.special import gammaincc

    def tail(t: float) -> float:
        """``P(max ||b_i|| > t)``."""
        above = float(gammaincc(0.5 * size, 0.5 * t * t))
        return -math.expm1(count * math.log1p(-above)) if above < 1.0 else 1.0

    typical = math.sqrt(size)
    below, middle = max(0.0, typical - 10.0), typical + math.sqrt(2.0 * math.log(count + 1.0))
    return below + integral(tail, (below, typical, middle, middle + 40.0), absolute=1e-14)


def simulated_width(support: Callable[[np.ndarray], Any], d: int) -> float:
    """Mean of a support function ``(rows, d) -> (rows, 1)`` over `DRAWS` normal vectors, the same in every call."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    rows = max(1, BLOCK // d)
    total = 0.0
    for first in range(0, DRAWS, rows):
        total += float(np.sum(support(rng.standard_normal((min(rows, DRAWS - first), d)))))
    return total / DRAWS
