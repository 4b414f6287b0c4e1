"""Gaussian-DP of the last iterate of noisy full-batch gradient steps, where nothing else is released.

Steps are ``x <- P(x - eta (grad F(x) + N(0, sigma^2 I)))``. Replacing a record changes ``grad F`` by at most s at one
and the same point, and a step without noise is c-Lipschitz, ``c = max(|1 - eta mu|, |1 - eta M|)`` times the Lipschitz
constant of P. Privacy amplification by iteration (Feldman, Mironov, Talwar, Thakurta 2018) in Gaussian-DP form (Bok,
Su, Altschuler, ICML 2024): a distance ``z_t = c z_(t-1) + eta s - a_t >= 0`` between two runs is handed over to the
noise in portions ``a_t``. Each costs ``(a_t/(eta sigma))^2``, and ``z_T = 0``. The squared parameter is the least cost.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.privacy.accountants.checks import require_count, require_nonnegative


def accountant_name() -> str:
    return "last iterate, Gaussian-DP by iteration"


def constant_mu(contraction: float, steps: int, ratio: float, diameter: float = math.inf) -> float:
    """Gaussian-DP parameter of the last of equal steps.

    The minimum over tau in 1..T of ``((1 - c^tau)/(1 - c) s + [tau < T] c^tau D/eta) / sigma`` over
    ``sqrt((1 - c^(2 tau))/(1 - c^2))``. Raises InputError for arguments out of range.

    Parameters
    ----------
    contraction : float, c in [0, 1]
    steps : int, T >= 1
    ratio : float, s/sigma >= 0
    diameter : float
        D/(eta s), of the domain, in units of what one step may move; infinite without one, so that tau = T.
    """
    require_nonnegative("ratio", ratio)
    require_count("steps", steps)
    lengths = np.arange(1.0, steps + 1.0) if diameter < math.inf else np.array([float(steps)])
    with np.errstate(divide="ignore"):
        power = lengths * np.log(contraction)
    moved, spread = lengths, lengths
    if contraction < 1.0:
        gap = 1.0 - contraction
        moved, spread = -np.expm1(power) / gap, -np.expm1(2.0 * power) / (gap * (1.0 + contraction))
    if diameter < math.inf:
        moved = moved + np.append(np.exp(power[:-1]), 0.0) * diameter
    return ratio * float(np.min(moved / np.sqrt(spread)))


def varying_mu(contractions: ArrayLike, shifts: ArrayLike, noises: ArrayLike) -> float:
    """Gaussian-DP parameter of the last of steps that differ, from the first one on.

    With ``w_t`` the product of ``c_u`` over u > t, portions may not be handed over before they arise: the sum of ``w_u
    a_u`` up to t is at most that of ``w_u eta_u s``. Over the cumulated ``(w_t eta_t sigma_t)^2`` the best portions
    follow the greatest convex minorant of these sums. Where that is one line, the parameter is
    ``sum w_t eta_t s / sqrt(sum (w_t eta_t sigma_t)^2)``.

    Parameters
    ----------
    contractions : array_like (T,), c_t in [0, 1]
    shifts, noises : array_like (T,), ``eta_t s`` >= 0 and ``eta_t sigma_t`` > 0
    """
    c = np.asarray(contractions, dtype=np.float64)
    w = np.append(np.cumprod(c[:0:-1])[::-1], 1.0)
    x = np.cumsum((w * np.asarray(noises, dtype=np.float64)) ** 2)
    y = np.cumsum(w * np.asarray(shifts, dtype=np.float64))
    hull = [(0.0, 0.0)]
    for point in zip(x.tolist(), y.tolist(), strict=True):
        while len(hull) > 1 and _slope(hull[-1], point) <= _slope(hull[-2], hull[-1]):
            hull.pop()
        if point[0] > hull[-1][0]:  # a step that is forgotten, up to rounding, costs nothing
            hull.append(point)
    return math.sqrt(sum((b[1] - a[1]) ** 2 / (b[0] - a[0]) for a, b in zip(hull, hull[1:], strict=False)))


def _slope(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0]) if b[0] > a[0] else math.inf
