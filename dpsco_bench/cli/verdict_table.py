"""The verdict table of the terminal: a row per (claim, part, calibration), with the number behind the word."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dpsco_bench.cli.output import Column, bounded, number, table

Row = Mapping[str, Any]
COLUMNS = (
    Column("claim", "claim", shrink=26),
    Column("part", "part", shrink=20),
    Column("calibration", "noise"),
    Column("verdict", "verdict", shrink=20),
    Column("measured", "measured", numeric=True),
    Column("against", "against", numeric=True),
)
SKIPPED = "skipped: "
PRIVACY = Column("privacy", "real eps", numeric=True)


def verdict_table(rows: Sequence[Row]) -> str:
    """Lay verdict rows out and count the words; what helps skipped rows stands below, each command once.

    Parameters
    ----------
    rows : sequence of mapping
        As `dpsco_bench.analysis.verdict.Verdict.to_json` gives them; where rows have a text ``privacy`` besides, it is
        shown in a column of its own, and a true ``qualified`` marks a match with a reservation.
    """
    words = Counter(shown_word(row).partition(":")[0] for row in rows)
    counts = "; ".join(f"{count} {word}" for word, count in words.most_common())
    columns = (*COLUMNS, PRIVACY) if any(row.get("privacy") for row in rows) else COLUMNS
    lines = [table(columns, _cells(rows)), "", f"{len(rows)} verdicts: {counts or 'none'}"]
    return "\n".join([*lines, *dict.fromkeys(filter(None, map(_remedy, rows)))])


def shown_word(row: Row) -> str:
    """The verdict without the number in parentheses, which has a column of its own, and without a skip's remedy."""
    if row["verdict"].startswith(SKIPPED):
        return SKIPPED + row["verdict"][len(SKIPPED) :].partition(":")[0]
    return row["verdict"].partition(" (")[0] + (", qualified" if row.get("qualified") else "")


def _remedy(row: Row) -> str:
    """The line that says what to do about a skipped row; empty for others."""
    reason, _, command = row["verdict"][len(SKIPPED) :].partition(":")
    return f"{reason}:{command}" if row["verdict"].startswith(SKIPPED) and command else ""


def _cells(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Cells of the table; a claim's id stands on its first row only."""
    cells, last = [], ""
    for row in rows:
        measured, against = _numbers(row)
        names = {
            "claim": row["id"] if row["id"] != last else "",
            "part": row["part"],
            "calibration": row["calibration"],
            "privacy": row.get("privacy"),
        }
        cells.append({**names, "verdict": shown_word(row), "measured": measured, "against": against})
        last = row["id"]
    return cells


def _numbers(row: Row) -> tuple[str, str]:
    """What was measured and what it is held against: slopes, a ratio and its limit, or the two epsilons."""
    if row.get("epsilon_real") is not None:
        return bounded(row["epsilon_real"], row.get("epsilon_real_kind") or "", 3), number(
            row.get("epsilon_claimed"), 3
        )
    if row.get("worst_ratio") is not None and _missing(row.get("slope")):
        return number(row["worst_ratio"], 3), ""
    if row.get("ratio"):
        ratios = list(row["ratio"].values())
        return "..".join(dict.fromkeys(f"{r:.2g}" for r in (min(ratios), max(ratios)))), "1"
    if _missing(row.get("slope")):
        return "", ""
    against = row.get("claimed_exponent" if row.get("kind") == "control" else "bound_slope")
    return _slope(row), "" if _missing(against) else f"{against:.2f}"


def _slope(row: Row) -> str:
    """A slope and half the width of its interval."""
    low, high = (row.get("ci") or (None, None))[:2]
    if low is None or high is None or _missing(low) or _missing(high) or high == low:
        return f"{row['slope']:.2f}"
    return f"{row['slope']:.2f} +- {(high - low) / 2:.2f}"


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
