"""Exact draws of one-dimensional laws on an interval, and Gaussians on a ball by rejection."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from dpsco_bench.samplers.keyed import KeyedDraws

Array = np.ndarray
FAR = 1000.0
"""Standard deviations beyond which logarithms of tails lose the digits of their differences."""


def truncated_normal(u: Array, mean: Any, sd: Any, high: Any) -> Array:
    """Normal variates conditioned on ``[-high, high]``, by inversion in the left tail.

    Source: Chapter gopi2022, section 2.3 (cube_exact).
    """
    sign = np.where(np.asarray(mean) < 0, -1.0, 1.0)  # reflected so that the interval lies to the left of the mean
    centre = np.abs(mean)
    low, top = (-high - centre) / sd, (high - centre) / sd
    z = ndtri_exp(np.logaddexp(log_ndtr(low) + np.log1p(-u), log_ndtr(top) + np.log(u)))
    far = top < -FAR
    x = np.where(far, high - sd * _below(u, np.where(far, -top, FAR), 2.0 * high / sd), centre + sd * z)
    return sign * np.clip(x, -high, high)


def _below(u: Array, away: Any, length: Any) -> Array:
    """How far the u-quantile of a normal tail ``[-away - length, -away]`` lies below its end; away >= `FAR`.

    By Mills' ratio ``-log(Phi(-a - h)/Phi(-a)) = a h + h^2/2 + log(1 + h/a)`` up to 2 h/a^3.
    """
    rest = np.exp(-(away * length + 0.5 * length**2 + np.log1p(length / away)))  # of the tail below the interval
    found = -np.log(u + rest * (1.0 - u))
    found = found - np.log1p(found / away**2)
    return 2.0 * found / (away + np.sqrt(away**2 + 2.0 * found))


def truncated_exponential(u: Array, slope: Any, high: Any) -> Array:
    """Variates of density ``~ exp(slope x)`` on ``[-high, high]``, by inversion; slope 0 is uniform."""
    length = 2.0 * np.abs(slope) * high
    steep = length > 1e-8
    rate = np.where(steep, np.abs(slope), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = -np.log1p(u * np.expm1(-np.where(steep, length, 1.0))) / rate  # distance from the likelier end
    distance = np.where(steep, below, 2.0 * u * high)
    return np.where(np.asarray(slope) < 0, -1.0, 1.0) * np.clip(high - distance, -high, high)


def gaussian_on_ball(
    draws: KeyedDraws, name: str, step: int, mean: Array, sd: float, p: float, radius: float, cap: int, rows: Array
) -> tuple[Array, Array]:
    """Gaussians ``N(mean, sd^2 I)`` conditioned on the l_p ball, by rejection; on the cube by inversion.

    Parameters
    ----------
    mean : array (m, d)
    sd, p, radius : float, > 0; p in [1, inf]
    rows : array (m,), the rows of ``draws`` that ask

    Returns
    -------
    points : array (m, d), in the ball
    capped : array (m,) of bool
        Rows for which every attempt failed: their point is the last attempt, shrunk on the sphere.
    """
    if np.isinf(p):
        u = draws.uniform(f"{name}/0", step, mean.shape[1])[rows]
        return truncated_normal(u, mean, sd, radius), np.zeros(len(mean), dtype=bool)
    points, todo = np.empty_like(mean), np.arange(len(mean))
    for attempt in range(cap):
        u = draws.uniform(f"{name}/{attempt}", step, mean.shape[1])[rows[todo]]
        points[todo] = mean[todo] + sd * ndtri(u)
        length = np.linalg.norm(points[todo], ord=p, axis=1)
        todo = todo[length > radius]
        if not todo.size:
            break
    capped = np.zeros(len(mean), dtype=bool)
    capped[todo] = True
    points[todo] *= radius / np.linalg.norm(points[todo], ord=p, axis=1, keepdims=True)
    return points, capped
