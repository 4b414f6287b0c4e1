"""Pure and zero-concentrated differential privacy: composition, conversion, and batches without replacement.

*Optimal composition of pure differential privacy* (Kairouz, Oh and Viswanath 2015). Among all adaptive compositions of
``k`` mechanisms that are (epsilon_0, 0)-differentially private, randomised response is the worst: with
``p = 1/(1 + e^{-epsilon_0})`` losses are ``(k - 2i) epsilon_0`` with chance ``Bin(k, 1-p)(i)``. A threshold on that
loss is the best test, so that the curve is

    epsilon(delta) = max over i of ln((P(first i + 1 losses) - delta) / Q(first i + 1 losses)),

exactly, where ``Q`` is the law of the other data set. Everything is computed on logarithms.

*Conversion of zCDP to (epsilon, delta) and back.* A mechanism is rho-zCDP if all its Renyi divergences satisfy
``D_a <= rho a``, a > 1. Then it is (epsilon, delta)-differentially private with

    epsilon = min over a > 1 of  rho a + ln(1 - 1/a) - (ln delta + ln a)/(a - 1)

(Canonne, Kamath and Steinke 2020, Proposition 12). The derivative in ``a`` is ``rho + ln(delta a)/(a - 1)^2``, so that
the best order is the only root of ``rho (a - 1)^2 = ln(1/(delta a))``, and at that order

    epsilon = rho (2a - 1) + ln(1 - 1/a):

both directions are one-dimensional roots in ``a``. Adaptive composition adds rho (Bun and Steinke 2016, Lemma 2.3).

*Batches drawn without replacement*, from their Renyi divergences of integer orders. For comparison alone: it knows
nothing of the noise but its zCDP bound, and does not vanish as the noise grows. Noise that is Gaussian-DP is charged by
`fixed_size`. Source: Wang, Balle, Kasiviswanathan, AISTATS 2019, Theorem 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, logsumexp

from dpsco_bench.privacy.accountants.solve import least_noise, require, require_target, root

PURE = "optimal composition of pure differential privacy"
NAME = "zCDP"
TOLERANCE = 1e-9
# Least ln(a - 1) that is looked at: its rho is 1e260.
_LEAST = -300.0
ORDERS = (*range(2, 65), 80, 96, 128, 192, 256)
_LARGEST = 14.0
"""Logarithm of the largest factor that is tried."""


def composed_epsilon(epsilon_each: float, steps: int, delta: float) -> float:
    """Epsilon at ``delta`` of ``steps`` mechanisms that are each (epsilon_each, 0)-private, at most their sum."""
    require(epsilon_each=epsilon_each, steps=steps, delta=delta)
    if epsilon_each == math.inf:
        return math.inf
    against = np.arange(steps + 1, dtype=np.float64)
    choices = gammaln(steps + 1) - gammaln(against + 1) - gammaln(steps - against + 1)
    normaliser = steps * np.logaddexp(0.0, -epsilon_each)
    log_power = np.logaddexp.accumulate(choices - epsilon_each * against) - normaliser
    log_level = np.logaddexp.accumulate(choices - epsilon_each * (steps - against)) - normaliser
    with np.errstate(over="ignore"):
        excess = -np.expm1(math.log(delta) - np.minimum(log_power, 0.0))
        bounds = np.where(excess > 0.0, log_power + np.log(np.maximum(excess, 1e-300)) - log_level, -np.inf)
    return max(0.0, float(bounds.max()))


def epsilon_each_for(epsilon: float, delta: float, steps: int) -> float:
    """Largest epsilon_0 for which ``steps`` mechanisms compose to at most ``epsilon`` at ``delta``.

    At least ``epsilon/steps``; too small by at most a fraction 1e-9. Raises InputError for arguments out of range.
    """
    require_target(epsilon, delta)
    require(steps=steps)
    if composed_epsilon(epsilon / steps, steps, delta) > epsilon:  # rounding, where delta plays no part
        return epsilon / steps
    noise = least_noise(lambda scale: composed_epsilon(1.0 / scale, steps, delta), epsilon, steps / epsilon, TOLERANCE)
    return 1.0 / noise


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Upper bound on epsilon at ``delta`` that rho-zCDP implies, infinite for infinite rho."""
    require(rho=rho, delta=delta)
    if rho in (0.0, math.inf):
        return rho
    if rho >= _rho_at(_LEAST, delta):
        return rho + 2.0 * math.sqrt(-rho * math.log(delta))  # the order 1 + sqrt(ln(1/delta)/rho), nothing dropped
    return max(0.0, _epsilon_at(_order(lambda x: _rho_at(x, delta) - rho, delta), delta))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """Largest rho for which rho-zCDP implies (epsilon, delta)-differential privacy by `zcdp_epsilon`."""
    require_target(epsilon, delta)
    return _rho_at(_order(lambda x: _epsilon_at(x, delta) - epsilon, delta), delta)


def _rho_at(x: float, delta: float) -> float:
    """Compute the rho whose best order is ``a = 1 + e^x``."""
    return -(math.log(delta) + math.log1p(math.exp(x))) * math.exp(-2.0 * x)


def _epsilon_at(x: float, delta: float) -> float:
    """Epsilon of that rho; ``ln(1 - 1/a) = -ln(1 + e^-x)``."""
    return _rho_at(x, delta) * (1.0 + 2.0 * math.exp(x)) - math.log1p(math.exp(-x))


def _order(function: Callable[[float], float], delta: float) -> float:
    """Root of a decreasing function of ``x = ln(a - 1)``; at ``a = 1/delta`` rho is zero and epsilon below zero."""
    most = math.log1p(-delta) - math.log(delta)
    return most if function(most) >= 0.0 else root(function, _LEAST, most, 1e-14)


def subsampled_epsilon(rho: float, rate: float, steps: int, delta: float) -> float:
    """Upper bound on epsilon of releases rho-zCDP in a batch for its records, a share ``rate`` of all."""
    require(rho=rho, rate=rate, steps=steps, delta=delta)
    return min(
        steps * _divergence(order, rho, rate)
        + math.log1p(-1.0 / order)
        - (math.log(delta) + math.log(order)) / (order - 1.0)
        for order in ORDERS
    )


def least_factor(epsilon: float, rho: float, rate: float, steps: int, delta: float) -> float:
    """Find the factor on the noise at which the bound is at most epsilon; infinity if none suffices."""

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
