"""Tables of their own kind, by the name that a table's file gives: facts about a paper's noise, counts of queries."""

from __future__ import annotations

from collections.abc import Callable

from dpsco_bench.claims.tables import TableText
from dpsco_bench.errors import failing_as
from dpsco_bench.registry import Registry
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.tables import Table

Compute = Callable[[TableText, Inputs], Table]
COMPUTED: Registry[Compute] = Registry("computed table", "tables")


def computed(name: str) -> Callable[[Compute], Compute]:
    """Register a function of a table's file and the results as what computes the table (used as a decorator)."""
    return lambda compute: COMPUTED.add(name, compute, compute.__module__)


def computed_table(text: TableText, inputs: Inputs) -> Table:
    """Compute the table of a file that names its function. Raises InputError for an unknown name."""
    compute = COMPUTED.get(text.computed)
    with failing_as(f"table {text.id}"):
        return compute(text, inputs)
