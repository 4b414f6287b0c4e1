"""A paper's table as the paper has it: its rows and columns, each entry with what was measured of it, linked."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_bench.report.address import address
from dpsco_bench.report.labels import BESIDE
from dpsco_bench.report.numbers import NOTHING
from dpsco_bench.report.papers import judged_calibrations
from dpsco_bench.report.rebuilt import GRADIENTS, UTILITY, RebuiltRow
from dpsco_bench.report.scores import Score
from dpsco_bench.report.tables import Table
from dpsco_bench.report.wording import noise_name, parameter_symbol
from dpsco_bench.site.markdown import badge, code, link, table, text

TITLES = {UTILITY: "Utility", GRADIENTS: "Gradients"}
BREAK = "<br>"


def entries(found: Table) -> bool:
    """Check whether a table has rows that claim utility and gradients; others are computed, and read as they are."""
    return bool(found.rows) and all(isinstance(row, RebuiltRow) for row in found.rows)


def rebuilt(found: Table) -> str:
    """A table of a paper, an entry a cell: the claim above, below it the verdicts that measure it."""
    if not entries(found):
        return table(found)
    rows: dict[str, list[RebuiltRow]] = {}
    for row in found.rows:
        rows.setdefault(row.entry.row, []).append(row)
    head = f"{{.plain}}\n| Row | {' | '.join(TITLES.values())} |\n| --- | {' | '.join('---' for _ in TITLES)} |\n"
    lines = [f"| {text(name)} | {' | '.join(_entry(own, column) for column in TITLES)} |" for name, own in rows.items()]
    return head + "\n".join(lines) + "\n"


def _entry(rows: Sequence[RebuiltRow], column: str) -> str:
    claimed = text(getattr(rows[0].entry, column) or NOTHING)
    own = [row for row in rows if row.claims == column]
    told = [line for noise, scores in _judged(own).items() for line in _lines(noise, scores)]
    return BREAK.join(
        [f"**{claimed}**", *(told or ["not measured in this profile"] * (claimed not in (NOTHING, "N/A")))]
    )


def _judged(rows: Sequence[RebuiltRow]) -> dict[str, list[Score]]:
    """By calibration the verdict of every sweep that was judged under it, each once."""
    sweeps = list({row.sweep.part: row.sweep for row in rows}.values())
    return {
        calibration: [sweep.scores[calibration] for sweep in sweeps if calibration in sweep.scores]
        for calibration in judged_calibrations(sweeps)
    }


def _lines(calibration: str, scores: Sequence[Score]) -> list[str]:
    """A line for every sweep where their parameters tell them apart, else one of counts."""
    noise = noise_name(calibration)
    if len({score.row.parameter for score in scores}) < len(scores):
        return [_counts(noise, scores)]
    return [
        f"{badge(score.verdict, score.mark)} "
        f"{link(f'in {text(parameter_symbol(score.row.parameter))}', _part(score))}, {noise}: {text(score.slope)}"
        f"{f', {BESIDE}' if score.row.beside else ''}"
        for score in scores
    ]


def _counts(noise: str, scores: Sequence[Score]) -> str:
    """Count how many sweeps have each verdict, and the claims behind them; a verdict of one sweep leads to it."""
    words: dict[tuple[str, str, bool], list[Score]] = {}
    for score in scores:
        words.setdefault((score.verdict, score.mark, bool(score.row.beside)), []).append(score)
    told = [
        f"{badge(verdict, mark)} {_number(own)}{f' {BESIDE}' if beside else ''}"
        for (verdict, mark, beside), own in words.items()
    ]
    claims = dict.fromkeys(score.results.id for score in scores)
    led = ", ".join(link(code(id.partition(".")[2]), address(id)) for id in claims)
    return f"{noise}, {len(scores)} sweeps: {', '.join(told)} ({led})"


def _number(scores: Sequence[Score]) -> str:
    return link("1", _part(scores[0])) if len(scores) == 1 else str(len(scores))


def _part(score: Score) -> str:
    return address(score.results.id, score.row.part)
