"""Tables of their own kind, by the name that a table's file gives: facts about a paper's noise, counts of queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from dpsco_bench.claims.tables import TableText
from dpsco_bench.errors import InputError
from dpsco_bench.registry import Registry
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.spared import spared
from dpsco_bench.report.tables import WRITERS, Column, Table

Compute = Callable[[TableText, Inputs], Table]
COMPUTED: Registry[Compute] = Registry("computed table", "tables")


def computed(name: str) -> Callable[[Compute], Compute]:
    """Register a function of a table's file and the results as what computes the table (used as a decorator)."""
    return lambda compute: COMPUTED.add(name, compute, compute.__module__)


def computed_table(text: TableText, inputs: Inputs) -> Table:
    """The table of a file that names what computes it. Raises InputError for an unknown name."""

    def made() -> Table:
        found = COMPUTED.get(text.computed)(text, inputs)
        if not isinstance(found, Table):
            raise InputError(f"computed table {text.computed}", type(found).__name__, "a Table")
        if found.id != text.id:  # its files have that name
            raise InputError(f"id of computed table {text.computed}", found.id, f"that of its file, {text.id}")
        found = replace(found, rows=list(found.rows))
        for write in WRITERS.values():  # a cell that cannot be shown fails here, and not where all tables are written
            write(found)
        for column in found.columns:
            _check_looks(column, found.rows)
        return found

    return spared(text.id, "table", made, lambda line: _in_words(text, line))


def _check_looks(column: Column, rows: Sequence[object]) -> None:
    """What a page asks of a column's cells, and files do not. Raises InputError for a style or link that is none."""
    for row in rows:
        for name, look in (("style", column.style), ("link", column.link)):
            value = look(row) if look else ""
            if not isinstance(value, str) or not re.fullmatch(r"[\w-]*", value):
                raise InputError(f"{name} of column {column.title}", value, "letters, digits, hyphens and underscores")


def _in_words(text: TableText, line: str) -> Table:
    """A table of one cell, which says why there is no other."""
    wrong = lambda row: str(row["wrong"])  # noqa: E731
    return Table(text.id, text.title, [Column("What is wrong", wrong, {"wrong": wrong})], [{"wrong": line}])
