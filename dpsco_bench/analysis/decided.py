"""Up to which n a leaderboard decides, and what deciding the points above it would take."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dpsco_bench.analysis.ranking import Standing
from dpsco_bench.execution.progress import duration

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "days": 86400.0}
_PART = re.compile(r"([0-9.,]+) (days|h|min|s)\b")


def seconds_of(cost: str) -> float:
    """Seconds of a cost in words, such as ``about 3 min 20 s on one core`` (`duration`); NaN of one that says none."""
    parts = _PART.findall(cost)
    return sum(float(value.replace(",", "")) * _SECONDS[unit] for value, unit in parts) if parts else math.nan


def to_decide(row: Standing) -> float:
    """Seconds on one core that all contenders of a point take there; NaN where one does not say."""
    return sum((seconds_of(one.cost) for one in row.contenders), 0.0)


def decided_text(rows: Sequence[Standing]) -> str:
    """The largest n at which a point is decided, and what it takes above it, in a sentence; empty without points.

    A point is decided, be it by a tie, where a method can win and none is left out that might be the best.

    Parameters
    ----------
    rows : sequence of Standing
        All points that were run.
    """
    if not rows:
        return ""
    largest = max((row.n for row in rows if row.runner_up is not None and not row.contenders), default=0)
    above = sorted(
        (row for row in rows if row.n > largest and row.contenders), key=lambda row: (row.n, row.d, row.epsilon)
    )
    first = f"The largest n at which a point is decided is {largest:,}" if largest else "No point is decided"
    if not above:
        whole = largest == max(row.n for row in rows)
        if whole:
            return f"{first}, which is the largest that was run."
        why = "no method of proven privacy ran."
        return f"{first}; at larger n {why}" if largest else f"{first}, since {why}"
    known = sorted((row for row in above if not math.isnan(to_decide(row))), key=to_decide)
    if not known:
        return f"{first}; what deciding one would take is not known."
    cheapest = f"deciding {_place(known[0])} takes {_time(known[:1])}"
    if len(above) == 1:
        return f"{first}; {cheapest}."
    which = f"above it are {len(above)}, of which" if largest else f"of {len(above)}"
    return f"{first}; {which} {cheapest}, and deciding all {len(known)} {_time(known)}."


def _place(row: Standing) -> str:
    return f"{row.instance} at n = {row.n:,}, d = {row.d}, epsilon = {row.epsilon:g}"


def _time(rows: Sequence[Standing]) -> str:
    return f"about {duration(sum(map(to_decide, rows)))} on one core"
