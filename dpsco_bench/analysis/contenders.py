"""Points of a leaderboard that stay undecided: a method that would contend for the first place was too long to run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
PLACE = ("n", "d", "epsilon")


def contenders(row: Row, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Methods left out at a point as too long that might be the best: tied, or not far behind, where they last ran.

    A limit of time that removes the best method makes the next one look like the winner; the point is undecided then.
    Rates differ by a power of n or so: what is behind by less than the factor by which n grows can catch up.

    Returns
    -------
    list of dict
        ``method``, ``place`` (its place among the ranked methods there), and the ``n``, ``d``, ``epsilon`` of the
        nearest point at which it was measured: the next smaller n of the same d and epsilon, else the nearest. The best
        placed come first.
    """
    return sorted(_contenders(row, rows), key=lambda found: (found["place"], found["method"]))


def _contenders(row: Row, rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for item in row["left_out"]:
        ran = [other for other in rows if item["method"] in _ranked(other)]
        if item["status"] != "too_long" or not ran:
            continue
        near = min(ran, key=lambda other: _remoteness(row, other))
        place = 1 + _ranked(near).index(item["method"])
        risks = {method["method"]: method["risk"] for method in near["methods"]}
        behind = risks[item["method"]] > max(1.0, row["n"] / near["n"]) * risks[_ranked(near)[0]]
        if not behind or item["method"] in near["tied"]:
            yield {"method": item["method"], "place": place, **{key: near[key] for key in PLACE}}


def uncompared(row: Row, rows: Sequence[Row]) -> list[str]:
    """Methods left out at a point as too long that ran at no point of its instance: nothing is known of them there."""
    ran = {method["method"] for other in rows for method in other["methods"]}
    return sorted(x["method"] for x in row["left_out"] if x["status"] == "too_long" and x["method"] not in ran)


def _ranked(row: Row) -> list[str]:
    """Methods that can win, the least risk first."""
    return [method["method"] for method in sorted(row["methods"], key=lambda m: m["risk"]) if method["ranked"]]


def _remoteness(row: Row, other: Row) -> tuple[bool, float, float]:
    """Sorts first the next smaller n of the same d and epsilon, then by the sum of the logarithms of the ratios."""
    same = all(row[key] == other[key] for key in ("d", "epsilon"))
    distance = sum(abs(math.log(row[key] / other[key])) for key in PLACE)
    return not (same and other["n"] < row["n"]), distance, other["n"]
