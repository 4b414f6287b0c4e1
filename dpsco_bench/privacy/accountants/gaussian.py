"""Gaussian-DP: its exact accountant, laws known up to a total variation distance, and the last iterate of descent.

*Exact* (Balle and Wang 2018). A Gaussian whose mean moves by ``mu`` noise standard deviations between neighbours has
exactly

    delta_mu(epsilon) = Phi(a) - e^epsilon Phi(b),    a = mu/2 - epsilon/mu,    b = a - mu,

and ``k`` such releases with ratios ``mu_1 .. mu_k``, adaptively chosen, have the curve of the single ratio
``sqrt(mu_1^2 + .. + mu_k^2)`` (Dong, Roth and Su 2022). Since ``e^epsilon phi(b) = phi(a)``, the difference is
``phi(a) (m(a) - m(b))`` with the Mills ratio ``m = Phi / phi``, which neither overflows for large epsilon nor
underflows for small delta. Everything below works on the logarithm of delta and on ``a``, where no cancellation is
left.

*The last iterate* of noisy full-batch gradient steps ``x <- P(x - eta (grad F(x) + N(0, sigma^2 I)))``, where nothing
else is released: a distance ``z_t = c z_(t-1) + eta s - a_t >= 0`` between two runs is handed over to the noise in
portions ``a_t``, each of which costs ``(a_t/(eta sigma))^2``, and ``z_T = 0`` (docs/accounting.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import erfcx, erfinv, log_ndtr, ndtri

from dpsco_bench.privacy.accountants.solve import require, require_target, root

NAME = "Gaussian-DP, analytic (Balle-Wang)"
TOTAL_VARIATION = f"{NAME}, with total variation"
LAST_ITERATE = "last iterate, Gaussian-DP by iteration"
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
# Three-point Gauss-Legendre rule on (0, 1).
_NODES = (0.5 - math.sqrt(0.15), 0.5, 0.5 + math.sqrt(0.15))
_WEIGHTS = (5 / 18, 8 / 18, 5 / 18)
# Below this ratio the difference of two Mills ratios loses digits; its integral has an error of order mu^7.
_SMALL_MU = 1e-2


def gdp_delta(mu: float, epsilon: float) -> float:
    """Least delta of a mu-GDP Gaussian at ``epsilon``; infinite mu stands for no noise.

    ``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``. Raises InputError for a negative or NaN argument.
    Source: Balle and Wang 2018, Theorem 8.
    """
    require(mu=mu, epsilon=epsilon)
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
    a = float(ndtri(delta))
    length = math.hypot(a, math.sqrt(2.0 * epsilon))  # mu/2 - epsilon/mu = a has the positive solution a + length
    at_a = a + length if a >= 0.0 else 2.0 * epsilon / (length - a)
    low = max(at_a, math.sqrt(8.0) * float(erfinv(delta)))
    high = 2.0 * low

    def excess(mu: float) -> float:
        return _log_delta(0.5 * mu - epsilon / mu, mu) - math.log(delta)

    while excess(high) <= 0.0:
        high *= 2.0
    mu, step = _root(excess, low, high), 2.0**-52
    while gdp_delta(mu, epsilon) > delta:  # down by growing rounding errors
        mu *= 1.0 - step
        step *= 2.0
    return mu


def gdp_epsilon(mu: float, delta: float) -> float:
    """Least epsilon for which a mu-GDP Gaussian is (epsilon, delta)-private: 0 if ``delta_mu(0) <= delta``."""
    require(mu=mu, delta=delta)
    if mu == math.inf:
        return math.inf
    if mu == 0.0 or _log_delta(0.5 * mu, mu) <= math.log(delta):
        return 0.0
    # epsilon = mu^2/2 - a mu, and delta grows with a from below Phi(a).
    low, high = float(ndtri(delta)), 0.5 * mu
    a = _root(lambda a: _log_delta(a, mu) - math.log(delta), low, high)
    return max(0.0, mu * (0.5 * mu - a))


def _log_delta(a: float, mu: float) -> float:
    """Logarithm of ``phi(a) (m(a) - m(a - mu))``."""
    if mu < _SMALL_MU:
        slopes = (w * _mills_slope(a - mu * t) for w, t in zip(_WEIGHTS, _NODES, strict=True))
        return _log_density(a) + math.log(mu * sum(slopes))  # the integral of m'(x) = 1 + x m(x) over (a - mu, a)
    if a <= 0.0:
        return _log_density(a) + math.log(_mills(a) - _mills(a - mu))
    # Phi(a) is at least a half here, and the subtracted term is small beside it.
    return math.log(-math.expm1(_log_density(a) + math.log(_mills(a - mu)) - float(log_ndtr(a)))) + float(log_ndtr(a))


def _mills(x: float) -> float:
    return _SQRT_HALF_PI * float(erfcx(-x * math.sqrt(0.5)))


def _mills_slope(x: float) -> float:
    if x > -50.0:
        return 1.0 + x * _mills(x)
    square = x * x  # asymptotic series, where 1 + x m(x) would cancel
    return (1.0 - 3.0 / square * (1.0 - 5.0 / square * (1.0 - 7.0 / square))) / square


def _log_density(a: float) -> float:
    return -0.5 * a * a - _LOG_SQRT_2PI


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root of an increasing function; ``low`` itself where rounding has already put the root below it."""
    if function(low) >= 0.0:
        return low
    return root(function, low, high, 1e-300)


def total_delta(t: float, epsilon: float, tau: float) -> float:
    """``delta(epsilon; t) + (1 + e^epsilon) tau``: the delta of a sampler within tau of a t-GDP law on every data set.

    From ``P'(A) <= P(A) + tau <= e^eps Q(A) + delta + tau <= e^eps Q'(A) + delta + (1 + e^eps) tau``.
    """
    spread = math.inf if epsilon > 700.0 else 1.0 + math.exp(epsilon)
    return gdp_delta(t, epsilon) + spread * tau


def total_epsilon(t: float, tau: float, delta: float) -> float:
    """Least epsilon at which `total_delta` is at most delta; NaN if its minimum is above delta.

    As a function of ``e^epsilon`` it is convex, with its minimum where ``Phi(-epsilon/t - t/2) = tau``.
    """
    require(delta=delta)
    if total_delta(t, 0.0, tau) <= delta:
        return 0.0
    lowest = max(0.0, -t * (float(ndtri(tau)) + 0.5 * t))
    if total_delta(t, lowest, tau) > delta * (1.0 + 1e-12):  # both halves of delta may be rounded up
        return math.nan
    if total_delta(t, lowest, tau) >= delta:
        return lowest
    return root(lambda e: total_delta(t, e, tau) - delta, 0.0, lowest, 1e-14)


def constant_mu(contraction: float, steps: int, ratio: float, diameter: float = math.inf) -> float:
    """Gaussian-DP parameter of the last of equal steps.

    The minimum over tau in 1..T of ``((1 - c^tau)/(1 - c) s + [tau < T] c^tau D/eta) / sigma`` over
    ``sqrt((1 - c^(2 tau))/(1 - c^2))``. Raises InputError for arguments out of range. ``ratio`` is s/sigma,
    ``diameter`` D/(eta s), of the domain, in units of what one step may move; infinite without one, so that tau = T.
    """
    require(ratio=ratio, steps=steps)
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
