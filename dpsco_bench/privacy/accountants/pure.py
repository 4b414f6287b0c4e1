"""Optimal composition of pure differential privacy (Kairouz, Oh and Viswanath 2015).

Among all adaptive compositions of ``k`` mechanisms that are (epsilon_0, 0)-differentially private, randomised response
is the worst: with ``p = 1/(1 + e^{-epsilon_0})`` losses are ``(k - 2i) epsilon_0`` with chance ``Bin(k, 1-p)(i)``.
A threshold on that loss is the best test, so that the curve is

    epsilon(delta) = max over i of ln((P(first i + 1 losses) - delta) / Q(first i + 1 losses)),

exactly, where ``Q`` is the law of the other data set. Everything is computed on logarithms.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from dpsco_bench.privacy.accountants.checks import require_count, require_delta, require_nonnegative, require_target
from dpsco_bench.privacy.accountants.solve import least_noise

TOLERANCE = 1e-9


def accountant_name() -> str:
    return "optimal composition of pure differential privacy"


def composed_epsilon(epsilon_each: float, steps: int, delta: float) -> float:
    """Epsilon at ``delta`` of ``steps`` mechanisms that are each (epsilon_each, 0)-differentially private.

    At most ``steps * epsilon_each``, the limit of small ``delta``; infinity gives infinity. Raises InputError for
    arguments out of range.
    """
    require_nonnegative("epsilon_each", epsilon_each)
    require_count("steps", steps)
    require_delta(delta)
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
    require_count("steps", steps)
    if composed_epsilon(epsilon / steps, steps, delta) > epsilon:  # rounding, where delta plays no part
        return epsilon / steps
    noise = least_noise(lambda scale: composed_epsilon(1.0 / scale, steps, delta), epsilon, steps / epsilon, TOLERANCE)
    return 1.0 / noise
