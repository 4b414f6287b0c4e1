"""Exact accountant of the Gaussian mechanism and of everything that is mu-GDP (Balle and Wang 2018).

A Gaussian whose mean moves by ``mu`` noise standard deviations between neighbours has exactly

    delta_mu(epsilon) = Phi(a) - e^epsilon Phi(b),    a = mu/2 - epsilon/mu,    b = a - mu,

and ``k`` such releases with ratios ``mu_1 .. mu_k``, adaptively chosen, have the curve of the single ratio
``sqrt(mu_1^2 + .. + mu_k^2)`` (Dong, Roth and Su 2022). Since ``e^epsilon phi(b) = phi(a)``, the difference is
``phi(a) (m(a) - m(b))`` with the Mills ratio ``m = Phi / phi``, which neither overflows for large epsilon nor
underflows for small delta. Everything below works on the logarithm of delta and on ``a``, where no cancellation is
left.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import erfcx, erfinv, log_ndtr, ndtri

from dpsco_bench.privacy.accountants.checks import require_delta, require_nonnegative, require_target
from dpsco_bench.privacy.accountants.solve import root

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
# Three-point Gauss-Legendre rule on (0, 1).
_NODES = (0.5 - math.sqrt(0.15), 0.5, 0.5 + math.sqrt(0.15))
_WEIGHTS = (5 / 18, 8 / 18, 5 / 18)
# Below this ratio the difference of two Mills ratios loses digits; its integral has an error of order mu^7.
_SMALL_MU = 1e-2


def accountant_name() -> str:
    return "Gaussian-DP, analytic (Balle-Wang)"


def gdp_delta(mu: float, epsilon: float) -> float:
    """Least delta of a mu-GDP Gaussian at ``epsilon``; infinite mu stands for no noise.

    ``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``. Raises InputError for a negative or NaN argument.
    Source: Balle and Wang 2018, Theorem 8.
    """
    require_nonnegative("mu", mu)
    require_nonnegative("epsilon", epsilon)
    if mu == 0.0 or epsilon == math.inf:
        return 0.0
    if mu == math.inf:
        return 1.0
    return min(1.0, math.exp(_log_delta(0.5 * mu - epsilon / mu, mu)))


def gdp_mu(epsilon: float, delta: float) -> float:
    """Largest mu for which a mu-GDP Gaussian is (epsilon, delta)-differentially private.

    The root of ``delta_mu(epsilon) = delta``, on its safe side to rounding. Raises InputError unless epsilon
    is finite and > 0, delta in (0, 1).
    """
    require_target(epsilon, delta)
    # delta_mu(epsilon) is below Phi(a) and below delta_mu(0) = erf(mu / sqrt 8); each gives a lower bound on the root.
    low = max(_mu_at(float(ndtri(delta)), epsilon), math.sqrt(8.0) * float(erfinv(delta)))
    high = 2.0 * low
    while _log_delta_of(high, epsilon) <= math.log(delta):
        high *= 2.0
    root = _root(lambda mu: _log_delta_of(mu, epsilon) - math.log(delta), low, high)
    return _last_below(root, lambda mu: gdp_delta(mu, epsilon) <= delta)


def gdp_epsilon(mu: float, delta: float) -> float:
    """Least epsilon for which a mu-GDP Gaussian is (epsilon, delta)-differentially private.

    0 where already ``delta_mu(0) <= delta``; infinity for infinite mu. Raises InputError unless mu >= 0, delta in (0,
    1).
    """
    require_nonnegative("mu", mu)
    require_delta(delta)
    if mu == math.inf:
        return math.inf
    if mu == 0.0 or _log_delta(0.5 * mu, mu) <= math.log(delta):
        return 0.0
    # epsilon = mu^2/2 - a mu, and delta grows with a from below Phi(a).
    low, high = float(ndtri(delta)), 0.5 * mu
    a = _root(lambda a: _log_delta(a, mu) - math.log(delta), low, high)
    return max(0.0, mu * (0.5 * mu - a))


def _log_delta_of(mu: float, epsilon: float) -> float:
    return _log_delta(0.5 * mu - epsilon / mu, mu)


def _log_delta(a: float, mu: float) -> float:
    """Logarithm of ``phi(a) (m(a) - m(a - mu))``."""
    if mu < _SMALL_MU:
        return _log_density(a) + _log_mills_integral(a, mu)
    if a <= 0.0:
        return _log_density(a) + math.log(_mills(a) - _mills(a - mu))
    # Phi(a) is at least a half here, and the subtracted term is small beside it.
    return math.log(-math.expm1(_log_density(a) + math.log(_mills(a - mu)) - float(log_ndtr(a)))) + float(log_ndtr(a))


def _log_mills_integral(a: float, mu: float) -> float:
    """Logarithm of the integral of ``m'(x) = 1 + x m(x)`` over ``(a - mu, a)``."""
    return math.log(mu * sum(w * _mills_slope(a - mu * t) for w, t in zip(_WEIGHTS, _NODES, strict=True)))


def _mills(x: float) -> float:
    return _SQRT_HALF_PI * float(erfcx(-x * math.sqrt(0.5)))


def _mills_slope(x: float) -> float:
    if x > -50.0:
        return 1.0 + x * _mills(x)
    square = x * x  # asymptotic series, where 1 + x m(x) would cancel
    return (1.0 - 3.0 / square * (1.0 - 5.0 / square * (1.0 - 7.0 / square))) / square


def _log_density(a: float) -> float:
    return -0.5 * a * a - _LOG_SQRT_2PI


def _mu_at(a: float, epsilon: float) -> float:
    """Positive solution of ``mu/2 - epsilon/mu = a``."""
    root = math.hypot(a, math.sqrt(2.0 * epsilon))
    return a + root if a >= 0.0 else 2.0 * epsilon / (root - a)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root of an increasing function; ``low`` itself where rounding has already put the root below it."""
    if function(low) >= 0.0:
        return low
    return root(function, low, high, 1e-300)


def _last_below(value: float, accepted: Callable[[float], bool]) -> float:
    """Step down from ``value`` by growing rounding errors until it is accepted, as zero is."""
    step = 2.0**-52
    while not accepted(value):
        value *= 1.0 - step
        step *= 2.0
    return value
