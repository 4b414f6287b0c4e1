"""A table once, as Markdown, CSV, LaTeX and HTML cells: display text for readers, raw values for CSV."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dpsco_bench.jsonio import write_atomic

Row = Any
Raw = Mapping[str, Callable[[Row], Any]]
"""Columns of a CSV: name -> (row -> value)."""
_GREEK = ("delta", "mu", "sigma", "kappa", "lambda", "eta", "gamma", "rho")
_LATEX = {
    "\\": r"\textbackslash{}",
    **{c: "\\" + c for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "→": r"$\to$",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "·": r"$\cdot$",
    "\u2009": r"\,",
    "\u00a0": "~",
    "ε": r"$\varepsilon$",
    **{c: f"$\\{name}$" for c, name in zip("δμσκληγρ", _GREEK, strict=True)},
    "⁻": r"\textsuperscript{$-$}",
    **{c: rf"\textsuperscript{{{digit}}}" for digit, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "“": "``",
    "”": "''",
}

_ESCAPES = str.maketrans(_LATEX)
_SUPERSCRIPTS = re.compile(r"(?:\\textsuperscript\{[^}]*\}){2,}")
_MARKUP = re.compile(r"[\\`*|~]|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    show : callable, row -> display text
    raw : mapping of str to callable, CSV columns: name -> (row -> value); empty leaves the column out of the CSV
    kind : str, ``text``, ``verdict`` (a badge in HTML), ``code``, or ``prose``, which has code between backticks
    style : callable or None, row -> class of the HTML cell's content (the tone of a verdict)
    link : callable or None, row -> address (`report.address`) of what the cell names; empty for none
    """

    title: str
    show: Callable[[Row], str]
    raw: Raw = field(default_factory=dict)
    numeric: bool = False
    kind: str = "text"
    style: Callable[[Row], str] | None = None
    link: Callable[[Row], str] | None = None


@dataclass(frozen=True)
class Table:
    """A titled table.

    Attributes
    ----------
    group : callable or None
        Row -> (heading, anchor) under which consecutive rows stand in HTML; other formats have it as a column.
    """

    id: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str = ""
    group: Callable[[Row], tuple[str, str]] | None = None

    @cached_property
    def shown(self) -> list[list[str]]:
        """Display texts of every row, made once for all formats."""
        return [[column.show(row) for column in self.columns] for row in self.rows]


def to_markdown(table: Table) -> str:
    """GitHub-flavoured Markdown, columns padded to equal width."""
    head = [column.title for column in table.columns]
    body = [[_markdown(text) for text in row] for row in table.shown]
    widths = [max(3, *(len(line[i]) for line in [head, *body])) for i in range(len(head))]
    rules = ["-" * (w - 1) + ":" if c.numeric else "-" * w for w, c in zip(widths, table.columns, strict=True)]
    lines = [
        f"**{_markdown(table.title)}**",
        "",
        *(_padded(line, widths, table.columns) for line in (head, rules, *body)),
    ]
    return "\n".join(lines + (["", _markdown(table.note)] if table.note else [])) + "\n"


def _padded(cells: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    padded = (c.rjust(w) if k.numeric else c.ljust(w) for c, w, k in zip(cells, widths, columns, strict=True))
    return "| " + " | ".join(padded) + " |"


def _markdown(text: str) -> str:
    """Escape what Markdown would read as markup; underscores inside a word and lone brackets are safe."""
    if text.isalnum():
        return text
    text = html.escape(text.replace("\n", " "), quote=False)
    return _MARKUP.sub(r"\\\g<0>", text).replace("](", "]\\(")


def to_csv(table: Table) -> str:
    """CSV of the raw values: NaN and missing are empty, infinity is ``inf``; lists are joined by blanks."""
    fields = [(name, value) for column in table.columns for name, value in column.raw.items()]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([name for name, _ in fields])
    for row in table.rows:
        writer.writerow([_csv(value(row)) for _, value in fields])
    return stream.getvalue()


def _csv(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list | tuple):
        return " ".join(map(_csv, value))
    return str(value)


def to_parquet(table: Table) -> bytes:
    """The raw values as Parquet: missing and NaN are null; a column of mixed types is text, as in the CSV."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {}
    for name, value in ((name, value) for column in table.columns for name, value in column.raw.items()):
        found = [value(row) for row in table.rows]
        try:
            columns[name] = pa.array(found, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            columns[name] = pa.array([_csv(one) for one in found])
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def to_latex(table: Table) -> str:
    """A plain ``tabular`` that needs no package; numbers right-aligned, every special character escaped."""
    form = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [r"\begin{tabular}{" + form + "}", r"\hline"]
    lines += [_latex_line([column.title for column in table.columns]), r"\hline"]
    lines += [_latex_line(row) for row in table.shown]
    note = [f"% {latex(table.note)}"] if table.note else []
    return "\n".join([f"% {latex(table.title)}", *lines, r"\hline", r"\end{tabular}", *note]) + "\n"


def _latex_line(cells: Sequence[str]) -> str:
    line = " & ".join(latex(cell) for cell in cells)
    return ("{}" if line.startswith("[") else "") + line + r" \\"


def latex(text: str) -> str:
    """Text with everything that LaTeX would read as a command escaped; symbols of this report as mathematics."""
    return _SUPERSCRIPTS.sub(_joined_superscripts, text.replace("\n", " ").translate(_ESCAPES))


def _joined_superscripts(found: re.Match[str]) -> str:
    return r"\textsuperscript{" + "".join(re.findall(r"\\textsuperscript\{([^}]*)\}", found[0])) + "}"


def write_table(table: Table, folder: Path) -> list[Path]:
    """Write a table in every format; returns the files."""
    files = {folder / f"{table.id}.{suffix}": render for suffix, render in WRITERS.items()}
    for path, render in files.items():
        write_atomic(path, render(table))
    return [*files]


WRITERS: Mapping[str, Callable[[Table], str | bytes]] = {
    "md": to_markdown,
    "csv": to_csv,
    "tex": to_latex,
    "parquet": to_parquet,
}
