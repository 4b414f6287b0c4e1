"""Quantiles of ``|w|`` for density ``~ exp(-|w|^r)``: a table of cubics.

The probability ``v`` of exceeding a magnitude lies in [2^-32, 1]. Each of these 32 octaves is cut into 16 equal parts;
on each, a cubic in the position ``t`` in [0, 1) interpolates the quantile at Chebyshev points, to a relative error of
6e-8 at most, which is one rounding of the float32 arithmetic that evaluates it. The coefficients are computed in
float64 and rounded to float32.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.errors import InputError

OCTAVES, PARTS = 32, 16
# Rounded to float32, uniform numbers this close to one are one; the magnitude there is their mean's.
_CLOSEST = 2.0**-26


def magnitude(exceeding: NDArray[np.float64], r: float) -> NDArray[np.float64]:
    """Value that ``|w|`` exceeds with given probabilities in (0, 1): ``|w|^r`` has the law Gamma(1/r)."""
    below = 1.0 - exceeding
    from scipy.special import gammainccinv, gammaincinv  # most runs draw no such variates, and can do without

    upper = gammainccinv(1.0 / r, np.minimum(exceeding, 0.5))
    lower = gammaincinv(1.0 / r, np.minimum(below, 0.5))
    # Near zero the density is constant; there |w|^r may be below the smallest float.
    linear = below * math.gamma(1.0 + 1.0 / r)
    with np.errstate(under="ignore"):
        flat = linear**r < 1e-18
    return np.where(flat, linear, np.where(exceeding < 0.5, upper, lower) ** (1.0 / r))


@functools.lru_cache(maxsize=64)
def shape_table(r: float) -> NDArray[np.float32]:
    """Coefficients of the cubics, lowest power first: ``(OCTAVES * PARTS + 1, 4)``, read-only."""
    if not 1.0 <= r < math.inf:
        raise InputError("r", r, "a finite number >= 1")
    part = np.arange(OCTAVES * PARTS)
    width = np.exp2(part // PARTS - float(OCTAVES)) / PARTS
    points = 0.5 - 0.5 * np.cos(np.pi * (np.arange(4) + 0.5) / 4)
    values = magnitude(width[:, None] * (PARTS + part[:, None] % PARTS + points), r)
    cubics = np.linalg.solve(np.vander(points, increasing=True), values.T).T
    table = np.vstack([cubics, [math.gamma(1.0 + 1.0 / r) * _CLOSEST, 0.0, 0.0, 0.0]]).astype(np.float32)
    table.flags.writeable = False
    return table
