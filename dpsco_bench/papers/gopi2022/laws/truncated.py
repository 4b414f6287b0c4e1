"""Normals truncated to an interval: the distance of their mean from its upper end."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.papers.gopi2022.laws.nodes import DEPTH, gauss_legendre

_COUNT = 80


def tilted_gap(slope: Any, curvature: float, R: float = 1.0) -> np.ndarray:
    """``R - E x`` for the density ``exp(slope x - curvature x^2)`` on ``[-R, R]``, curvature > 0; slopes of any shape.

    The distance from R is integrated itself, so that no digits are lost where x is close to R.
    """
    sd = np.sqrt(0.5 / curvature)
    return _mean_distance(sd * (np.asarray(slope, dtype=np.float64) - 2.0 * curvature * R), 2.0 * R / sd) * sd


def _mean_distance(alpha: np.ndarray, length: Any) -> np.ndarray:
    """Mean of the density ``exp(-alpha u - u^2/2)`` on ``[0, length]``, over the interval where it is not tiny."""
    length = np.broadcast_to(length, np.shape(alpha))
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
    return np.sum(u * mass, axis=-1) / np.sum(mass, axis=-1)
