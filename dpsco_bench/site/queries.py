"""What a method asks of the data: its private queries at one point of the profile, with what each is charged for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.audit.canaries import CANARIES
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.fingerprint import QueryRecord
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.report.ledger import Charged
from dpsco_bench.report.numbers import count, number, plain
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.report.wording import epsilon_text
from dpsco_bench.site.content import Content
from dpsco_bench.site.ledger import corrected_by

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
        return place(self.charged)

    @property
    def sees(self) -> str:
        """Which records a release sees."""
        kind = str(self.query.records["kind"])
        rate = self.query.records.get("rate")
        words = SCHEMES.get(kind, kind)
        return f"{words}, rate {number(rate)}" if isinstance(rate, float) else words


def queries_table(content: Content, id: str) -> Table:
    """Queries of a method under each noise, at the point nearest to the standard one."""
    columns = {
        "Noise": Column("charged.calibration"),
        "Variant": Column(lambda asked: _variant(content, asked.charged)),
        "Query": Column("query.name", kind="code"),
        "Sees": Column("sees"),
        "Releases": Column("query.releases", count, numeric=True),
        "Sensitivity": Column("query.sensitivity", number, numeric=True),
        "In the norm": Column("query.norm", lambda norm: f"l_{plain(norm)}"),
        "Noise scale": Column(
            lambda asked: asked.charged.calibrated.scales.get(asked.query.name), number, numeric=True
        ),
        "Gradients of the run": Column("charged.calibrated.gradient_evaluations", count, numeric=True),
        "At": Column("point"),
    }
    return Table(f"{id}.queries", "Queries", columns, list(_asked(content, id)))


def _asked(content: Content, id: str) -> Iterator[Asked]:
    for charged in _nearest(content, id):
        yield from (Asked(charged, query) for query in charged.calibrated.charged.queries)


def place(charged: Charged) -> str:
    """Instance and sizes."""
    cell, found = charged.cell, charged.calibrated
    return f"{cell.problem}, n = {plain(cell.n)}, d = {found.dimension}, ε = {plain(cell.epsilon)}"


def nearest_point(content: Content, id: str) -> Charged | None:
    """The point at which a method is accounted for; None where no claim of the profile charges it."""
    return next(iter(_nearest(content, id)), None)


def account_table(content: Content, id: str) -> Table:
    """What an accountant says of a method there, under each noise, as `dpsco account` does."""
    found = _nearest(content, id)
    columns = {
        "Noise": Column("calibration"),
        "Variant": Column(lambda charged: _variant(content, charged)),
        "Real ε": Column(
            "noise", lambda noise: epsilon_text(noise.epsilon_real, noise.epsilon_real_kind), numeric=True
        ),
        "Privacy": Column("noise.status", STATUS_WORDS.__getitem__),
        "Accountant": Column("calibrated.accountant"),
        "Gradients of a run": Column("calibrated.gradient_evaluations", count, numeric=True),
    }
    if len({_point_of(charged) for charged in found}) > 1:
        columns["At"] = Column(place)
    return Table(f"{id}.account", "Account", columns, found)


def _variant(content: Content, charged: Charged) -> str:
    """Its name, and the erratum that corrects it where it stands for the paper's noise."""
    variant = charged.calibrated.variant
    erratum = content.corrected.get((charged.cell.algorithm, variant)) if charged.calibration == "paper" else ""
    said = variant.replace("_", " ")
    return corrected_by(said, erratum) if erratum else said


def command_of(cell: Cell, variant: str | None = None) -> str:
    """The command that accounts for a cell, under each noise by its usual variant where none is named."""
    sizes = {"problem": cell.problem, "n": cell.n, "d": cell.d, "epsilon": cell.epsilon, "delta": cell.delta}
    given: dict[str, Any] = {**sizes, "variant": variant, **cell.options, **cell.problem_options}
    given |= given.pop("constants", {})  # a command names them like options
    return f"dpsco account {cell.algorithm} " + " ".join(
        f"{key}={_written(value)}" for key, value in given.items() if value is not None
    )


def _written(value: object) -> str:
    """A value as a command has it: floats with all digits that they need."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _nearest(content: Content, id: str) -> list[Charged]:
    """Of each noise and variant the cell at the point nearest to the standard one, all of one point where there is one.

    What a noise has where no variant is named comes first. Instances that are made for audits stand in where no claim
    charges it on another.
    """
    made = {canary.problem for canary in CANARIES}
    cells = [cell for row in content.ledger.rows for cell in row.cells if cell.cell.algorithm == id]
    noises: dict[str, set[tuple[str, str]]] = {}
    groups: dict[tuple[str, str], list[Charged]] = {}
    for cell in cells:
        noise = cell.calibration, cell.calibrated.variant
        noises.setdefault(_point_of(cell), set()).add(noise)
        groups.setdefault(noise, []).append(cell)
    found = [
        min(own, key=lambda cell: (cell.cell.problem in made, -len(noises[_point_of(cell)]), *_distance(cell)))
        for (calibration, _), own in groups.items()
        if calibration in ("paper", "accounted")
    ]
    return sorted(found, key=lambda cell: (cell.calibration != "paper", bool(named_variant(cell))))


def named_variant(charged: Charged) -> str | None:
    """The variant that a command has to name; None where the noise has it anyway."""
    usual = get_algorithm(charged.cell.algorithm).variant_for(charged.calibration, None)
    return None if charged.calibrated.variant == usual else charged.calibrated.variant


def _point_of(charged: Charged) -> str:
    return command_of(charged.cell)


def _distance(charged: Charged) -> tuple[float, float]:
    """First what a command must name besides sizes and a data set that must be there, then the distance of sizes."""
    cell = charged.cell
    named = len(cell.options) + len(cell.problem_options) + 20.0 * (cell.variant is not None)
    named += 10.0 * problem_class(cell.problem).needs_data_root
    sizes = cell.n and cell.epsilon > 0
    return named, abs(math.log(cell.n / STANDARD_N)) + abs(math.log(cell.epsilon)) if sizes else math.inf
