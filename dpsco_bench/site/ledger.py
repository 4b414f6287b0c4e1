"""The privacy ledger in the order in which it is read: whose noise, what is claimed, what is real, and why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dpsco_bench.report.ledger import COLUMNS, LAW_MEANING, LAW_TITLE, LedgerRow
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.site.content import Content
from dpsco_bench.site.markdown import table, text

VARIANT = "Variant, options"
ORDER = (
    *("Algorithm", VARIANT, "Calibration", "ε claimed", "ε real", "Status", "Charged on", "n", "d", "δ"),
    *("Kind", "Why not shown", "δ ≥ 1/n", LAW_TITLE, "Accountant"),
)
SELDOM = ("Why not shown", "δ ≥ 1/n")
"""Titles of columns that are left out where no row has anything to say there."""


def ledger_table(content: Content, rows: Sequence[LedgerRow], hidden: Sequence[str] = (), note: str = "") -> str:
    """Show rows of the ledger, the algorithm first; a column for draws is there, and explained, where there is one.

    Parameters
    ----------
    hidden : sequence of str, titles of columns that the page has no need of
    """
    empty = [title for title in (LAW_TITLE, *SELDOM) if not any(COLUMNS[title].text(row) for row in rows)]
    columns = {title: COLUMNS[title] for title in ORDER if title not in (*hidden, *empty)}
    columns[VARIANT] = Column(partial(_variant, content))
    shown = table(Table("privacy", "Privacy ledger", columns, rows, note))
    return f"{text(LAW_MEANING)}\n\n{shown}" if any(row.laws for row in rows) else shown


def _variant(content: Content, row: LedgerRow) -> str:
    """Variant and options; of the paper's noise also the erratum that corrects it."""
    first = row.first
    erratum = content.corrected.get((first.cell.algorithm, first.calibrated.variant))
    return corrected_by(row.variant, erratum) if erratum and first.calibration == "paper" else row.variant


def corrected_by(variant: str, erratum: str) -> str:
    """A variant of the paper's noise with the erratum that corrects it."""
    return f"{variant} by {erratum}" if variant == "corrected" else f"{variant} (corrected by {erratum})"
