"""Gaussian-DP of a law that is only known up to a total variation distance."""

from __future__ import annotations

import math

from scipy.special import ndtri

from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.accountants.checks import require_delta
from dpsco_bench.privacy.accountants.solve import root


def accountant_name() -> str:
    return f"{gaussian.accountant_name()}, with total variation"


def total_delta(t: float, epsilon: float, tau: float) -> float:
    """``delta(epsilon; t) + (1 + e^epsilon) tau``: the delta of a sampler within tau of a t-GDP law on every data set.

    From ``P'(A) <= P(A) + tau <= e^eps Q(A) + delta + tau <= e^eps Q'(A) + delta + (1 + e^eps) tau``.
    """
    spread = math.inf if epsilon > 700.0 else 1.0 + math.exp(epsilon)
    return gaussian.gdp_delta(t, epsilon) + spread * tau


def total_epsilon(t: float, tau: float, delta: float) -> float:
    """Least epsilon at which `total_delta` is at most delta; NaN if its minimum is above delta.

    As a function of ``e^epsilon`` it is convex, with its minimum where ``Phi(-epsilon/t - t/2) = tau``.
    """
    require_delta(delta)
    if total_delta(t, 0.0, tau) <= delta:
        return 0.0
    lowest = max(0.0, -t * (float(ndtri(tau)) + 0.5 * t))
    if total_delta(t, lowest, tau) > delta * (1.0 + 1e-12):  # both halves of delta may be rounded up
        return math.nan
    if total_delta(t, lowest, tau) >= delta:
        return lowest
    return root(lambda e: total_delta(t, e, tau) - delta, 0.0, lowest, 1e-14)
