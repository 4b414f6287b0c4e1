"""Whether a share of independent runs is at least what is stated, by exact binomial intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import bdtr, betaincinv

from dpsco_bench.analysis.bootstrap import CONFIDENCE
from dpsco_bench.analysis.replicates_needed import TOO_NEAR

MOST_RUNS = 10**6
"""Nobody runs more of a cell."""


def least_share(inside: int, size: int, level: float) -> float:
    """Lower end of the one-sided interval of Clopper and Pearson at ``level``, for ``inside`` of ``size`` runs."""
    return float(betaincinv(inside, size - inside + 1, level)) if inside else 0.0


def runs_to_decide(share: float, stated: float, level: float) -> int | None:
    """The least number of runs whose interval would lie above ``stated`` if the share stayed; None for none.

    Runs that are all inside take ``log level / log stated``.
    """
    low, high = 1, 2
    while least_share(math.floor(share * high), high, level) < stated:
        low, high = high, 2 * high
        if high > MOST_RUNS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        enough = least_share(math.floor(share * middle), middle, level) >= stated
        low, high = (low, middle) if enough else (middle, high)
    return high


def share_word(counts: Sequence[tuple[int, int]], stated: float) -> tuple[str, str]:
    """Verdict on shares of runs that are within a bound, for all of them together (Bonferroni).

    Parameters
    ----------
    counts : sequence of (int, int), runs within the bound, and runs, of each cell and signal
    stated : float, in (0, 1], the least probability of a run within it

    Returns
    -------
    (str, str)
        ``holds`` where every interval lies above what is stated, ``violated`` where one lies below it, else
        ``inconclusive``; and why.
    """
    level = (1 - CONFIDENCE) / (2 * len(counts))
    inside, size = min(counts, key=lambda one: least_share(one[0], one[1], level))
    found, told = f"{100.0 * inside / size:.4g} %", f"{100.0 * stated:.4g} %"
    reason = f"in the worst cell {found} of the {size} replicates are within the bound, {told} are stated"
    if any(bdtr(within, runs, stated) <= level for within, runs in counts):
        return "violated", reason
    least = least_share(inside, size, level)
    if least >= stated or (stated == 1.0 and inside == size):
        return "holds", f"{reason}, and at least {100.0 * least:.4g} % are sure"
    more = runs_to_decide(inside / size, stated, level)
    return "inconclusive", f"{reason}; {TOO_NEAR if more is None else f'{more} of them would decide'}"
