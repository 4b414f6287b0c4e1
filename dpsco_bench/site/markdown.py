"""Markdown as MyST reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dpsco_bench.report.drawing import PANEL_WIDTH
from dpsco_bench.report.tables import Column, ReportTable, Row, at
from dpsco_bench.report.wording import SYMBOLS, symbols

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$^&!])")
_OPENING = re.compile(r"^(\d*)([-+=:.)])(?=\s|$|:)")
_WIDTH = re.compile(r'width="([\d.]+)pt"')
ONE_PANEL = 72 * PANEL_WIDTH * 1.2
"""Points up to which a figure is read on every screen: a panel, and names beside it."""
ABSENT = "·"  # a cell of a question that is not asked
NO_SEARCH = "---\nnosearch: true\n---\n"
"""Opening of a page whose words stand on other pages, so that a search finds those."""
SORTABLE = 12  # rows from which on a table can be sorted and filtered


def text(words: str) -> str:
    """Escape words, on one line, with Greek letters and inequality signs."""
    line = " ".join(symbols(words).split())
    return _OPENING.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", line))


def prose(words: str) -> str:
    """Escape words but for code between backticks."""
    made = ""
    for place, piece in enumerate(words.split("`")):
        lead, tail = piece[:1].isspace(), piece[-1:].isspace() and len(piece) > 1
        made += code(piece) if place % 2 else " " * lead + text(piece) + " " * tail
    return made


def code(words: str) -> str:
    line = " ".join(words.split())
    fence = "``" if "`" in line else "`"
    pad = " " if "`" in line else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def link(words: str, target: str) -> str:
    return f"[{words}](#{target})" if target and words else words


def badge(words: str, tone: str) -> str:
    """Show a verdict or a standing: symbol and words, in the colour of its tone; what was not asked, as a dot."""
    if words == ABSENT:
        return words
    return f"[{SYMBOLS.get(tone, '·')}\u00a0{text(words)}]{{.v .{tone}}}"


def heading(words: str, level: int = 1, target: str = "") -> str:
    return (f"({target})=\n" if target else "") + f"{'#' * level} {text(words)}\n"


def figure(address: str, alt: str, file: Path | None = None) -> str:
    """Show an image that shrinks with the page; where its ``file`` is wider than a panel, in a box that scrolls."""
    width = _WIDTH.search(file.read_text(encoding="utf-8")[:1000]) if file and file.is_file() else None
    kind = "drawn" if width and float(width[1]) > ONE_PANEL else "fitting"
    return f":::{{container}} {kind}\n![{text(alt)}]({address})\n:::\n"


def fenced(listing: str, language: str = "text") -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", listing)), default=0))
    return f"{fence}{language}\n{listing.rstrip()}\n{fence}\n"


def page(*pieces: str) -> str:
    """Join the pieces of a page that are not empty."""
    return "\n".join(filter(None, pieces))


def downloads(table: str, up: str = "") -> str:
    """Link to the files of a table. ``up`` leads from the page to the root."""
    return f"[CSV]({up}tables/{table}.csv), [Parquet]({up}tables/{table}.parquet)"


def bullets(items: Iterable[str]) -> str:
    return "".join(f"- {item}\n" for item in items)


def toctree(pages: Sequence[str], hidden: bool = True, caption: str = "") -> str:
    options = [*([f":caption: {caption}"] if caption else []), *([":hidden:"] if hidden else []), ":titlesonly:"]
    return "\n".join(["```{toctree}", *options, "", *pages, "```"]) + "\n"


def table(found: ReportTable, hidden: Sequence[str] = (), anchored: bool = False) -> str:
    """Write a table without the ``hidden`` columns; where ``anchored``, links lead to cells of the column Part."""
    columns = {title: column for title, column in found.columns.items() if title not in hidden}
    if not found.rows:
        return ""
    met: set[str] | None = set() if anchored else None
    rows = ([_cell(title, column, row, met) for title, column in columns.items()] for row in found.rows)
    shown = grid(map(text, columns), rows, ["--:" if column.numeric else "---" for column in columns.values()])
    kind = "{.sortable}" if len(found.rows) >= SORTABLE else "{.plain}"
    note = f"\n{text(found.note)}\n" if found.note else ""
    return f"{kind}\n{shown}{note}"


def grid(titles: Iterable[str], rows: Iterable[Iterable[str]], rule: Iterable[str] = ()) -> str:
    """Write a table whose titles and cells are Markdown; ``rule`` is the line between them."""
    heads = [*titles]
    lines = (heads, [*rule] or ["---"] * len(heads), *rows)
    return "".join("| " + " | ".join(cell.replace("\n", " ") for cell in line) + " |\n" for line in lines)


ONE_LINE = 16  # characters of an id that every column has room for
LONG = 40  # characters from which on a text is given a width of its own


def _cell(title: str, column: Column, row: Row, met: set[str] | None) -> str:
    """Write a cell; ``met`` are the parts that have their anchor already, None where parts are links."""
    shown = column.text(row)
    target = column.link(row) if column.link else ""
    if not shown:
        return ""
    if column.kind == "verdict":
        return badge(shown, at(row, column.tone) if column.tone else "")
    if column.kind == "code" and len(shown) > ONE_LINE and re.fullmatch(r"[\w.-]+", shown):
        words = "<code>" + re.sub(r"([._])", r"\1<wbr>", shown) + "</code>"  # a line ends behind a dot or underscore
    elif column.kind == "code":
        words = code(shown).replace("|", "\\|")
    elif column.kind == "prose":  # words of a docstring have code between two backticks or one
        words = re.sub(r"(?<!\\)\|", r"\\|", prose(shown.replace("``", "`")))
    else:
        words = text(shown)
    if column.numeric:
        words = re.sub(r" (?!\\?\[)", "\N{NO-BREAK SPACE}", words)  # a line ends before an interval, or nowhere
    if title in WIDE and column.kind in ("text", "prose") and len(shown) > LONG and not target:
        return f"[{words}]{{.prose}}"
    if met is not None and target and title == "Part":
        anchor = words if target in met else f"[{words}]{{#{target}}}"
        met.add(target)
        return anchor
    return link(words, target)


WIDE = {  # titles of columns of prose: a narrow page scrolls instead of breaking after every word
    *("Answer", "Why", "Remarks", "Reason", "What", "Why not shown", "Kind", "Winner", "Instance", "Accountant"),
    "Charged on",
    *("Privacy", "Privacy of the paper's noise", "Claimed", "Printed noise is (ε, δ)-private", "Note", "Meaning"),
    *("Public grid search (not private)", "Public grid search", "Without privacy", "Lower bound, order"),
}
