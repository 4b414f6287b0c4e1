"""Points of a leaderboard that stay undecided: a method that would contend for the first place was too long to run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dpsco_bench.analysis.ranking import Contender, Standing


def contenders(row: Standing, rows: Sequence[Standing]) -> tuple[Contender, ...]:
    """Methods left out at a point as too long that might be the best: tied, or not far behind, where they last ran.

    A limit of time that removes the best method makes the next one look like the winner; the point is undecided then.
    Rates differ by a power of n or so: what is behind by less than the factor by which n grows can catch up.

    Returns
    -------
    tuple of Contender
        With the nearest point at which each was measured: the next smaller n of the same d and epsilon, else the
        nearest. The best placed come first.
    """
    return tuple(sorted(_contenders(row, rows), key=lambda found: (found.place, found.method)))


def _contenders(row: Standing, rows: Sequence[Standing]) -> Iterator[Contender]:
    for item in row.left_out:
        ran = [other for other in rows if item.method in _ranked(other)]
        if item.status != "too_long" or not ran:
            continue
        near = min(ran, key=lambda other: _remoteness(row, other))
        place = 1 + _ranked(near).index(item.method)
        risks = {method.method: method.risk for method in near.methods}
        behind = risks[item.method] > max(1.0, row.n / near.n) * risks[_ranked(near)[0]]
        if not behind or item.method in near.tied:
            yield Contender(item.method, place, near.n, near.d, near.epsilon, item.reason.partition(":")[0])


def uncompared(row: Standing, rows: Sequence[Standing]) -> tuple[str, ...]:
    """Methods left out at a point as too long that ran at no point of its instance: nothing is known of them there."""
    ran = {method.method for other in rows for method in other.methods}
    return tuple(sorted(x.method for x in row.left_out if x.status == "too_long" and x.method not in ran))


def _ranked(row: Standing) -> list[str]:
    """Methods that can win, the least risk first."""
    return [method.method for method in sorted(row.methods, key=lambda m: m.risk) if method.ranked]


def _remoteness(row: Standing, other: Standing) -> tuple[bool, float, float]:
    """Sorts first the next smaller n of the same d and epsilon, then by the sum of the logarithms of the ratios."""
    same = (row.d, row.epsilon) == (other.d, other.epsilon)
    ratios = (row.n / other.n, row.d / other.d, row.epsilon / other.epsilon)
    return not (same and other.n < row.n), sum(abs(math.log(ratio)) for ratio in ratios), other.n
