"""The privacy ledger: whose noise, what is claimed, what is real, and why; and all audits on one axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpsco_bench.analysis.answer import audits_text
from dpsco_bench.paths import documents
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.report.ledger import COLUMNS, LAW_MEANING, LAW_TITLE, Charged, LedgerRow
from dpsco_bench.report.tables import Column, ReportTable
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.markdown import NO_SEARCH, code, figure, heading, table, text

VARIANT = "Variant, options"
ORDER = (
    *("Algorithm", VARIANT, "Calibration", "ε claimed", "ε real", "It is", "Status", "Charged on", "n", "d", "δ"),
    *("Kind", "ε of all answers", "Why not shown", "δ ≥ 1/n", LAW_TITLE, "Accountant"),
)
SELDOM = (LAW_TITLE, "ε of all answers", "Why not shown", "δ ≥ 1/n")
"""Titles of columns that are left out where no row has anything to say there."""


def privacy_page(content: SiteContent) -> Pages:
    """Write the ledger of all papers."""
    counts = Counter(row.first.noise.status for row in content.ledger.rows)
    said = ", ".join(f"{STATUS_WORDS[status]} {count}" for status, count in counts.most_common())
    intro = (
        "What an accountant of the actual sampling scheme says about the noise that was used, beside what is claimed "
        f"for it. Of {len(content.ledger.rows)} rows: {said}."
    )
    more = ", and [accounting](guide/accounting.md)" if "accounting" in documents() else ""
    page = [
        NO_SEARCH,
        heading("Privacy ledger", target="privacy"),
        text(intro) + "\n",
        f"How a mechanism is charged: {code('dpsco account METHOD')}{more}.\n",
        *_audits(content),
        heading("Every mechanism", 2),
        ledger_table(content, content.ledger.rows, note=content.ledger.note),
        "[CSV](tables/privacy.csv), [Parquet](tables/privacy.parquet).\n",
    ]
    return {"privacy": "\n".join(page)}


def _audits(content: SiteContent) -> list[str]:
    if not content.audits:
        return []
    found = audits_text([score.row for score in content.audits])
    intro = (
        f"Runs on neighbouring data sets bound ε from below. {found} All bounds hold together at 99.9 %. An audit can "
        "refute a claim; it never proves privacy."
    )
    more = " [How they are made](guide/audits.md)." if "audits" in documents() else ""
    drawn = figure("figures/site/audits.svg", "Audits", content.own / "audits.svg")
    return [heading("Audits", 2), text(intro) + more + "\n", drawn]


def ledger_table(content: SiteContent, rows: Sequence[LedgerRow], hidden: Sequence[str] = (), note: str = "") -> str:
    """Show rows of the ledger, the algorithm first; ``hidden`` are titles of columns that the page has no need of.

    The column for draws is there, and explained, where there is one.
    """
    empty = [title for title in SELDOM if not any(COLUMNS[title].text(row) for row in rows)]
    columns = {title: COLUMNS[title] for title in ORDER if title not in (*hidden, *empty)}
    columns[VARIANT] = Column(lambda row: with_erratum(content, row.first, row.variant))
    shown = table(ReportTable("privacy", "Privacy ledger", columns, rows, note))
    return f"{text(LAW_MEANING)}\n\n{shown}" if any(row.laws for row in rows) else shown


def with_erratum(content: SiteContent, charged: Charged, variant: str) -> str:
    """Add to a variant of the paper's noise the erratum that corrects it."""
    erratum = content.corrected.get((charged.cell.algorithm, charged.calibrated.variant))
    if not erratum or charged.calibration != "paper":
        return variant
    return f"{variant} by {erratum}" if variant == "corrected" else f"{variant} (corrected by {erratum})"
