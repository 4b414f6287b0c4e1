"""The privacy ledger in the order in which it is read: whose noise, what is claimed, what is real, and why."""

from __future__ import annotations

from dpsco_bench.report.tables import Column
from dpsco_bench.site.content import Content

ORDER = (
    *("Algorithm", "Variant, options", "Calibration", "ε claimed", "ε real", "Status", "Kind", "Why not shown"),
    *("n", "d", "δ", "ε of the law"),
)
"""What else the ledger has stands in its files."""


def ledger_columns(content: Content) -> list[Column]:
    """Columns of the ledger, the algorithm first."""
    known = {column.title: column for column in content.ledger.columns}
    return [known[title] for title in ORDER]
