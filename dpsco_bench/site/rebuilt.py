"""A paper's table as the paper has it: its rows and columns, each entry with what was measured of it, linked."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_bench.report.address import address
from dpsco_bench.report.numbers import NOTHING
from dpsco_bench.report.papers import judged_calibrations
from dpsco_bench.report.rebuilt import GRADIENTS, UTILITY, RebuiltRow
from dpsco_bench.report.tables import Table
from dpsco_bench.report.wording import noise_name, parameter_symbol
from dpsco_bench.site.markdown import badge, link, table, text

TITLES = {UTILITY: "Utility", GRADIENTS: "Gradients"}
BREAK = "<br>"


def entries(found: Table) -> bool:
    """Whether it is a table of rows that claim utility and gradients; others are computed, and read as they are."""
    return bool(found.rows) and all(isinstance(row, RebuiltRow) for row in found.rows)


def rebuilt(found: Table) -> str:
    """A table of a paper, an entry a cell: the claim above, below it every verdict that measures it."""
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
    told = dict.fromkeys(line for row in rows if row.claims == column for line in _measured(row))
    return BREAK.join(
        [f"**{claimed}**", *(told or ["not measured in this profile"] * (claimed not in (NOTHING, "N/A")))]
    )


def _measured(row: RebuiltRow) -> list[str]:
    """A line for every calibration under which a sweep was judged."""
    lines = []
    for calibration in judged_calibrations([row.sweep]):
        score = row.sweep.under(calibration)
        if score is None:
            continue
        where = link(f"in {text(parameter_symbol(score.row.parameter))}", address(*row.sweep.part))
        lines.append(f"{badge(score.verdict, score.tone)} {where}, {noise_name(calibration)}: {text(score.slope)}")
    return lines
