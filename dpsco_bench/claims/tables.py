"""The tables of a paper as their files have them, checked key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from dpsco_bench.claims.entries import build_checked, listed
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

COMMON_N = 4096
"""Size at which risks stand where a table names none."""


@dataclass(frozen=True)
class TableRow:
    """A row as the paper prints it, and what measures it.

    Attributes
    ----------
    row, utility, gradients : str, its name and its entries
    printed : mapping, title of a further column of the paper -> the row's entry in it
    common_n : float or None, in place of the table's
    claims : list of str, ids of the claims that it states
    parts : mapping, claim -> parts that measure this row, where another row has the others
    schedule : mapping, name -> what of the method's schedule is shown
    flags : list of str, first words of the method's warnings that are shown
    every_cell : list of str, parts of which each cell is a row, not the nearest one alone
    own : mapping, what a computed table asks for besides
    """

    row: str
    utility: str = ""
    gradients: str = ""
    printed: Mapping[str, str] = field(default_factory=dict)
    common_n: float | None = None
    claims: list[str] = field(default_factory=list)
    parts: Mapping[str, list[str]] = field(default_factory=dict)
    schedule: Mapping[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    every_cell: list[str] = field(default_factory=list)
    own: Plain = field(default_factory=dict)

    def to_json(self) -> Plain:
        """As in the file."""
        return {**_given(self, "own"), **self.own}


@dataclass(frozen=True)
class TableText:
    """A table's file.

    Attributes
    ----------
    common_n : float or None, size at which risks stand, in place of `COMMON_N`
    computed : str, name of what computes it; empty for a table that is rebuilt from measurements
    lower_bound : str
        Name of a bound in ``claims/bounds``, without its constant: the caption's lower bound, beside which risks stand.
    """

    id: str
    title: str = ""
    source: str = ""
    common_n: float | None = None
    computed: str = ""
    lower_bound: str = ""
    note: str = ""
    rows: list[TableRow] = field(default_factory=list)

    def to_json(self) -> Plain:
        """As in the file."""
        return {**_given(self, "rows"), **({"rows": self.rows} if self.rows else {})}

    @property
    def note_line(self) -> str:
        """The note in one line."""
        return " ".join(self.note.split())


def parse_table(entry: Plain) -> TableText:
    """A table from its file.

    Raises InputError naming the row and the key that is missing, of another type, or unknown where nothing of its own
    computes the table.
    """
    if not isinstance(entry, Mapping):
        raise InputError("table", entry, "a mapping")
    where = f"table {entry.get('id', '?')}"
    rows, known = [], {f.name for f in fields(TableRow)}
    for row in listed(entry.get("rows"), f"{where}: rows"):
        if entry.get("computed") and isinstance(row, Mapping):
            own = {key: value for key, value in row.items() if key not in known}
            row = {**{key: value for key, value in row.items() if key in known}, "own": own}
        rows.append(build_checked(TableRow, row, f"{where}, row"))
    text: TableText = build_checked(TableText, {**entry, "rows": rows}, where)
    return text


def _given(entry: Any, *without: str) -> Plain:
    """Fields that are not left at their defaults."""
    usual = {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in fields(entry)}
    given = {name: getattr(entry, name) for name in usual if name not in without}
    return {name: value for name, value in given.items() if value != usual[name]}
