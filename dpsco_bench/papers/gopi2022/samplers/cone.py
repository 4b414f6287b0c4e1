"""Directions of the cone measure of an l_p sphere."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaincinv, ndtri

from dpsco_bench.samplers.draws import KeyedDraws


def cone_lp(draws: KeyedDraws, name: str, step: int, p: float, d: int) -> np.ndarray:
    """Points ``(rows, d)`` of l_p norm 1: the direction of a uniform point of the l_p ball.

    Entries ``+-Gamma(1/p)^(1/p)`` over their l_p norm; for infinite p a uniform point of the cube over its largest
    entry.
    """
    u = 2.0 * draws.uniform(name, step, d) - 1.0
    if math.isinf(p):
        return u / np.max(np.abs(u), axis=1, keepdims=True)
    quantile = np.abs(u)
    magnitude = -ndtri(0.5 - 0.5 * quantile) if p == 2.0 else gammaincinv(1.0 / p, quantile) ** (1.0 / p)
    length = np.sum(magnitude**p, axis=1, keepdims=True) ** (1.0 / p)
    return np.copysign(magnitude, u) / length
