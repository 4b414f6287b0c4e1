"""Zero-concentrated differential privacy: conversion to (epsilon, delta) and back.

A mechanism is rho-zCDP if all its Renyi divergences satisfy ``D_a <= rho a``, a > 1. Then it is (epsilon, delta)-
differentially private with

    epsilon = min over a > 1 of  rho a + ln(1 - 1/a) - (ln delta + ln a)/(a - 1)

(Canonne, Kamath and Steinke 2020, Proposition 12). The derivative in ``a`` is ``rho + ln(delta a)/(a - 1)^2``, so that
the best order is the only root of ``rho (a - 1)^2 = ln(1/(delta a))``, and at that order

    epsilon = rho (2a - 1) + ln(1 - 1/a):

both directions are one-dimensional roots in ``a``. Adaptive composition adds rho (Bun and Steinke 2016, Lemma 2.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsco_bench.privacy.accountants.checks import require_delta, require_nonnegative, require_target
from dpsco_bench.privacy.accountants.solve import root

# Least ln(a - 1) that is looked at: its rho is 1e260.
_LEAST = -300.0


def accountant_name() -> str:
    return "zCDP"


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Upper bound on epsilon at ``delta`` that rho-zCDP implies, infinite for infinite rho.

    Raises InputError for arguments out of range.
    """
    require_nonnegative("rho", rho)
    require_delta(delta)
    if rho in (0.0, math.inf):
        return rho
    if rho >= _rho_at(_LEAST, delta):
        return rho + 2.0 * math.sqrt(-rho * math.log(delta))  # the order 1 + sqrt(ln(1/delta)/rho), nothing dropped
    return max(0.0, _epsilon_at(_order(lambda x: _rho_at(x, delta) - rho, delta), delta))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """Largest rho for which rho-zCDP implies (epsilon, delta)-differential privacy by `zcdp_epsilon`.

    Raises InputError for arguments out of range.
    """
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
