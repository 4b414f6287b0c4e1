"""Nodes and brackets for integrals of log-concave densities, in arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

DEPTH = 50.0
"""A log-concave density is cut where it is exp(-DEPTH) of its maximum."""
_POINTS = 65
_ENOUGH = 20
_DE_RANGE = 3.3
"""Up to here the double exponential rule has weights; its outermost nodes are 1e-18 of the interval from its ends."""


@lru_cache(maxsize=8)
def gauss_legendre(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the Gauss-Legendre rule on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1.0), 0.5 * weights


@lru_cache(maxsize=8)
def double_exponential(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tanh-sinh rule on (0, 1), which algebraic singularities at the ends do not disturb.

    Distances of the ``count`` nodes from 0 and from 1, each without cancellation, and their weights. Source: Takahasi
    and Mori 1974.
    """
    t = np.linspace(-_DE_RANGE, _DE_RANGE, count)
    u = 0.5 * np.pi * np.sinh(t)
    lower, upper = 1.0 / (1.0 + np.exp(-2.0 * u)), 1.0 / (1.0 + np.exp(2.0 * u))
    weights = (t[1] - t[0]) * np.pi * np.cosh(t) * lower * upper
    return lower, upper, weights


def bracket(log_density: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> tuple[float, float]:
    """Find an interval outside of which a log-concave density is below ``exp(-DEPTH)`` of its maximum.

    Parameters
    ----------
    log_density : callable, logarithm of the density at points ``(N,)``, up to a constant; concave, -inf allowed
    """
    for _ in range(60):
        x = low + (high - low) * np.linspace(0.0, 1.0, _POINTS)
        x[-1] = high
        values = log_density(x)
        inside = np.flatnonzero(values > np.max(values) - DEPTH)
        first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, _POINTS - 1)
        if len(inside) >= _ENOUGH:
            return float(x[first]), float(x[last])
        low, high = float(x[first]), float(x[last])
    return low, high
