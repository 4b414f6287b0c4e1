"""Generic amplification of zCDP by batches drawn *without* replacement.

By Wang, Balle and Kasiviswanathan 2019, Theorem 9, with rho of one release for a record in the batch and ``g = m/n``,
for integer orders a,

    D_a <= ln(1 + g^2 C(a,2) min(4(e^(2 rho) - 1), 2 e^(2 rho)) + sum_{j=3..a} 2 g^j C(a,j) e^(j(j-1) rho))/(a - 1),

and never more than ``a rho``. It holds for every mechanism and so does not vanish with growing noise: about
``4 g^2 C(a,2) rho`` per step is left. Shown beside values of the scheme that is run, never a proof for it: that scheme
draws with replacement.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from dpsco_bench.privacy.accountants.checks import require_count, require_delta, require_nonnegative, require_rate

ORDERS = (*range(2, 65), 80, 96, 128, 192, 256)


def accountant_name() -> str:
    return "subsampling without replacement, generic Renyi bound"


def without_replacement_epsilon(rho: float, rate: float, steps: int, delta: float) -> float:
    """Upper bound on epsilon of releases that are each rho-zCDP for a record in the batch, of a share ``m/n`` of all.

    From the orders 2..64, 80, 96, 128, 192, 256. Raises InputError for arguments out of range.
    """
    require_nonnegative("rho", rho)
    require_rate(rate)
    require_count("steps", steps)
    require_delta(delta)
    bounds = [
        steps * _divergence(a, rho, rate) + math.log1p(-1.0 / a) - (math.log(delta) + math.log(a)) / (a - 1.0)
        for a in ORDERS
    ]
    return max(0.0, min(bounds))


def _divergence(a: int, rho: float, rate: float) -> float:
    j = np.arange(2.0, a + 1.0)
    logs = gammaln(a + 1.0) - gammaln(j + 1.0) - gammaln(a - j + 1.0) + j * math.log(rate)
    logs[1:] += math.log(2.0) + j[1:] * (j[1:] - 1.0) * rho
    pair = min(math.log(4.0) + _log_expm1(2.0 * rho), math.log(2.0) + 2.0 * rho)
    logs[0] += pair
    return min(a * rho, float(np.logaddexp(0.0, logsumexp(logs))) / (a - 1.0))


def _log_expm1(x: float) -> float:
    if x == 0.0:
        return -math.inf
    return x + math.log(-math.expm1(-x))
