"""Markdown as MyST reads it: text without markup, links by address, badges, and tables of the report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dpsco_bench.report.tables import Column, Row, Table, at
from dpsco_bench.report.wording import SYMBOLS, symbols

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$^&!])")
_OPENING = re.compile(r"^(\d*)([-+=:.)])(?=\s|$|:)")
NO_SEARCH = "---\nnosearch: true\n---\n"
"""Opening of a page whose words stand on other pages, so that a search finds those."""
SORTABLE = 12
"""Rows from which on a table can be sorted and filtered."""


def text(words: str) -> str:
    """Words in which nothing is markup, on one line, with Greek letters and inequality signs."""
    line = " ".join(symbols(words).split())
    return _OPENING.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", line))


def prose(words: str) -> str:
    """Words in which nothing is markup but code between backticks."""
    pieces = words.split("`")
    return "".join(code(piece) if place % 2 else _spaced(piece) for place, piece in enumerate(pieces))


def _spaced(piece: str) -> str:
    """Text that keeps the blanks at its ends."""
    lead, tail = piece[:1].isspace(), piece[-1:].isspace() and len(piece) > 1
    return " " * lead + text(piece) + " " * tail


def code(words: str) -> str:
    """Words as code, on one line."""
    line = " ".join(words.split())
    fence = "``" if "`" in line else "`"
    pad = " " if "`" in line else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def link(words: str, target: str) -> str:
    """A link to an address; ``words`` are Markdown."""
    return f"[{words}](#{target})" if target and words else words


def badge(words: str, tone: str) -> str:
    """A verdict or a standing: symbol and words, in the colour of its tone."""
    return f"[{SYMBOLS.get(tone, '·')}\u00a0{text(words)}]{{.v .{tone}}}"


def heading(words: str, level: int = 1, target: str = "") -> str:
    """A heading, after its address."""
    return (f"({target})=\n" if target else "") + f"{'#' * level} {text(words)}\n"


def figure(file: str, alt: str, kind: str = "drawn") -> str:
    """An image file in a box that scrolls on a page too narrow for it; ``fitting``: one that shrinks (`site.boxes`)."""
    return f":::{{container}} {kind}\n![{text(alt)}]({file})\n:::\n"


def fenced(listing: str, language: str = "text") -> str:
    """A listing as it is."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", listing)), default=0))
    return f"{fence}{language}\n{listing.rstrip()}\n{fence}\n"


def beside(first: str, second: str) -> str:
    """Two pieces of Markdown next to each other on a wide page, and below each other on a narrow one.

    Where there is nothing to say first, the second alone.
    """
    if not first.strip():
        return second
    half = "::::::::"  # more than any line of a listing begins with
    pieces = "".join(f"{half}{{container}} half\n{piece}{half}\n" for piece in (first, second))
    return f"{half}:{{container}} beside\n{pieces}{half}:\n"


def quote(words: str) -> str:
    """A quoted paragraph."""
    return f"> {text(words)}\n"


def bullets(items: Iterable[str]) -> str:
    """A list of Markdown items."""
    return "".join(f"- {item}\n" for item in items)


def toctree(pages: Sequence[str], hidden: bool = True, caption: str = "") -> str:
    """The pages below this one, which makes previous and next, and the navigation."""
    options = [*([f":caption: {caption}"] if caption else []), *([":hidden:"] if hidden else []), ":titlesonly:"]
    return "\n".join(["```{toctree}", *options, "", *pages, "```"]) + "\n"


def table(found: Table, hidden: Sequence[str] = (), anchored: bool = False) -> str:
    """A table of the report; one of many rows can be sorted and filtered.

    Parameters
    ----------
    hidden : sequence of str, titles of columns that stand in the files only
    anchored : bool, whether cells of the column Part are what links lead to, and no links
    """
    columns = {title: column for title, column in found.columns.items() if title not in hidden}
    if not found.rows:
        return ""
    met: set[str] | None = set() if anchored else None
    lines = [
        _line(map(text, columns)),
        _line("--:" if column.numeric else "---" for column in columns.values()),
        *(_line(_cell(title, column, row, met) for title, column in columns.items()) for row in found.rows),
    ]
    kind = "{.sortable}" if len(found.rows) >= SORTABLE else "{.plain}"
    note = f"\n{text(found.note)}\n" if found.note else ""
    return f"{kind}\n" + "\n".join(lines) + "\n" + note


ONE_LINE = 16
"""Characters of an id that every column has room for."""
LONG = 40
"""Characters from which on a text is given a width of its own."""


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |"


def _cell(title: str, column: Column, row: Row, met: set[str] | None) -> str:
    """A cell; ``met`` are the parts that have their anchor already, None where parts are links."""
    shown = column.text(row)
    target = column.link(row) if column.link else ""
    if not shown:
        return ""
    if column.kind == "verdict":
        return badge(shown, at(row, column.tone) if column.tone else "")
    words = _code_cell(shown) if column.kind == "code" else _said(shown) if column.kind == "prose" else text(shown)
    if column.numeric:
        words = re.sub(r" (?!\\?\[)", "\N{NO-BREAK SPACE}", words)  # a line ends before an interval, or nowhere
    if title in WIDE and column.kind in ("text", "prose") and len(shown) > LONG and not target:
        return f"[{words}]{{.prose}}"
    if met is not None and target and title == "Part":
        anchor = words if target in met else f"[{words}]{{#{target}}}"
        met.add(target)
        return anchor
    return link(words, target)


WIDE = {
    *("Answer", "Why", "Remarks", "Reason", "What", "Why not shown", "Kind", "Winner", "Instance", "Accountant"),
    "Charged on",
    *("Privacy", "Privacy of the paper's noise", "Claimed", "Printed noise is (ε, δ)-private", "Note", "Meaning"),
    *("Public grid search (not private)", "Public grid search", "Without privacy", "Lower bound, order"),
}
"""Titles of columns of prose: a narrow page scrolls instead of breaking after every word."""


def _said(shown: str) -> str:
    """Words of a docstring, whose code stands between two backticks or one."""
    return re.sub(r"(?<!\\)\|", r"\\|", prose(shown.replace("``", "`")))


def _code_cell(shown: str) -> str:
    """Code, in HTML where an id is so long that its line has to end somewhere: behind a dot or an underscore."""
    if len(shown) > ONE_LINE and re.fullmatch(r"[\w.-]+", shown):
        broken = re.sub(r"([._])", r"\1<wbr>", shown)
        return f"<code>{broken}</code>"
    return code(shown).replace("|", "\\|")
