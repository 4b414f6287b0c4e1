"""A table once, as Markdown, CSV, LaTeX and HTML cells: display text for readers, raw values for CSV."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path as Folder
from typing import Any

from dpsco_bench.claims.files import slug
from dpsco_bench.jsonio import write_atomic

Row = Any
Path = str | Callable[[Row], Any]
"""Where a value stands in a row: names and numbers joined by dots, such as ``row.ci.0``, or a function of the row."""
_GREEK = ("delta", "mu", "sigma", "kappa", "lambda", "eta", "gamma", "rho")
_LATEX = {
    "\\": r"\textbackslash{}", **{c: "\\" + c for c in "&%$#_{}"}, "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "|": r"$|$", "−": "$-$", "×": r"$\times$",
    "±": r"$\pm$", "≤": r"$\le$", "≥": r"$\ge$",
    "∞": r"$\infty$", "√": r"$\surd$", "→": r"$\to$", "·": r"$\cdot$", "…": r"\ldots{}", "–": "--", "—": "---",
    "“": "``", "”": "''", "\u2009": r"\,", "\u00a0": "~", "ε": r"$\varepsilon$",
    **{c: f"$\\{name}$" for c, name in zip("δμσκληγρ", _GREEK, strict=True)},
    "⁻": r"\textsuperscript{$-$}", **{c: rf"\textsuperscript{{{n}}}" for n, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}  # fmt: skip
_ESCAPES = str.maketrans(_LATEX)
_SUPERSCRIPTS = re.compile(r"(?<=[^{\\])\}\\textsuperscript\{(?=[^}])")  # between two superscripts, which become one
_MARKUP = re.compile(r"[\\`*|~]|(?<!\w)_|_(?!\w)")


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


def if_known(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Show what is there; nothing of None."""
    return lambda value: "" if value is None else show(value)


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
    show: Callable[[Any], str] = if_known(str)  # value -> display text
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

    @cached_property
    def shown(self) -> list[list[str]]:
        """Display texts of every row, made once for all formats."""
        return [[column.text(row) for column in self.columns.values()] for row in self.rows]

    @property
    def fields(self) -> dict[str, Path]:
        """Columns of the files: name -> path."""
        return {name: path for column in self.columns.values() for name, path in column.fields.items()}


def to_markdown(table: ReportTable) -> str:
    """Write GitHub-flavoured Markdown, columns padded to equal width."""
    head, columns = [*table.columns], [*table.columns.values()]
    body = [[_markdown(text) for text in row] for row in table.shown]
    widths = [max(3, *(len(line[i]) for line in [head, *body])) for i in range(len(head))]
    rules = ["-" * (w - 1) + ":" if c.numeric else "-" * w for w, c in zip(widths, columns, strict=True)]
    lines = [f"**{_markdown(table.title)}**", ""]
    for line in (head, rules, *body):
        cells = (c.rjust(w) if k.numeric else c.ljust(w) for c, w, k in zip(line, widths, columns, strict=True))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines + (["", _markdown(table.note)] if table.note else [])) + "\n"


def _markdown(text: str) -> str:
    """Escape what Markdown would read as markup; underscores inside a word and lone brackets are safe."""
    if text.isalnum():
        return text
    text = html.escape(text.replace("\n", " "), quote=False)
    return _MARKUP.sub(r"\\\g<0>", text).replace("](", "]\\(")


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


def to_latex(table: ReportTable) -> str:
    """Write a plain ``tabular`` that needs no package; numbers right-aligned, every special character escaped."""
    form = "".join("r" if column.numeric else "l" for column in table.columns.values())
    head, *rows = (" & ".join(map(latex, cells)) for cells in ([*table.columns], *table.shown))
    head, *rows = ("{}" * line.startswith("[") + line + r" \\" for line in (head, *rows))
    lines = [r"\begin{tabular}{" + form + "}", r"\hline", head, r"\hline", *rows]
    note = [f"% {latex(table.note)}"] if table.note else []
    return "\n".join([f"% {latex(table.title)}", *lines, r"\hline", r"\end{tabular}", *note]) + "\n"


def latex(text: str) -> str:
    """Escape all that LaTeX would read as a command; symbols of this report become mathematics."""
    return _SUPERSCRIPTS.sub("", text.replace("\n", " ").translate(_ESCAPES))


def write_table(table: ReportTable, folder: Folder) -> list[Folder]:
    files = {folder / f"{table.id}.{suffix}": render for suffix, render in WRITERS.items()}
    for path, render in files.items():
        write_atomic(path, render(table))
    return [*files]


WRITERS: Mapping[str, Callable[[ReportTable], str | bytes]] = {
    "md": to_markdown,
    "csv": to_csv,
    "tex": to_latex,
    "parquet": to_parquet,
}


def address(*names: str) -> str:
    """Make the anchor of a thing by its names: letters, digits and single hyphens, two between names."""
    return "--".join(map(slug, names))
