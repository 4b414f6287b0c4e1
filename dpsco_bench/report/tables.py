"""A table once: display text for the site, raw values for CSV and Parquet."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as Folder
from typing import Any

from dpsco_bench.claims.files import slug
from dpsco_bench.jsonio import write_atomic

Row = Any
Path = str | Callable[[Row], Any]
"""Where a value stands in a row: names and numbers joined by dots, such as ``row.ci.0``, or a function of the row."""


def at(row: Row, path: Path) -> Any:
    """Follow a path into a row, through attributes, keys and places; None where it leads into nothing."""
    if not isinstance(path, str):
        return path(row)
    for name in path.split("."):
        if row is None:
            return None
        if isinstance(row, Mapping):
            row = row.get(name)
        elif name.isdigit():
            row = row[int(name)]
        else:
            row = getattr(row, name)
    return row


def leads_to(*paths: Path, kind: str = "") -> Callable[[Row], str]:
    """Make the link of a column: the address of what the paths name, a ``paper`` or a ``method`` by its kind."""
    return lambda row: address(*filter(None, [kind]), *(str(at(row, path)) for path in paths))


@dataclass(frozen=True)
class Column:
    """One column: where its value stands in a row, and how it is shown.

    A table is written as ``ReportTable(id, title, {"Risk": Column("method.risk", number)}, rows)``.

    Attributes
    ----------
    raw : str or mapping of str to path, optional
        Name in the files, or several names with their values; by default the end of the path. Empty: not in the files.
    kind : str, ``text``, ``verdict`` (a badge in HTML), ``code``, or ``prose``, which has code between backticks
    link : callable or None, row -> address (`address`) of what the cell names; empty for none
    """

    value: Path  # dotted path into a row (`at`), or a function of the row
    show: Callable[[Any], str] = lambda value: "" if value is None else str(value)  # value -> display text
    raw: str | Mapping[str, Path] | None = None
    numeric: bool = False
    kind: str = "text"
    tone: Path = ""  # path of the tone of a verdict
    link: Callable[[Row], str] | None = None

    def text(self, row: Row) -> str:
        return self.show(at(row, self.value))

    @property
    def fields(self) -> Mapping[str, Path]:
        """Names in the files -> paths."""
        if self.raw is None:
            return {self.value.rpartition(".")[2]: self.value} if isinstance(self.value, str) else {}
        if isinstance(self.raw, str):
            return {self.raw: self.value} if self.raw else {}
        return self.raw


Number = partial(Column, numeric=True)  # a column of numbers, which stand at its right
Columns = Mapping[str, Column]  # title -> column


@dataclass(frozen=True)
class ReportTable:
    """A titled table: columns by title, over rows of any kind that their paths lead into."""

    id: str
    title: str
    columns: Columns
    rows: Sequence[Row]
    note: str = ""

    @property
    def shown(self) -> list[list[str]]:
        """Display texts of every row."""
        return [[column.text(row) for column in self.columns.values()] for row in self.rows]

    @property
    def fields(self) -> dict[str, Path]:
        """Columns of the files: name -> path."""
        return {name: path for column in self.columns.values() for name, path in column.fields.items()}


def to_csv(table: ReportTable) -> str:
    """Write CSV of the raw values: NaN and missing are empty, infinity is ``inf``; lists are joined by blanks."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.fields)
    for row in table.rows:
        writer.writerow([_csv(at(row, path)) for path in table.fields.values()])
    return stream.getvalue()


def _csv(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list | tuple):
        return " ".join(map(_csv, value))
    return str(value)


def to_parquet(table: ReportTable) -> bytes:
    """Write the raw values as Parquet: missing and NaN are null; a column of mixed types is text, as in the CSV."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {}
    for name, path in table.fields.items():
        found = [at(row, path) for row in table.rows]
        try:
            columns[name] = pa.array(found, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            columns[name] = pa.array([_csv(one) for one in found])
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def write_table(table: ReportTable, folder: Folder) -> None:
    write_atomic(folder / f"{table.id}.csv", to_csv(table))
    write_atomic(folder / f"{table.id}.parquet", to_parquet(table))


def address(*names: str) -> str:
    """Make the anchor of a thing by its names: letters, digits and single hyphens, two between names."""
    return "--".join(map(slug, names))
