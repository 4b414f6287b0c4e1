"""The verdict table of the terminal: a row per (claim, part, calibration), with the number behind the word."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dpsco_bench.analysis.answer import Answer, answers, question_of
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.cli.output import Heading, Row, bounded, labelled, number, table

COLUMNS = (
    Heading("claim", "claim", shrink=32),
    Heading("part", "part", shrink=12, middle=True),  # parts of a claim often differ at the end alone
    Heading("calibration", "noise"),
    Heading("verdict", "verdict"),  # reservations stand beside the word: never cut
    Heading("measured", "measured", numeric=True),
    Heading("against", "against", numeric=True),
)
PLUS_MINUS = " +- "
PRIVACY = Heading("privacy", "real eps", numeric=True)


def verdict_table(rows: Sequence[Verdict], privacy: bool = False) -> str:
    """Lay verdict rows out and count the words; what helps skipped rows stands below, each command once.

    Parameters
    ----------
    privacy : bool, whether the real epsilon of the noise behind each row has a column of its own
    """
    words = Counter(row.counted_as for row in rows)
    counts = "; ".join(f"{count} {word}" for word, count in words.most_common())
    columns = (*COLUMNS, PRIVACY) if privacy and any(map(_real_epsilon, rows)) else COLUMNS
    shown = table(columns, _cells(rows))
    said = ["+- is half of a slope's 95 % interval"] if PLUS_MINUS in shown else []
    lines = [shown, "", f"{len(rows)} verdicts: {counts or 'none'}", *said]
    remedies = (row.reason for row in rows if row.skipped and ":" in row.reason)
    return "\n".join([*lines, *dict.fromkeys(remedies)])


def answers_text(rows: Sequence[Verdict], beside: Sequence[Verdict] = ()) -> str:
    """Answer each claim, a line for each question; ``beside`` as in `answers`."""
    lines: list[str] = []
    for id, one in answers(rows, beside).items():
        lines += [id, *(labelled("", line, 2) for line in lines_of(one))]
    return "\n".join(lines)


def lines_of(found: Answer) -> list[str]:
    """List the answers of a claim, and what stands beside them."""
    return [*(f"{question_of(found.subject, key)}: {cell.text}" for key, cell in found.cells.items()), *found.remarks]


def _cells(rows: Sequence[Verdict]) -> Sequence[Row]:
    """Cells of the table; a claim's id stands on its first row only."""
    cells, last = [], ""
    for row in rows:
        measured, against = _numbers(row)
        told = {"part": row.part, "calibration": row.calibration, "verdict": row.short}
        numbers = {"measured": measured, "against": against, "privacy": _real_epsilon(row)}
        cells.append({"claim": row.id if row.id != last else "", **told, **numbers})
        last = row.id
    return cells


def _real_epsilon(row: Verdict) -> str:
    """Show the real epsilon of a row's noise with its sign; nothing where no accountant covers it."""
    if row.noise is None or math.isnan(row.noise.epsilon_real):
        return ""
    return bounded(row.noise.epsilon_real, row.noise.epsilon_real_kind, 3)


def _numbers(row: Verdict) -> tuple[str, str]:
    """What was measured and what it is held against: slopes, a ratio and its limit, or the two epsilons."""
    if get_kind(row.kind).aside and "epsilon_lower" in (row.own or {}):  # an audit's own bound
        return bounded(float(str(row.own["epsilon_lower"])), "lower", 3), number(row.epsilon_claimed, 3)
    if row.epsilon_real is not None and not math.isnan(row.epsilon_real):
        return bounded(row.epsilon_real, row.epsilon_real_kind or "", 3), number(row.epsilon_claimed, 3)
    if not math.isnan(row.slope):
        against, (low, high) = get_kind(row.kind).compared_slope(row), row.ci
        half = (high - low) / 2
        told = f"{row.slope:.2f}{PLUS_MINUS}{half:.2f}" if half > 0 else f"{row.slope:.2f}"
        return told, "" if against is None or math.isnan(against) else f"{against:.2f}"
    if row.worst_ratio is not None:
        return number(row.worst_ratio, 3), ""
    if row.ratio:
        ratios = list(row.ratio.values())
        return "..".join(dict.fromkeys(f"{r:.2g}" for r in (min(ratios), max(ratios)))), "1"
    own = (row.own.get(name) for name, field in get_kind(row.kind).own_fields.items() if field.is_number)
    return next((number(value, 3) for value in own if isinstance(value, int | float)), ""), ""
