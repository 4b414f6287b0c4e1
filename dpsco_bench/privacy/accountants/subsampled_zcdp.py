"""Generic bound for zCDP releases on batches drawn without replacement, from their Renyi divergences of integer orders.

For comparison alone: it knows nothing of the noise but its zCDP bound, and does not vanish as the noise grows. Noise
that is Gaussian-DP is charged by `fixed_size`. Source: Wang, Balle, Kasiviswanathan, AISTATS 2019, Theorem 9.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from dpsco_bench.privacy.accountants.checks import require_count, require_delta, require_nonnegative, require_rate
from dpsco_bench.privacy.accountants.solve import root

ORDERS = (*range(2, 65), 80, 96, 128, 192, 256)
_LARGEST = 14.0
"""Logarithm of the largest factor that is tried."""


def subsampled_epsilon(rho: float, rate: float, steps: int, delta: float) -> float:
    """Upper bound on epsilon of releases that are rho-zCDP on a batch.

    Parameters
    ----------
    rho : float, zCDP of one release for a record that is in its batch, >= 0
    rate : float, share of the records in a batch, in (0, 1]
    steps : int, number of releases, >= 1
    delta : float, in (0, 1)
    """
    require_nonnegative("rho", rho)
    require_rate(rate)
    require_count("steps", steps)
    require_delta(delta)
    return min(
        steps * _divergence(order, rho, rate)
        + math.log1p(-1.0 / order)
        - (math.log(delta) + math.log(order)) / (order - 1.0)
        for order in ORDERS
    )


def least_factor(epsilon: float, rho: float, rate: float, steps: int, delta: float) -> float:
    """Find the factor on the noise at which the bound is at most epsilon; infinity if none suffices.

    Parameters
    ----------
    epsilon : float, > 0; the others as in `subsampled_epsilon`
    """

    def excess(log_factor: float) -> float:
        return subsampled_epsilon(rho * math.exp(-2.0 * log_factor), rate, steps, delta) - epsilon

    if excess(_LARGEST) > 0.0:
        return math.inf
    return math.exp(root(excess, -_LARGEST, _LARGEST, xtol=1e-6))


def _divergence(order: int, rho: float, rate: float) -> float:
    """Renyi divergence of one release, at most ``order * rho``."""
    j = np.arange(2.0, order + 1.0)
    choices = gammaln(order + 1.0) - gammaln(j + 1.0) - gammaln(order - j + 1.0)
    grown = 2.0 * rho
    less = math.log(-math.expm1(-grown)) if grown > 0.0 else -math.inf
    first = grown + min(math.log(4.0) + less, math.log(2.0))
    logs = choices + j * math.log(rate) + np.where(j == 2.0, first, math.log(2.0) + j * (j - 1.0) * rho)
    return min(order * rho, float(np.logaddexp(0.0, logsumexp(logs))) / (order - 1.0))
