"""Amplification by shuffling: records that are each randomised with a local (epsilon_0, delta_0), then permuted.

Feldman, McMillan and Talwar 2021, Theorem 3.1: shuffling n mechanisms that are each epsilon_0-differentially private,
adaptively chosen, gives ``F(epsilon_0, n, dh)`` at ``dh``, for ``epsilon_0 <= ln(n/(16 ln(2/dh)))``, with

    F = ln(1 + tanh(epsilon_0/2) (8 sqrt(e^epsilon_0 ln(4/dh)/n) + 8 e^epsilon_0/n)).

A local delta_0 costs ``n (e^F + 1)(1 + e^(-epsilon_0)/2) delta_0`` of delta besides; here half of delta goes to each
part. The formula and this rule are from memory: what rests on them alone is `unproven`.
"""

from __future__ import annotations

import math

from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.accountants.solve import require, require_target, root
from dpsco_bench.privacy.accountants.zcdp import zcdp_epsilon, zcdp_rho


def largest_local_epsilon(n: int, delta: float) -> float:
    """Largest epsilon_0 for which the theorem is stated, ``ln(n/(16 ln(2/delta)))``; negative for small n."""
    require(n=n, delta=delta)
    return math.log(n / (16.0 * math.log(2.0 / delta)))


def shuffled_epsilon(local: float, n: int, delta: float) -> float:
    """Compute the theorem's ``F(local, n, delta)``, also outside its range (`largest_local_epsilon`)."""
    require(**{"local epsilon": local, "n": n, "delta": delta})
    grown = math.exp(local)
    return math.log1p(math.tanh(0.5 * local) * (8.0 * math.sqrt(grown * math.log(4.0 / delta) / n) + 8.0 * grown / n))


def local_budget(epsilon: float, delta: float, n: int) -> tuple[float, float, float]:
    """Find the epsilon that each record may spend for (epsilon, delta) after shuffling.

    Raises Refusal if the theorem's range is empty. Returns the largest epsilon_0 in the theorem's range with
    ``F(epsilon_0, n, delta/2) <= epsilon``, its delta_0, and the rho for which rho-zCDP implies both.
    """
    require_target(epsilon, delta)
    most = largest_local_epsilon(n, 0.5 * delta)
    if most <= 0.0:
        raise Refusal("shuffling", f"n = {n} is too small for the theorem at delta = {delta:g}")
    local = most
    if shuffled_epsilon(most, n, 0.5 * delta) > epsilon:
        local = root(lambda e: shuffled_epsilon(e, n, 0.5 * delta) - epsilon, 0.0, most, 1e-15)
    share = _local_delta(local, epsilon, delta, n)
    return local, share, zcdp_rho(local, share)


def epsilon_of(rho: float, delta: float, n: int) -> float:
    """Epsilon after shuffling n records that are each randomised with local rho-zCDP.

    The local epsilon_0 is the least one that is consistent with the delta_0 which F of it leaves. Where none lies in
    the theorem's range, or F gives more, it is the epsilon of rho-zCDP: what holds without shuffling holds with it.
    """
    require(rho=rho, delta=delta)
    most, alone = largest_local_epsilon(n, 0.5 * delta), zcdp_epsilon(rho, delta)

    def excess(local: float) -> float:
        share = _local_delta(local, shuffled_epsilon(local, n, 0.5 * delta), delta, n)
        return zcdp_epsilon(rho, share) - local

    if most <= 0.0 or excess(0.0) <= 0.0 or excess(most) > 0.0:
        return alone
    return min(alone, shuffled_epsilon(root(excess, 0.0, most, 1e-15), n, 0.5 * delta))


def _local_delta(local: float, epsilon: float, delta: float, n: int) -> float:
    return 0.5 * delta / (n * (math.exp(epsilon) + 1.0) * (1.0 + 0.5 * math.exp(-local)))
