"""Print JSON, and tables that fit the terminal (100 columns if it is narrower or there is none)."""

from __future__ import annotations

import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from dpsco_bench.analysis.rounding import outward
from dpsco_bench.jsonio import dumps_pretty
from dpsco_bench.privacy.ledger import SIGNS

if TYPE_CHECKING:
    from dpsco_bench.execution.summary import HeldOut, HeldOutBeside
    from dpsco_bench.problems.constants import Constants

Row = Mapping[str, object]
"""A row of a terminal table: column -> value."""
LEAST_WIDTH, MOST_WIDTH = 100, 220
_GAP = "  "


@dataclass(frozen=True)
class Heading:
    """A column of a terminal table: the key of its values and the title above them, by default the key.

    Attributes
    ----------
    shrink : int, width to which it may be cut; 0 for never
    middle : bool, whether it is cut in the middle
    rare : bool, whether the table leaves it out where no row has a value
    """

    key: str
    title: str | None = None
    numeric: bool = False
    shrink: int = 0
    middle: bool = False
    rare: bool = False


def numbers(*keys: str, **titled: str) -> tuple[Heading, ...]:
    """Columns of numbers, titled by their keys, then others by key and title."""
    return tuple(Heading(key, title, numeric=True) for key, title in {**dict.fromkeys(keys), **titled}.items())


HELD_OUT = tuple(replace(one, rare=True) for one in numbers(loss="held out: loss", accuracy="accuracy"))
"""Numbers on records that are held out, which few problems have."""


def line_width() -> int:
    """Columns of the terminal that is written to, or those that ``COLUMNS`` says."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    asked = shutil.get_terminal_size((LEAST_WIDTH, 24)).columns if known else LEAST_WIDTH
    return min(max(asked, LEAST_WIDTH), MOST_WIDTH)


def print_json(value: Any) -> None:
    """Print a value as JSON: NaN is null, infinity ``"inf"``."""
    sys.stdout.write(dumps_pretty(value))


def answer(as_json: bool, value: Any, lines: Iterable[str]) -> int:
    """Print a value as JSON, or else in lines; returns the exit code 0."""
    if as_json:
        print_json(value)
    else:
        print("\n".join(lines))
    return 0


def say(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def number(value: Any, digits: int = 4) -> str:
    """Format a number with ``digits`` significant digits; ``-`` for NaN and None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return str(value) if isinstance(value, int | str) else f"{value:.{digits}g}"


def bounded(value: float | None, kind: str, digits: int = 4) -> str:
    """Format a number with the sign of its kind: ``>= 3.3e4`` for a lower bound, ``<= 1`` for an upper one."""
    shown = number(value if value is None else outward(value, kind, digits), digits)
    return shown if shown == "-" else (f"{SIGNS[kind]} {shown}" if kind in ("lower", "upper") else shown)


def constants_text(constants: Constants) -> str:
    """Describe a problem's constants in one line, with the norm if it is not Euclidean."""
    values = {f.name: getattr(constants, f.name) for f in fields(constants)}
    known = {key: value for key, value in values.items() if isinstance(value, float)}
    told = {key: v for key, v in known.items() if v not in ((2.0,) if key == "norm" else (0.0, math.inf))}
    return ", ".join(f"{key} {number(value)}" for key, value in told.items())


def held_out_text(found: HeldOutBeside) -> str:
    """Held-out loss and accuracy in words, with those of the starting point and of the minimiser."""
    return f"held out: {held_text(found.own)} ({beside_text(found)})"


def beside_text(found: HeldOutBeside) -> str:
    """Say what to compare held-out numbers with."""
    return f"trivial: {held_text(found.trivial)}; without privacy: {held_text(found.without_privacy)}"


def held_text(values: HeldOut) -> str:
    """Tell held-out numbers: ``loss 0.647, accuracy 0.61``."""
    accuracy = "" if values.accuracy is None else f", accuracy {number(values.accuracy, 3)}"
    return f"loss {number(values.loss, 3)}{accuracy}"


def table(columns: Sequence[Heading], rows: Iterable[Row], width: int | None = None) -> str:
    """Lay rows out under their headings; columns that may shrink are cut with ``...`` until the table fits.

    Its lines have no trailing blanks, and at most ``width`` columns (default: `line_width`).
    """
    told = list(rows)
    columns = [one for one in columns if not one.rare or any(row.get(one.key, "-") != "-" for row in told)]
    values = [[row.get(column.key) for column in columns] for row in told]
    cells = [["" if v is None else number(v) if isinstance(v, float) else str(v) for v in row] for row in values]
    titles = [column.key if column.title is None else column.title for column in columns]
    widths = [max(map(len, values)) for values in zip(titles, *cells, strict=True)]
    _shrink(widths, columns, width or line_width())
    lines = [titles, ["-" * w for w in widths], *cells]
    return "\n".join(_line(line, widths, columns) for line in lines)


def labelled(label: str, text: str, room: int = 14) -> str:
    """Write a label and its text without double backticks, continued under the text."""
    return textwrap.fill(
        " ".join(text.replace("``", "").split()),
        line_width(),
        initial_indent=f"{label:<{room}}",
        subsequent_indent=" " * room,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _shrink(widths: list[int], columns: Sequence[Heading], width: int) -> None:
    """Shorten the columns that may shrink, the last one first, until the line fits or nothing is left to take."""
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    for i in reversed(range(len(columns))):
        if excess > 0 and columns[i].shrink:
            taken = max(0, min(excess, widths[i] - columns[i].shrink))
            widths[i], excess = widths[i] - taken, excess - taken


def _line(cells: Sequence[str], widths: Sequence[int], columns: Sequence[Heading]) -> str:
    parts = []
    for cell, width, column in zip(cells, widths, columns, strict=True):
        tail = (width - 3) - (width - 3) // 2 if column.middle else 0
        shown = cell if len(cell) <= width else cell[: width - 3 - tail] + "..." + cell[len(cell) - tail :]
        parts.append(shown.rjust(width) if column.numeric else shown.ljust(width))
    return _GAP.join(parts).rstrip()
