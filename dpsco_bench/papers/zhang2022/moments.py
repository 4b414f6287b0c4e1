"""The second moment of normal noise in a dual norm, and of the noise of a whole path of the tree."""

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, gamma, lgamma, log, pi, sqrt

import numpy as np

from dpsco_bench.claims.bounds.registry import BoundContext
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE, NodeUnits
from dpsco_bench.privacy.tree import prefix_nodes

STEP, TAIL = 0.35, 34.0
"""Step of the trapezoidal rule in the logarithm of an integration variable, and minus the logarithm of what is cut."""


@lru_cache(maxsize=256)
def second_moment(q: float, d: int) -> float:
    """``E ||g||_q^2`` of a standard normal vector g in R^d, for q >= 2 that is finite.

    With ``S = sum |g_i|^q`` and a = 2/q < 1, ``E S^a = a/Gamma(1 - a) int_0^inf (1 - E exp(-s S)) s^(-a-1) ds``, and
    the expectation is the d-th power of that of one coordinate. The trapezoidal rule in ln s converges exponentially;
    where s is small the integrand is a power of s, so that its sum is a geometric series.
    """
    if q == 2.0:
        return float(d)
    a = 2.0 / q
    first, second = (lgamma(0.5 * (j * q + 1.0)) + 0.5 * j * q * log(2.0) - 0.5 * log(pi) for j in (1, 2))
    least = -TAIL - max(0.0, second - first) - log(d)
    u = np.arange(least, TAIL / a, STEP)
    whole = -np.expm1(d * _log_laplace(q, u))
    power = exp(first + log(d) + (1.0 - a) * (least - STEP)) / -expm1(-(1.0 - a) * STEP)
    return float(a / gamma(1.0 - a) * STEP * (power + np.sum(whole * np.exp(-a * u))))


def _log_laplace(q: float, u: np.ndarray) -> np.ndarray:
    """``ln E exp(-e^u |g|^q)`` of one standard normal g, shape ``(u,)``."""
    v = np.arange(-TAIL, 4.0, STEP / q)
    density = 2.0 / sqrt(2.0 * pi) * np.exp(v - 0.5 * np.exp(2.0 * v)) * STEP / q
    lost = np.array([np.sum(-np.expm1(-np.exp(np.minimum(one + q * v, 700.0))) * density) for one in u])
    return np.log1p(-np.minimum(lost, 1.0 - 1e-16))


def noise_moment(q: float, d: int) -> float:
    """V: ``E ||zeta||_q^2`` of ``zeta ~ N(0, d^(1 - 2/q) I)``; at most ``d (q - 1)``, and d for q = 2."""
    return float(d) ** (1.0 - 2.0 / q) * second_moment(q, d)


def path_moment(c: BoundContext, t: int) -> float:
    """``E ||gamma_t||_q^2`` of the noise that a cell adds to the sum of the records 1..t, its own scales given.

    The nodes of I_t are independent normals, so that their sum is one. Known before the run where units are fixed.
    """
    s = c.schedule
    units = NodeUnits(
        s["k"], s["n"], s["lipschitz"], s["smoothness"], s["diameter"], s["sensitivity"], s["radius"]
    )  # fmt: skip
    if not units.fixed:
        raise InputError("radius", s["radius"], "D, or a linear loss: else the noise depends on the run")
    sizes = units.fixed_units[np.array(prefix_nodes(t)) - 1]
    variance = float(c.scales[NODE]) ** 2 * float(np.sum(sizes**2))
    return variance * second_moment(dual_exponent(c.constants.norm), c.d)
