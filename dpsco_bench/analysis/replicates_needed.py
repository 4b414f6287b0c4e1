"""Estimate how many more replicates would settle an inconclusive verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable

MOST_REPLICATES = 1000.0
"""Nobody runs more than this many times the replicates."""
TOO_NEAR = "it is too near the limit for more replicates to decide"
_ROUNDING = 1e-9


def would_decide(rooms: Iterable[tuple[float, float]]) -> str:
    """How many times the replicates would decide, in words, if the estimate stayed.

    Rooms have the width of an interval on one side of its estimate, and the width that it may have there: the largest
    ratio decides.
    """
    factors = [(width / room) ** 2 if room > 0 else math.inf for width, room in rooms if width > 0]
    factor = max(factors, default=1.0)
    if not factor <= MOST_REPLICATES:
        return TOO_NEAR
    return f"about {max(2, math.ceil(factor - _ROUNDING))} times the replicates would decide if the estimate stays"


def within(estimate: float, low: float, high: float, target: float, tolerance: float) -> str:
    """Estimate the same for an interval that must lie within a tolerance of a target, or wholly beyond it."""
    above, below, off = high - estimate, estimate - low, estimate - target
    if abs(off) <= tolerance:
        return would_decide([(above, tolerance - off), (below, tolerance + off)])
    return would_decide([(below, off - tolerance)] if off > 0 else [(above, -off - tolerance)])
