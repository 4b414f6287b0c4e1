"""The law of accelerated mirror descent (variant acsa of DP-AccMD) on quadratics inside an l2 ball, exactly.

While no projection is active, Algorithm 3 of Wang, Ye, Xu 2017 on ``F(x) = (h/2) ||x - x*||^2`` is linear, and every
coordinate ``(y - x*, z - x*)`` moves by the same 2 x 2 matrices. With ``w = ||x||^2/(2 R^2)`` and ``Lc = L (2R)^2`` a
step of z has the length ``R^2 (k+2)/(4 Lc) = (k+2)/(16 L)``: the radius cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def bias_and_variance(steps: int, curvature: ArrayLike) -> tuple[Floats, Floats]:
    """Compute what T steps leave of the start's error, and the variance that the noise adds.

    Parameters
    ----------
    steps : int, T, at least 1
    curvature : array_like, shape ``(c,)``, h/L, in (0, 1]

    Returns
    -------
    bias, variance : array, shape ``(c,)``
        ``E (y_T - x*) / (x_0 - x*)``, and the variance of a coordinate of y_T over ``(sigma/L)^2``.
    """
    h = np.atleast_1d(np.asarray(curvature, dtype=np.float64))
    y, z = np.ones_like(h), np.ones_like(h)
    yy, yz, zz = np.zeros_like(h), np.zeros_like(h), np.zeros_like(h)
    for k in range(steps):
        a, r = (k + 2) / 16.0, 2.0 / (k + 2)
        u, v = -a * h * (1 - r), 1 - a * h * r  # z <- u y + v z - a b
        z = u * y + v * z
        y = r * z + (1 - r) * y
        moved = u * yy + v * yz  # covariance of y with the z that follows it
        zz = u * moved + v * (u * yz + v * zz) + a**2
        yy, yz = r**2 * zz + 2 * r * (1 - r) * moved + (1 - r) ** 2 * yy, r * zz + (1 - r) * moved
    return y, yy


@dataclass(frozen=True)
class NoiseShare:
    """Expected excess risk of a cell, in its two parts, over that of the start.

    Attributes
    ----------
    steps : int, T
    bias, noise : array, shape ``(c,)``, what is left with noise off, and what the noise adds
    """

    steps: int
    bias: Floats
    noise: Floats

    @property
    def risk(self) -> Floats:
        return self.bias + self.noise

    @property
    def off(self) -> Floats:
        """Share of the risk that is left with noise off."""
        return self.bias / self.risk


def noise_share(reach: float, curvature: ArrayLike, signal: float = 0.5, constant: float = 1.0) -> NoiseShare:
    """Compute the noise's share by the printed ``T = sqrt(Lc sqrt(B) n eps/(G sqrt(l W)))``, for several curvatures.

    Of G, L, R, n, d, eps and delta only the reach and h/L count: ``T = sqrt(sqrt(8) reach)``, and the variance of
    y_T, summed over its d coordinates, is ``constant T (R/reach)^2`` times the factor of `bias_and_variance`.

    Parameters
    ----------
    reach : float, ``(L R/G) n eps/sqrt(d l)``, > 0
    curvature : array_like, shape ``(c,)``, h/L, in (0, 1]
    signal : float, ``||x* - x_0||/R``, in (0, 1]
    constant : float
        c in ``sigma^2 = c G^2 T l/(n eps)^2``; ``4 eps^2/(mu^2 l)`` with the Gaussian-DP mu for the least noise.
    """
    steps = max(1, round(sqrt(sqrt(8.0) * reach)))
    bias, variance = bias_and_variance(steps, curvature)
    return NoiseShare(steps, bias**2, constant * steps * variance / (reach * signal) ** 2)


def reach_of(n: float, d: float, epsilon: float, delta: float, slope: float) -> float:
    """``slope n eps/sqrt(d l)`` with ``slope = L R/G``."""
    return slope * n * epsilon / sqrt(d * log(1.0 / delta))
