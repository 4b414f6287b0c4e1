"""What a method asks of the data: its private queries at one point of the profile, with what each is charged for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dpsco_bench.privacy.fingerprint import QueryRecord
from dpsco_bench.report.ledger import Charged
from dpsco_bench.report.numbers import count, number, plain
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.site.content import Content

STANDARD_N = 4096
"""Of the points of a profile the one that is nearest to this n, and to epsilon 1, is shown."""
SCHEMES = {
    "Full": "all records",
    "Poisson": "a Poisson sample",
    "SingleIndex": "one record, drawn anew",
    "Disjoint": "a block of its own",
    "WithReplacement": "a sample with replacement",
    "WithoutReplacement": "a sample without replacement",
    "RandomAllocation": "a batch of a random order",
    "Nodes": "sums over the nodes of a tree",
}


@dataclass(frozen=True)
class Asked:
    """A query of a charged cell."""

    charged: Charged
    query: QueryRecord

    @property
    def point(self) -> str:
        """Instance and sizes."""
        cell, found = self.charged.cell, self.charged.calibrated
        return f"{cell.problem}: n = {plain(cell.n)}, d = {found.dimension}, ε = {plain(cell.epsilon)}"

    @property
    def sees(self) -> str:
        """Which records a release sees."""
        kind = str(self.query.records["kind"])
        rate = self.query.records.get("rate")
        words = SCHEMES.get(kind, kind)
        return f"{words}, rate {number(rate)}" if isinstance(rate, float) else words


def queries_table(content: Content, id: str) -> Table:
    """Queries of a method under each noise, at the point nearest to the standard one."""
    columns = (
        Column("Noise", lambda asked: asked.charged.calibration),
        Column("Query", lambda asked: asked.query.name, kind="code"),
        Column("Sees", lambda asked: asked.sees),
        Column("Releases", lambda asked: count(asked.query.releases), numeric=True),
        Column("Sensitivity", lambda asked: number(asked.query.sensitivity), numeric=True),
        Column("In the norm", lambda asked: f"l_{plain(asked.query.norm)}"),
        Column(
            "Noise scale", lambda asked: number(asked.charged.calibrated.scales.get(asked.query.name)), numeric=True
        ),
        Column(
            "Gradients of the run", lambda asked: count(asked.charged.calibrated.gradient_evaluations), numeric=True
        ),
        Column("At", lambda asked: asked.point),
    )
    return Table(f"{id}.queries", "Queries", columns, list(_asked(content, id)))


def _asked(content: Content, id: str) -> Iterator[Asked]:
    cells = [cell for row in content.ledger.rows for cell in row.cells if cell.cell.algorithm == id]
    for calibration in ("paper", "accounted"):
        own = [cell for cell in cells if cell.calibration == calibration]
        if own:
            nearest = min(own, key=_distance)
            yield from (Asked(nearest, query) for query in nearest.calibrated.charged.queries)


def _distance(charged: Charged) -> float:
    cell = charged.cell
    return abs(math.log(cell.n / STANDARD_N)) + abs(math.log(cell.epsilon)) if cell.n and cell.epsilon > 0 else math.inf
