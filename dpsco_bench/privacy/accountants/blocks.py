"""Adaptive composition of releases that look at blocks of records (``zhang2022.compose``).

Release t looks at the records of its block ``S_t`` only, has a sensitivity ``Delta_t`` that may depend on earlier
answers, and adds ``(Delta_t/rho_t) zeta_t`` with standard normal ``zeta_t``. A record pays for the releases whose
blocks contain it, ``IN(q)``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from dpsco_bench.privacy.accountants.checks import require_nonnegative


def composed_level(releases: Iterable[tuple[Iterable[int], float]]) -> float:
    """Gaussian-DP parameter of releases on blocks ``S_t`` with parameters ``rho_t >= 0``; 0 without releases.

    ``sqrt(max_q sum_{t in IN(q)} rho_t^2)``. Raises InputError for a negative or NaN parameter. Source: Zhang, Tran,
    Cutkosky 2022, Algorithm 2 and Theorem 17.
    """
    paid: defaultdict[int, float] = defaultdict(float)
    for block, rho in releases:
        require_nonnegative("rho", rho)
        for record in set(block):
            paid[record] += rho * rho
    return math.sqrt(max(paid.values(), default=0.0))
