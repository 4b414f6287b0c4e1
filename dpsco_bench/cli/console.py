"""Arguments that several verbs share, the one grammar of ``key=value`` (Hydra's), and how verbs answer."""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dpsco_bench.analysis.rounding import outward
from dpsco_bench.errors import InputError, integral
from dpsco_bench.jsonio import dumps_pretty
from dpsco_bench.privacy.ledger import SIGNS
from dpsco_bench.report.tables import Column, Columns, Number

if TYPE_CHECKING:
    from dpsco_bench.execution.job_results import HeldOut, HeldOutBeside
    from dpsco_bench.problems.constants import Constants

SHARED: dict[str, dict[str, Any]] = {
    "profile": {"default": "ci", "choices": ("smoke", "ci", "full"), "help": "by default ci"},
    "json": {"action": "store_true", "help": "print JSON (NaN is null, infinity is the string inf)"},
    "plugin": {
        "action": "append",
        "default": [],
        "metavar": "FILE",
        "help": "Python file that registers algorithms, problems and so on, or folder of a paper's package",
    },
}
"""Options that several verbs have -> what `argparse` makes of them."""
LEAST_WIDTH, MOST_WIDTH = 100, 220


def add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        parser.add_argument(f"--{name}", **SHARED[name])


def add_algorithm(parser: argparse.ArgumentParser, keys: str) -> None:
    parser.add_argument("algorithm", help="paper.name, or algorithm=paper/name as `dpsco run` takes it")
    parser.add_argument("keys", nargs="*", metavar="key=value", help=keys)
    add_shared(parser, "json", "plugin")


def full_id(name: str) -> str:
    """Id of the one algorithm whose name this is, as rankings show it; any other text as it is."""
    from dpsco_bench.algorithms.registry import list_algorithms

    alone = [] if set(name) & {".", "/"} else [id for id in list_algorithms() if id.partition(".")[2] == name]
    return alone[0] if len(alone) == 1 else name


def algorithm_keys(first: str, others: Iterable[str]) -> tuple[str, dict[str, Any]]:
    """Id of the algorithm, which stands first or is the value of ``algorithm=``, and the other keys.

    Raises InputError for one that is unknown, missing or named twice, and as `parse_keys`.
    """
    from dpsco_bench.algorithms.registry import get_algorithm

    keys = parse_keys([first if "=" in first else f"algorithm={first}", *others])
    if "algorithm" not in keys:
        raise InputError("algorithm", "missing", "given: `dpsco list algorithms` shows all")
    return get_algorithm(full_id(str(keys.pop("algorithm")))).id, keys


@dataclass(frozen=True)
class Override:
    """One ``key=value`` with its sign (``+``, ``++``, ``~`` or none), the text after ``=``, and the texts of a sweep.

    The value is what a text stands for: a number, true, false, null, text, a list or a mapping; None for a sweep.
    """

    sign: str
    key: str
    text: str
    values: tuple[str, ...]
    sweep: bool
    value: Any = None

    def __str__(self) -> str:
        """Return the override as Hydra reads it."""
        return f"{self.sign}{self.key}" + ("" if self.sign == "~" and not self.text else f"={self.text}")


def parse_override(argument: str) -> Override:
    """Parse one argument with Hydra's own grammar. Raises InputError in one line, where Hydra takes several."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    key, _, text = argument.partition("=")
    if not text.isascii() and not set(text) & set("'\"[{,"):
        argument = f"{key}={quoted(text)}"  # Hydra's grammar has no letters beyond ASCII
    try:
        override = OverridesParser.create().parse_override(argument)
        sweep = override.is_sweep_override()
        values = tuple(override.sweep_string_iterator()) if sweep and override.is_discrete_sweep() else ()
        if not override.key_or_group:
            raise ValueError
    except (HydraException, ValueError):
        raise InputError("argument", argument, f"of the form key=value{_quoting(argument)}") from None
    if sweep and not values:
        raise InputError("argument", argument, "a list key=value,value or a range(first,end,step), and not empty")
    if len(set(values)) < len(values):
        raise InputError("argument", argument, "a sweep over different values")
    element, text = override.get_key_element(), argument.partition("=")[2]
    key = element.lstrip("+~")
    value = None if sweep else override.value()
    return Override(element.removesuffix(key), key, text, values or (text,), sweep, value)


def quoted(text: object) -> str:
    """Quote a text, such as the path of a file, for Hydra's grammar."""
    return "'" + str(text).replace("'", "\\'") + "'"


def _quoting(argument: str) -> str:
    """How a value with characters that mean something to Hydra or are unknown to it is written."""
    key, _, text = argument.partition("=")
    if not key or not text or text.startswith("[") or set(text) & set("'\""):
        return ""
    return f"; a text with = ~ # & brackets or accents stands in quotes: '{key}=\"{text}\"'"


def parse_value(text: str) -> Any:
    """Read a value as it is read after ``key=``; text that has no meaning there stays text."""
    try:
        return integral(parse_override(f"value={text}").value)
    except InputError:
        return text


def single_values(arguments: Iterable[str]) -> dict[str, Override]:
    """Read ``key=value`` arguments, each with one value. Raises InputError for another form, or a key given twice."""
    found: dict[str, Override] = {}
    for parsed in map(parse_override, arguments):
        if parsed.sign or parsed.sweep:
            raise InputError(parsed.sign + parsed.key, parsed.text, f"one value, {parsed.key}=VALUE")
        if parsed.key in found:
            raise InputError(parsed.key, parsed.text, "given once")
        found[parsed.key] = parsed
    return found


def parse_keys(arguments: Iterable[str]) -> dict[str, Any]:
    return {key: parsed.value for key, parsed in single_values(arguments).items()}


def digits(count: int = 4) -> Callable[[Any], str]:
    """Show a column's numbers with so many significant digits; nothing for None."""
    return lambda value: "" if value is None else number(value, count)


def held_out(place: str) -> dict[str, Column]:
    """Columns of numbers on records that are held out, which few problems have; their paths begin so."""
    return {"held out: loss": Number(f"{place}loss", digits(3)), "accuracy": Number(f"{place}accuracy", digits(3))}


RARE = ("held out: loss", "accuracy", "real eps")
"""Titles of columns that a table leaves out where no row has a value."""


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


def interval(ends: tuple[float, float]) -> str:
    return f"[{number(ends[0], 2)}, {number(ends[1], 2)}]"


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


def beside_text(found: HeldOutBeside) -> str:
    """Say what to compare held-out numbers with."""
    return f"trivial: {held_text(found.trivial)}; without privacy: {held_text(found.without_privacy)}"


def held_text(values: HeldOut) -> str:
    """Tell held-out numbers: ``loss 0.647, accuracy 0.61``."""
    accuracy = "" if values.accuracy is None else f", accuracy {number(values.accuracy, 3)}"
    return f"loss {number(values.loss, 3)}{accuracy}"


def table(columns: Columns, rows: Iterable[Any], shrink: Mapping[str, int] = MappingProxyType({})) -> str:
    """Lay rows out under the titles of their columns.

    Those that may ``shrink``, to a least width by title, are cut with ``...`` until lines fit `line_width`.
    """
    rows = list(rows)
    laid = {title: [column.text(row) for row in rows] for title, column in columns.items()}
    laid = {title: cells for title, cells in laid.items() if title not in RARE or {*cells} - {"", "-"}}
    widths = {title: max(map(len, [title, *cells])) for title, cells in laid.items()}
    excess = sum(widths.values()) + 2 * (len(widths) - 1) - line_width()
    for title in reversed([title for title in laid if title in shrink]):  # until the line fits or none is left to cut
        taken = max(0, min(excess, widths[title] - shrink[title]))
        widths[title], excess = widths[title] - taken, excess - taken

    def fitted(title: str, text: str) -> str:
        width, kept = widths[title], widths[title] - 3
        tail = kept - kept // 2 if title == "part" else 0  # parts of a claim often differ at the end alone
        shown = text if len(text) <= width else text[: kept - tail] + "..." + text[len(text) - tail :]
        return shown.rjust(width) if columns[title].numeric else shown.ljust(width)

    lines = zip(*([title, "-" * widths[title], *cells] for title, cells in laid.items()), strict=True)
    return "\n".join("  ".join(map(fitted, laid, line)).rstrip() for line in lines)


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
