"""Exact draws of one-dimensional laws on an interval, and Gaussians on a ball by rejection."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
FAR = 50.0
"""Standard deviations beyond which a quantile is found by how far it lies below the end of its tail.

There a difference of logarithms of tails has fewer digits than the interval, and `ndtri_exp` loses some of its own.
"""


def truncated_normal(u: Array, mean: Any, sd: Any, high: Any) -> Array:
    """Draw normal variates conditioned on ``[-high, high]``, by inversion in the left tail.

    Source: Chapter gopi2022, section 2.3 (cube_exact).
    """
    sign = np.where(np.asarray(mean) < 0, -1.0, 1.0)  # reflected so that the interval lies to the left of the mean
    centre = np.abs(mean)
    low, top = (-high - centre) / sd, (high - centre) / sd
    x = centre + sd * ndtri_exp(np.logaddexp(log_ndtr(low) + np.log1p(-u), log_ndtr(top) + np.log(u)))
    far = top < -FAR
    if np.any(far):
        x = np.where(far, high - sd * _below(u, np.where(far, -top, FAR), 2.0 * high / sd), x)
    return sign * np.clip(x, -high, high)


def _below(u: Array, away: Any, length: Any) -> Array:
    """Compute how far the u-quantile of a normal tail ``[-away - length, -away]`` is below its end; away >= `FAR`."""
    whole = _fall(away, length)
    short = np.log1p(np.expm1(-np.minimum(whole, 1.0)) * (1.0 - u))  # keeps the digits of a tail that hardly falls
    wanted = -np.where(whole < 1.0, short, np.log(u + np.exp(-whole) * (1.0 - u)))
    found = wanted - np.log1p(wanted / away**2)
    found = 2.0 * found / (away + np.sqrt(away**2 + 2.0 * found))
    at = away + found
    return found - (_fall(away, found) - wanted) / (at + (1.0 - 2.0 / at**2) / at)  # a Newton step leaves 1e-13 of it


def _fall(away: Any, length: Any) -> Any:
    """``-log(Phi(-away - length)/Phi(-away))`` to rounding, away >= `FAR`.

    By three terms of ``log(x Phi(-x)/phi(x)) = -1/x^2 + 5/(2 x^4) - 37/(3 x^6) + ...``, each a divided difference.
    """
    end = away + length
    y, z = 1.0 / away**2, 1.0 / end**2
    terms = 1.0 - 2.5 * (y + z) + 37.0 / 3.0 * (y * y + y * z + z * z)
    return length * (away + 0.5 * length) + np.log1p(length / away) - y * (length / end) * (1.0 + away / end) * terms


def quantile_of_log(level: Array) -> Array:
    """``Phi^-1(exp(level))``; a Newton step gives far quantiles the digits that `ndtri_exp` leaves out."""
    z = ndtri_exp(level)
    deep = np.minimum(z, -FAR)
    found = log_ndtr(deep)
    step = (found - level) * np.exp(found + 0.5 * deep**2 + LOG_ROOT_2PI)
    return np.where(z < -FAR, deep - step, z)


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
