"""The privacy ledger in the order in which it is read: whose noise, what is claimed, what is real, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from dpsco_bench.report.ledger import LAW_MEANING, LAW_TITLE, LedgerRow, drawn
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
    """Rows of the ledger, the algorithm first; what is of draws alone is there, and told, where there is one.

    Parameters
    ----------
    hidden : sequence of str, titles of columns that the page has no need of
    """
    known = {column.title: column for column in content.ledger.columns}
    draws = any(drawn(row) for row in rows)
    empty = [title for title in (LAW_TITLE, *SELDOM) if not any(known[title].show(row) for row in rows)]
    known[VARIANT] = replace(known[VARIANT], show=partial(_variant, content, known[VARIANT].show))
    columns = [known[title] for title in ORDER if title not in (*hidden, *empty)]
    shown = table(replace(content.ledger, columns=columns, rows=rows, note=note))
    return f"{text(LAW_MEANING)}\n\n{shown}" if draws else shown


def _variant(content: Content, show: Callable[[LedgerRow], str], row: LedgerRow) -> str:
    """Variant and options; of the paper's noise also the erratum that corrects it."""
    first = row.first
    erratum = content.corrected.get((first.cell.algorithm, first.calibrated.variant))
    return corrected_by(show(row), erratum) if erratum and first.calibration == "paper" else show(row)


def corrected_by(variant: str, erratum: str) -> str:
    """A variant of the paper's noise with the erratum that corrects it."""
    return f"{variant} by {erratum}" if variant == "corrected" else f"{variant} (corrected by {erratum})"
