"""Nodes, brackets and bisections for integrals of log-concave densities in arrays; two laws on a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

Array = Any
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
    """Nodes of the tanh-sinh rule on (0, 1), from 0 and from 1, and weights. Source: Takahasi and Mori 1974."""
    t = np.linspace(-_DE_RANGE, _DE_RANGE, count)
    u = 0.5 * np.pi * np.sinh(t)
    lower, upper = 1.0 / (1.0 + np.exp(-2.0 * u)), 1.0 / (1.0 + np.exp(2.0 * u))
    weights = (t[1] - t[0]) * np.pi * np.cosh(t) * lower * upper
    return lower, upper, weights


def bracket(log_density: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> tuple[float, float]:
    """Find an interval outside of which a concave log density ``(N,)`` is `DEPTH` below its maximum; -inf allowed."""
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


def ends(holds: Callable[[Array], Array], low: Array, high: Array, steps: int) -> tuple[Array, Array]:
    """Bracket the end of a condition that holds from ``low`` on; elementwise, arrays ``(N,)``.

    Returns the last point where it was seen to hold, and the first where not; ``high`` twice where it holds there.
    """
    everywhere, last = holds(high), high
    for _ in range(steps):
        middle = 0.5 * (low + high)
        inside = holds(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(everywhere, last, low), np.where(everywhere, last, high)


_COUNT = 80


def tilted_gap(slope: Any, curvature: float) -> np.ndarray:
    """Compute ``1 - E x`` for the density ``exp(slope x - curvature x^2)`` on ``[-1, 1]``, curvature > 0, by slope.

    The distance from 1 is integrated itself, so that no digits are lost where x is close to it: in standard deviations
    it has the density ``exp(-alpha u - u^2/2)`` on ``[0, length]``, over the interval where that is not tiny.
    """
    sd = np.sqrt(0.5 / curvature)
    alpha = sd * (np.asarray(slope, dtype=np.float64) - 2.0 * curvature)
    length = np.broadcast_to(2.0 / sd, np.shape(alpha))
    mode = np.clip(-alpha, 0.0, length)
    half = np.sqrt((mode + alpha) ** 2 + 2.0 * DEPTH)
    low = np.maximum(0.0, -alpha - half)
    # half - alpha without cancellation for alpha > 0, where the mode is 0
    high = np.minimum(length, np.where(alpha > 0.0, 2.0 * DEPTH / (half + np.abs(alpha)), half - alpha))
    nodes, weights = gauss_legendre(_COUNT)
    u = low[..., None] + (high - low)[..., None] * nodes
    # relative to the mode, whose exponent may be huge
    exponent = -(u - mode[..., None]) * (alpha[..., None] + 0.5 * (u + mode[..., None]))
    mass = weights * np.exp(exponent)
    return np.sum(u * mass, axis=-1) / np.sum(mass, axis=-1) * sd


REACH = 12.0
"""Standard deviations, and as many steps besides, on either side of the mean that are kept."""


def signed_count_law(n: int, plus: float, minus: float) -> tuple[np.ndarray, np.ndarray]:
    """Consecutive integers and their chances as a sum of n steps +1, -1 or 0; good to ``1e-16 n`` of the largest."""
    mean, variance = n * (plus - minus), n * (plus + minus - (plus - minus) ** 2)
    reach = REACH * (math.sqrt(max(0.0, variance)) + 1.0)
    size = 1 << math.ceil(math.log2(2.0 * reach + 2.0))
    first = math.floor(mean - 0.5 * size)
    angle = 2.0 * np.pi * np.fft.fftfreq(size)
    # log E exp(i angle step), where small angles would cancel in 1 + x
    real = -2.0 * (plus + minus) * np.sin(0.5 * angle) ** 2
    imaginary = (plus - minus) * np.sin(angle)
    with np.errstate(divide="ignore"):  # alternating signs can cancel all of it
        modulus = 0.5 * np.log1p(real * (2.0 + real) + imaginary**2)
    phase = n * np.arctan2(imaginary, 1.0 + real) - first * angle
    law = np.fft.fft(np.exp(n * modulus + 1j * phase)).real / size
    values = first + np.arange(size)
    kept = np.abs(values - mean) <= reach
    law = np.maximum(law[kept], 0.0)
    return values[kept], law / law.sum()
