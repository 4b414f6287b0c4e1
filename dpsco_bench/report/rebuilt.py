"""A paper's own comparison tables, rebuilt: what each row claims beside what was measured of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsco_bench.claims.catalogue import table_texts
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain, with_error, with_interval
from dpsco_bench.report.papers import Sweep, calibration_title, judged_calibrations, sweeps
from dpsco_bench.report.scores import Score, claim_scores
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.report.wording import parameter_symbol, symbols

UTILITY, GRADIENTS = "utility", "gradients"
COUNTED = ("_queries", "_per_call")
"""How names of quantities end that are counts."""


@dataclass(frozen=True)
class RebuiltRow:
    """One sweep that measures a row of a paper's table.

    Attributes
    ----------
    entry : mapping
        The row as the paper prints it: ``row``, ``utility``, ``gradients``, ``claims``.
    sweep : Sweep
        Its verdicts under all calibrations.
    common_n : float
        Number of records at which the table's rows are compared.
    privacy : str
        What the paper's noise of this row really gives.
    worst : mapping
        Calibration -> largest risk over bound of all cells of the row's explicit bounds.
    """

    entry: Mapping[str, Any]
    sweep: Sweep
    common_n: float
    privacy: str
    worst: Mapping[str, float]

    @property
    def claims(self) -> str:
        """Which of the row's entries the sweep is about."""
        first = self.sweep.first
        counted = first.row["kind"] == "complexity" or str(first.part.get("quantity")).endswith(COUNTED)
        return GRADIENTS if counted else UTILITY

    @property
    def claimed(self) -> str:
        """That entry."""
        return str(self.entry.get(self.claims, NOTHING))

    @property
    def instance(self) -> str:
        """Where it was measured."""
        cells = self.sweep.first.results.job(self.sweep.first.row["part"], self.sweep.first.row["calibration"])
        return str(cells["cells"][0]["problem"]) if cells else str(self.sweep.first.row["part"])

    @property
    def heading(self) -> tuple[str, str]:
        """The row's name, its entries and its privacy; no anchor."""
        entries = f"utility {self.entry[UTILITY]}, gradients {self.entry.get(GRADIENTS, NOTHING)}"
        return f"{symbols(self.entry['row'])} · claimed {symbols(entries)} · paper noise: {self.privacy}", ""

    def chosen(self, calibration: str) -> tuple[float, float, float] | None:
        """(value, mean, standard error) of the cell nearest to the common size, in any other sweep of the last one."""
        score = self.sweep.under(calibration)
        row = score.row if score else {}
        columns = (row.get(key) or () for key in ("values", "mean", "stderr"))
        cells = [cell for cell in zip(*columns, strict=False) if is_number(cell[1])]
        if not cells:
            return None
        if row["parameter"] != "n":
            return cells[-1]
        return min(cells, key=lambda cell: abs(math.log(cell[0] / self.common_n)))

    @property
    def where(self) -> str:
        """The cell that is shown."""
        cell = next((found for c in ("paper", "accounted", "none") if (found := self.chosen(c))), None)
        return (
            f"{parameter_symbol(self.sweep.first.row['parameter'])}\u00a0=\u00a0{plain(cell[0])}" if cell else NOTHING
        )


def rebuilt_tables(inputs: Inputs, paper: str) -> list[Table]:
    """The paper's own tables, with what was measured of each row."""
    return [_rebuilt(inputs, text) for text in table_texts() if text["id"].startswith(f"{paper}.")]


def _rebuilt(inputs: Inputs, text: Mapping[str, Any]) -> Table:
    rows = _rows(inputs, text)
    columns = [
        Column("Row", lambda r: symbols(r.entry["row"]), {"row": lambda r: r.entry["row"]}),
        Column("Entry", lambda r: r.claims, {"entry": lambda r: r.claims}),
        Column("Claimed", lambda r: symbols(r.claimed), {"claimed": lambda r: r.claimed}),
        Column(
            "Part", lambda r: r.sweep.first.row["part"], {"part": _part, "instance": lambda r: r.instance}, kind="code"
        ),
        Column("At", lambda r: r.where, {"parameter": lambda r: r.sweep.first.row["parameter"]}),
        *(column for name in judged_calibrations(row.sweep for row in rows) for column in _columns(name)),
        *_worst_columns(rows),
        Column("Privacy of the paper's noise", lambda r: r.privacy, {"privacy": lambda r: r.privacy}),
    ]
    return Table(text["id"], f"{text.get('title', text['id'])}, rebuilt", columns, rows, _NOTE, _heading)


_NOTE = (
    "Risks with their standard errors and planned gradient evaluations stand at the size nearest to the common one of "
    "the table; slopes with 95 % intervals are in the named parameter over the whole sweep."
)


def _heading(row: RebuiltRow) -> tuple[str, str]:
    return row.heading


def _part(row: RebuiltRow) -> str:
    first = row.sweep.first
    return f"{first.results.id.partition('.')[2]} {first.row['part']}"


def _rows(inputs: Inputs, text: Mapping[str, Any]) -> list[RebuiltRow]:
    rows = []
    for entry in text.get("rows", ()):
        claims = [claim for claim in inputs.claims if claim.id in set(entry.get("claims", ()))]
        found = [score for claim in claims for score in claim_scores(claim)]
        common, privacy, worst = float(text.get("common_n", 4096)), _paper_privacy(found), _worst_ratios(found)
        rows += [RebuiltRow(entry, sweep, common, privacy, worst) for sweep in sweeps(claims)]
    return rows


def _worst_ratios(scores: Sequence[Score]) -> dict[str, float]:
    """Largest ratio of each calibration's explicit bounds."""
    worst: dict[str, float] = {}
    for score in scores:
        ratio = score.row.get("worst_ratio")
        if score.row["kind"] == "explicit" and is_number(ratio):
            calibration = score.row["calibration"]
            worst[calibration] = max(float(ratio), worst.get(calibration, 0.0))
    return worst


def _worst_columns(rows: Sequence[RebuiltRow]) -> list[Column]:
    """Worst ratios, under the calibrations that have explicit bounds in the table."""
    names = [name for name in ("paper", "accounted", "none") if any(name in row.worst for row in rows)]

    def of(name: str) -> Any:
        return lambda row: row.worst.get(name)

    return [
        Column(
            f"Worst risk / bound, {calibration_title(name)}",
            lambda row, name=name: number(row.worst[name]) if name in row.worst else "",  # type: ignore[misc]
            {f"worst_ratio_{name}": of(name)},
            True,
        )
        for name in names
    ]


def _paper_privacy(scores: Sequence[Score]) -> str:
    cells = [score.privacy for score in scores if score.row["calibration"] == "paper" and score.privacy.worst]
    worst = max(cells, key=lambda privacy: privacy.worst.excess if privacy.worst else -math.inf, default=None)
    return worst.text if worst else NOTHING


def _columns(calibration: str) -> list[Column]:
    """Value at the common size, slope and verdict under one calibration."""

    def value(position: int) -> Any:
        return lambda row: (cell := row.chosen(calibration)) and cell[position]

    def text(render: Any) -> Any:
        return lambda row: render(score) if (score := row.sweep.under(calibration)) else ""

    def measured(row: RebuiltRow) -> str:
        cell = row.chosen(calibration)
        if cell is None:
            return ""
        return count(cell[1]) if row.claims == GRADIENTS else with_error(cell[1], cell[2])

    def slope(score: Score) -> str:
        return with_interval(score.row.get("slope"), score.row.get("ci") if score.row["kind"] != "complexity" else None)

    names = {key: f"{key}_{calibration}" for key in ("value", "mean", "stderr")}
    return [
        Column(
            f"Measured, {calibration_title(calibration)}",
            measured,
            {name: value(position) for position, name in enumerate(names.values())},
            True,
        ),
        Column(
            f"Slope, {calibration_title(calibration)}",
            text(slope),
            {f"slope_{calibration}": text(lambda score: score.row.get("slope"))},
            True,
        ),
        Column(
            f"Verdict, {calibration_title(calibration)}",
            text(lambda score: score.verdict),
            {f"verdict_{calibration}": text(lambda score: score.row.get("verdict"))},
            kind="verdict",
            style=text(lambda score: score.tone),
        ),
    ]
