"""Tables of their own kind, by the name that a table's file gives: facts about a paper's noise, counts of queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsco_bench.claims.tables import TableText
from dpsco_bench.errors import InputError
from dpsco_bench.registry import Registry
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.tables import Table

Compute = Callable[[TableText, Inputs], Table]
COMPUTED: Registry[Compute] = Registry("computed table", "tables")


def computed(name: str) -> Callable[[Compute], Compute]:
    """Register a function of a table's file and the results as what computes the table (used as a decorator)."""
    return lambda compute: COMPUTED.add(name, compute, compute.__module__)


def computed_table(text: TableText, inputs: Inputs) -> Table:
    """The table of a file that names what computes it. Raises InputError for an unknown name, or what is no table."""
    found = COMPUTED.get(text.computed)(text, inputs)
    if not isinstance(found, Table):
        raise InputError(f"computed table {text.computed}", type(found).__name__, "a Table")
    if found.id != text.id:  # its files have that name
        raise InputError(f"id of computed table {text.computed}", found.id, f"that of its file, {text.id}")
    return replace(found, rows=list(found.rows))
