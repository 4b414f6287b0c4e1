"""Amplification by shuffling: what a shuffle of n locally private reports would be worth.

Feldman, McMillan, Talwar 2022, Theorem 3.1 (adaptive reports in random order), with the rule for the local delta of
their approximate version. Both formulas are from memory: nothing here may support a status of the ledger until they
have been checked; the values are shown beside bounds that do not need them.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq

from dpsco_bench.privacy.accountants.checks import require_count, require_delta, require_nonnegative, require_target
from dpsco_bench.privacy.accountants.zcdp import zcdp_epsilon, zcdp_rho

_LEAST = 1e-12


def shuffled_epsilon(local_epsilon: float, reports: int, delta: float) -> float:
    """``ln(1 + tanh(e/2) (8 sqrt(exp(e) ln(4/delta)/n) + 8 exp(e)/n))`` for ``e``-private reports.

    Parameters
    ----------
    local_epsilon : float
        >= 0; the theorem holds up to `largest_local_epsilon`.
    reports : int
        n.
    delta : float
        In (0, 1).
    """
    require_nonnegative("local_epsilon", local_epsilon)
    require_count("reports", reports)
    require_delta(delta)
    spread = math.exp(local_epsilon) / reports
    return math.log1p(math.tanh(0.5 * local_epsilon) * 8.0 * (math.sqrt(spread * math.log(4.0 / delta)) + spread))


def largest_local_epsilon(reports: int, delta: float) -> float:
    """``ln(n/(16 ln(2/delta)))``, up to which the theorem holds; negative where n is too small."""
    return math.log(reports / (16.0 * math.log(2.0 / delta)))


def local_delta(epsilon: float, local_epsilon: float, reports: int, delta: float) -> float:
    """Delta of each report that leaves half of ``delta`` for their failures."""
    return 0.5 * delta / (reports * (math.exp(epsilon) + 1.0) * (1.0 + 0.5 * math.exp(-local_epsilon)))


def local_rho(epsilon: float, reports: int, delta: float) -> float:
    """Largest rho of rho-zCDP reports whose shuffle is (epsilon, delta)-private by these formulas; NaN for small n.

    Half of delta goes to the shuffle, half to the reports' own failures.
    """
    require_target(epsilon, delta)
    require_count("reports", reports)
    high = largest_local_epsilon(reports, 0.5 * delta)
    if high <= _LEAST:
        return math.nan

    def excess(e: float) -> float:
        return shuffled_epsilon(e, reports, 0.5 * delta) - epsilon

    e = high if excess(high) <= 0.0 else float(brentq(excess, 0.0, high, xtol=1e-14))
    return zcdp_rho(e, local_delta(epsilon, e, reports, delta))


def amplified_epsilon(rho: float, reports: int, delta: float) -> float:
    """Epsilon of the shuffle of rho-zCDP reports by these formulas.

    The local epsilon is that of rho at the local delta, which depends on it and on the result: a fixed point. Beyond
    `largest_local_epsilon` there is no amplification, and the result is the local epsilon.
    """
    require_nonnegative("rho", rho)
    high = largest_local_epsilon(reports, 0.5 * delta)

    def amplified(e: float) -> float:
        return shuffled_epsilon(e, reports, 0.5 * delta)

    def excess(e: float, whole: float) -> float:
        return zcdp_epsilon(rho, local_delta(whole, e, reports, delta)) - e

    if high > _LEAST and excess(high, amplified(high)) <= 0.0:
        return amplified(float(brentq(lambda e: excess(e, amplified(e)), 0.0, high, xtol=1e-14)))
    top = 1.0
    while excess(top, top) > 0.0:
        top *= 2.0
    return float(brentq(lambda e: excess(e, e), 0.0, top, xtol=1e-14))
