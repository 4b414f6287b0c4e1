"""A paper's own comparison tables, rebuilt: what each row claims beside what was measured of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.analysis.cells import ratios_to
from dpsco_bench.analysis.certified import uncertified
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.catalogue import table_texts
from dpsco_bench.claims.tables import COMMON_N, TableRow, TableText
from dpsco_bench.report.computed import computed_table
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain, with_error
from dpsco_bench.report.papers import Sweep, calibration_title, judged_calibrations, sweeps, verdict_column
from dpsco_bench.report.scores import Score, claim_scores, measured_parts
from dpsco_bench.report.tables import Column, Columns, Table, leads_to
from dpsco_bench.report.wording import parameter_symbol, privacy_text, symbols

UTILITY, GRADIENTS = "utility", "gradients"
SPENT = "value_queries"
"""The count that is a column of its own."""
COUNTED = ("_queries", "_per_call")
"""How names of quantities end that are counts."""
DOUBTED = " (not certified)"
UNSPLIT = "unsplit"
"""Ending of the names of bounds before their terms are split, which stand beside the printed ones."""


@dataclass(frozen=True)
class RebuiltRow:
    """One sweep, or one method of it, that measures a row of a paper's table.

    Attributes
    ----------
    entry : TableRow
        The row as the paper prints it.
    worst : mapping, (Calibration, "" or `UNSPLIT`) -> largest mean of the sweep's cells over an explicit bound
    spent : Verdict or None, the verdict on the part that counts value queries, which is a column and no row
    value : float or None
        The one value of the swept parameter that the row shows; None for the cell nearest to the common size.
    """

    entry: TableRow
    sweep: Sweep
    common_n: float
    method: str = ""
    worst: Mapping[tuple[str, str], float] = field(default_factory=dict)
    spent: Verdict | None = None
    value: float | None = None

    @property
    def claims(self) -> str:
        """Say which of the row's entries the sweep is about."""
        first = self.sweep.first
        counted = first.kind.counts or first.part.quantity.endswith(COUNTED)
        return GRADIENTS if counted else UTILITY

    @property
    def claimed(self) -> str:
        """The entry as printed, and the formula that stands for it here."""
        name = self.sweep.first.part.bound
        printed = getattr(self.entry, self.claims) or NOTHING
        return f"{printed}; judged against {get_bound(name).text}" if name else str(printed)

    @property
    def instance(self) -> str:
        """Say where it was measured."""
        cells = self.sweep.first.results.job(self.sweep.first.row.part, self.sweep.first.row.calibration)
        return str(cells.cells[0].problem) if cells else str(self.sweep.first.row.part)

    @property
    def privacy(self) -> str:
        """Say what the paper's noise of this sweep really gives, on this instance."""
        score = self.sweep.scores.get("paper")
        return privacy_text(score.row) if score else NOTHING

    @property
    def part(self) -> str:
        """Claim without its paper, and part: a part's name alone is not unique."""
        first = self.sweep.first
        return f"{first.results.id.partition('.')[2]} {first.row.part}"

    @property
    def part_and_method(self) -> str:
        return f"{self.part} ({self.method})" if self.method else self.part

    @property
    def schedule(self) -> str:
        """Say what the row says of its method's schedule, at the cell that is shown, and its flags."""
        evidence = self._shown_evidence
        if self._shown[0] is None:
            return NOTHING
        known = evidence.calibrated.schedule if evidence else {}
        texts = [f"{name}\u00a0=\u00a0{plain(known[key])}" for name, key in self.entry.schedule.items() if key in known]
        said = {str(warning).partition(":")[0] for warning in (evidence.calibrated.warnings if evidence else ())}
        return ", ".join([*texts, *(flag for flag in self.entry.flags if flag in said)]) or NOTHING

    @property
    def evaluations(self) -> float | None:
        """Gradient evaluations of the cell that is shown: counted by its runs, else planned; None for what counts."""
        evidence = self._shown_evidence
        if evidence is None or self.claims == GRADIENTS:
            return None
        counted = evidence.curve_evaluations
        return float(counted[-1].mean() if counted.size else evidence.calibrated.gradient_evaluations)

    @property
    def _shown_evidence(self) -> Any:
        """Say what was measured in the cell that is shown, or None."""
        cell, score = self._shown
        found = [e for e in self._evidence(score) if self._mine(e)] if cell and score else []
        return min(found, key=lambda e: abs(e.value - cell[0])) if cell and found else None

    @staticmethod
    def _evidence(score: Score) -> list[Any]:
        return score.results.evidence(score.row.part, score.row.calibration)

    def _mine(self, evidence: Any) -> bool:
        return not self.method or evidence.entry.method == self.method

    def chosen(self, calibration: str) -> tuple[float, float, float] | None:
        """(value, mean, standard error) of the cell nearest to the common size, in any other sweep of the last one."""
        score = self.sweep.scores.get(calibration)
        if score is None:
            return None
        row = score.row
        cells = list(zip(row.values, row.mean, row.stderr, strict=False))
        if self.method:
            cells = [c for c, e in zip(cells, self._evidence(score), strict=False) if self._mine(e)]
        cells = [cell for cell in cells if is_number(cell[1]) and self.value in (None, cell[0])]
        if not cells:
            return None
        if row.parameter != "n":
            return cells[-1]
        return min(cells, key=lambda cell: abs(math.log(cell[0] / self.common_n)))

    @property
    def _shown(self) -> tuple[tuple[float, float, float] | None, Score | None]:
        """The cell that is shown, and the verdict that it belongs to."""
        for calibration in ("paper", "accounted", "none"):
            if cell := self.chosen(calibration):
                return cell, self.sweep.scores[calibration]
        return None, None

    @property
    def where(self) -> str:
        cell, _ = self._shown
        if not cell:
            return NOTHING
        swept = str(self.sweep.first.row.parameter)
        shown = {**({} if swept in self.point else {swept: cell[0]}), **self.point}
        return ", ".join(f"{parameter_symbol(key)}\u00a0=\u00a0{plain(value)}" for key, value in shown.items())

    @property
    def point(self) -> dict[str, float]:
        """n, d and epsilon of the cell that is shown; empty where there is no such cell."""
        evidence = self._shown_evidence
        if evidence is None:
            return {}
        # a cell leaves out the d of a problem that has only one
        found = {"n": evidence.entry.n, "d": evidence.calibrated.dimension, "epsilon": evidence.entry.epsilon}
        return {key: value for key, value in found.items() if is_number(value)}

    @property
    def cells(self) -> dict[str, tuple[float, float, float] | None]:
        """By calibration the cell that is shown."""
        return {calibration: self.chosen(calibration) for calibration in self.sweep.scores}


def rebuilt_tables(inputs: Inputs, paper: str) -> list[Table]:
    """The paper's own tables, with what was measured of each row."""
    texts = [text for text in table_texts() if text.id.startswith(f"{paper}.")]
    return [computed_table(text, inputs) if text.computed else _rebuilt(inputs, text) for text in texts]


def _rebuilt(inputs: Inputs, text: TableText) -> Table:
    rows = _rows(inputs, text)
    columns = dict(COLUMNS)
    if any(row.entry.schedule for row in rows):
        columns["Schedule"] = Column("schedule")
    columns["Gradients"] = Column(
        "evaluations", lambda value: "" if value is None else count(round(value)), "gradient_evaluations", numeric=True
    )
    for calibration in judged_calibrations(row.sweep for row in rows):
        columns |= _measured_columns(calibration)
    columns |= _worst_columns(rows)
    if any(row.spent for row in rows):
        columns |= QUERIES
    note = symbols(f"{_NOTE} {text.note_line}".rstrip())
    return Table(text.id, f"{text.title or text.id}, rebuilt", columns, rows, note)


COLUMNS: Columns = {
    "Row": Column("entry.row", symbols),
    "Entry": Column("claims", raw="entry"),
    "Claimed": Column("claimed", symbols),
    "Part": Column(
        "part_and_method",
        raw={"part": "part", "method": "method", "instance": "instance"},
        kind="code",
        link=leads_to("sweep.part.0", "sweep.part.1"),
    ),
    "At": Column(
        "where",
        raw={"parameter": "sweep.first.row.parameter", "n": "point.n", "d": "point.d", "epsilon": "point.epsilon"},
    ),
    "Privacy of the paper's noise": Column("privacy"),
}


def first_count(values: Sequence[float] | None) -> str:
    """Show the first of a verdict's values; a dash where there is no verdict."""
    return count(values[0]) if values else NOTHING


QUERIES: Columns = {
    "Value queries claimed": Column(
        "spent.bound", first_count, {"value_queries_claimed": "spent.bound.0"}, numeric=True
    ),
    "Counted": Column("spent.mean", first_count, {"value_queries_counted": "spent.mean.0"}, numeric=True),
}
"""Value queries of the row at the common point: the printed count, and the mean over the draws."""
_NOTE = (
    "Risks with their standard errors and gradient evaluations stand at the size nearest to the common one of the "
    "table, or of the row. Evaluations beside a risk are those that its runs counted; rows of the entry “gradients” "
    "have the planned ones. Slopes with 95 % intervals are in the named parameter over the whole sweep. The privacy "
    "of the paper's noise is the worst of the row's own sweep; rows without such a noise have none. The worst risk "
    "over a bound is the largest mean over a bound with its constants, of the row's own cells. Not certified: "
    "drawn by Markov chains that have not settled, or whose code no known law has checked."
)


def _rows(inputs: Inputs, text: TableText) -> list[RebuiltRow]:
    rows = []
    for entry in text.rows:
        claims = [claim for claim in inputs.claims if claim.id in entry.claims]
        found = [score for claim in claims for score in claim_scores(claim)]
        size = float(entry.common_n or text.common_n or COMMON_N)
        worst = _worst_ratios(found)
        spent = next((score.row for score in found if score.part.quantity == SPENT and score.row.mean), None)
        own = [sweep for sweep in sweeps(claims) if _of_row(entry, sweep)]
        rows += [
            RebuiltRow(entry, sweep, size, method, worst.get(sweep.part, {}), spent, value)
            for sweep in own
            for method in _methods(sweep)
            for value in _values(entry, sweep)
        ]
    return rows


def _of_row(entry: TableRow, sweep: Sweep) -> bool:
    """Check whether a row is about a part of its claims: ``parts`` names them where another row has the others."""
    part, claim = sweep.first.row.part, sweep.first.results.id
    if sweep.first.part.quantity == SPENT:
        return False
    return part in entry.parts.get(claim, (part,))


def _values(entry: TableRow, sweep: Sweep) -> Sequence[float | None]:
    """Values of the swept parameter that are rows: one that is chosen, or all of a part whose every cell is shown."""
    row = sweep.first.row
    every = row.part in entry.every_cell
    return (every and row.values) or [None]


def _methods(sweep: Sweep) -> list[str]:
    """Labels of the methods where there are several, else one empty label."""
    row, results = sweep.first.row, sweep.first.results
    job = results.job(row.part, row.calibration)
    labels = list(dict.fromkeys(cell.method for cell in job.cells)) if job else []
    return labels if len(labels) > 1 else [""]


def _worst_ratios(scores: Sequence[Score]) -> dict[tuple[str, str], dict[tuple[str, str], float]]:
    """By claim and part, and by calibration and form: the largest mean over an explicit bound, of certified chains.

    Bounds named ``*_unsplit`` stand apart.
    """
    worst: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for score in scores:
        if not score.kind.checks_bounds or not is_number(score.row.worst_ratio) or uncertified(score.row):
            continue
        ratios, cells = ratios_to(score.row.mean, score.row.bound), _cells_by_part(score)
        if sum(cells.values()) != len(ratios):
            continue
        key = score.row.calibration, UNSPLIT * score.part.bound.endswith(f"_{UNSPLIT}")
        for part, own in zip(cells, np.split(ratios, np.cumsum(list(cells.values()))[:-1]), strict=True):
            known = worst.setdefault((score.results.id, part), {})
            known[key] = max(float(own.max()), known.get(key, 0.0))
    return worst


def _cells_by_part(score: Score) -> dict[str, int]:
    """Count a row's cells by the part that they come from, in their order; what is only planned has none."""
    found = {}
    for group in measured_parts(score):
        job = score.results.job(group.part, score.row.calibration)
        if job is not None and job.has_run:
            found[group.part] = group.cells
    return found


def _worst_columns(rows: Sequence[RebuiltRow]) -> Columns:
    """Make a column of worst ratios for each calibration that has explicit bounds in the table."""
    columns = {}
    for calibration in ("paper", "accounted", "none"):
        for form in ("", UNSPLIT):
            key = calibration, form
            if any(key in row.worst for row in rows):
                title = ("Worst risk /", form, "bound,", calibration_title(calibration))
                columns[" ".join(filter(None, title))] = Column(
                    partial(_worst, key),
                    lambda ratio: "" if ratio is None else number(ratio),
                    "_".join(filter(None, ("worst_ratio", form, calibration))),
                    numeric=True,
                )
    return columns


def _worst(key: tuple[str, str], row: RebuiltRow) -> float | None:
    return row.worst.get(key)


def _measured_columns(calibration: str) -> Columns:
    """Make the columns of value at the common size, slope and verdict under one calibration."""
    name, score = calibration_title(calibration), f"sweep.scores.{calibration}"
    keys = ("value", "mean", "stderr")
    values = {f"{key}_{calibration}": f"cells.{calibration}.{place}" for place, key in enumerate(keys)}
    return {
        f"Measured, {name}": Column(lambda row: _mean_text(row, calibration), raw=values, numeric=True),
        f"Slope, {name}": Column(score, _slope_text, {f"slope_{calibration}": f"{score}.row.slope"}, numeric=True),
        f"Verdict, {name}": verdict_column(calibration, "sweep."),
    }


def _mean_text(row: RebuiltRow, calibration: str) -> str:
    cell = row.chosen(calibration)
    if cell is None:
        return ""
    if row.claims == GRADIENTS:
        return count(cell[1])
    return with_error(cell[1], cell[2]) + DOUBTED * uncertified(row.sweep.scores[calibration].row)


def _slope_text(score: Score | None) -> str:
    if score is None:
        return ""
    return NOTHING if uncertified(score.row) else score.slope
