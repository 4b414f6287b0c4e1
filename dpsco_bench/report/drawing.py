"""Panels, figures made of panels, and files whose bytes depend on nothing but the data."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpsco_bench.jsonio import MARK, write_atomic

PANEL_WIDTH, AXES_HEIGHT = 3.5, 1.8
"""Inches: the column width of the papers, and the height of the area that holds the data."""
LEFT, RIGHT, BOTTOM, LINE, GAP = 0.6, 1.0, 0.42, 0.13, 0.1
"""Inches: margins of a panel, labels of curves standing at the right; a line of its heading, and the gap below."""
INK, FAINT, GREY = "#1a1a1a", "#5f5f5f", "#b0b0b0"
COLOURS = {"paper": "#00559a", "accounted": "#e0701a", "none": GREY}
"""Colours of noise. Their lightness differs as well as their hue, and each has a marker of its own."""
TEXT_COLOURS = {"paper": "#004a87", "accounted": "#a84a00", "none": FAINT}
MARKERS = {"paper": "o", "accounted": "s", "none": "o"}
SHADES = ("#00559a", "#e0701a", "#009E73", "#b05a8f", "#56B4E9", "#E69F00", INK)
TEXTS = ("#004a87", "#a84a00", "#00694d", "#8f3f71", "#1f6f9e", "#8a5a00", INK)
"""Colours of several curves, and of words about them; each curve has a name beside it."""
TONE_COLOURS = {"good": "#00684c", "better": "#004f80", "qualified": "#7a4c00", "bad": "#a63c00"}
"""Colours of verdicts, as on the site; others are grey."""
DASHED: dict[str, Any] = {"color": FAINT, "linewidth": 0.8, "linestyle": (0, (4, 2))}
BOUND: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (3.5, 2)), "zorder": 2}
"""Lines of what is claimed, and of formulas."""
KEY: dict[str, tuple[str, dict[str, Any]]] = {  # symbols that panels use: name -> words and look
    "mean": ("mean, 95 % interval", {"marker": "o"}),
    "hollow": ("size that is not in the fit", {"marker": "o", "markerfacecolor": "white"}),
    "ratio": ("ratio, ± 2 standard errors", {"marker": "o"}),
    "both": ("mean, 95 % interval; ratios ± 2 s.e.", {"marker": "o"}),
    "fit": ("fitted line", {"linestyle": "-"}),
    "bound": ("bound × a constant", {"linestyle": (0, (3.5, 2)), "linewidth": 0.9}),
    "foot": ("edge: ≤ 0, or ≤ 10⁻¹⁶ of the largest", {"marker": "v", "markerfacecolor": "white"}),
    "off": ("noise off (arrow: below the axis)", {"marker": "o", "color": GREY, "markersize": 3}),
    "exact": ("exact value", {"marker": "o"}),
    "lower": ("lower bound", {"marker": "^"}),
    "upper": ("upper bound", {"marker": "v"}),
}
_STYLE = Path(__file__).with_name("style.mplstyle")
HEADER_CHARACTERS, TITLE_CHARACTERS, LINE_CHARACTERS = 46, 56, 72
"""Characters of a line of the figure's header above a panel, of its title, and of its line of small text."""


@dataclass(frozen=True)
class Panel:
    """One drawing area."""

    title: str  # what it says
    draw: Callable[[Axes], object] | None = None  # None where there is nothing to draw, only the words
    line: str = ""  # small text below the title: instance and sizes, in a line or two; what does not fit is cut
    symbols: tuple[str, ...] = ()  # which symbols the figure's key must explain, see `KEY`
    height: float = AXES_HEIGHT  # inches of the area that holds the data
    right: float = RIGHT  # inches of the margin beside it

    @property
    def words(self) -> list[tuple[str, float, str, str]]:
        """Lines of its heading, each with size, weight and colour."""
        titles = textwrap.wrap(self.title, TITLE_CHARACTERS, break_long_words=False)
        bold = [(text, 7.5, "bold", INK) for text in titles]
        return bold + [(text, 6.3, "normal", FAINT) for text in two_lines(self.line, LINE_CHARACTERS)]


@contextmanager
def style(**more: Any) -> Iterator[None]:
    """Set the package's style on top of Matplotlib's defaults, whatever the user's own settings are."""
    parameters = rc_params_from_file(_STYLE, fail_on_error=True, use_default_template=True)
    kept: dict[Any, Any] = {key: parameters[key] for key in parameters if key not in ("backend", "interactive")}
    kept.update(more)
    with matplotlib.rc_context(kept):
        yield


def compose(panels: Sequence[Panel], header: str = "", source: str = "", more: Sequence[Any] = ()) -> Figure:
    """Make a figure of panels, two in a row, with a header that says what it shows and a key, with ``more`` entries.

    Axes have fixed inches, so that all panels of a row align whatever their labels are.
    """
    handles = [*_key(panels), *more]
    columns = min(2, max(1, len(panels)))
    width = PANEL_WIDTH * columns
    rows = [panels[i : i + columns] for i in range(0, len(panels), columns)]
    lines = [max(len(panel.words) for panel in row) for row in rows]
    drawn = [max(panel.height + BOTTOM if panel.draw else 0.1 for panel in row) for row in rows]
    heights = [room + GAP + LINE * count + 0.12 for room, count in zip(drawn, lines, strict=True)]
    title = textwrap.wrap(header, HEADER_CHARACTERS * columns)
    legend_columns = min(len(handles), 2 * columns)
    origin = two_lines(source, LINE_CHARACTERS * columns)
    top = 0.15 * len(title) + 0.12 * len(origin) + 0.1 if title else 0.05
    foot = 0.14 * math.ceil(len(handles) / legend_columns) + 0.12 if handles else 0.05
    height = sum(heights) + top + foot
    figure = Figure(figsize=(width, height))
    if title:
        where = 1 - 0.05 / height
        figure.text(0.05 / width, where, "\n".join(title), va="top", size=8.5, weight="bold", color=INK)
        below = where - 0.15 * len(title) / height
        figure.text(0.05 / width, below, "\n".join(origin), va="top", size=6.5, color=FAINT)
    upper = height - top
    for row, room, count in zip(rows, heights, lines, strict=True):
        for column, panel in enumerate(row):
            _place(figure, panel, column * PANEL_WIDTH, upper - 0.05, count)
        upper -= room
    if handles:
        figure.legend(handles=handles, loc="lower center", ncols=legend_columns)
    return figure


def _place(figure: Figure, panel: Panel, left: float, top: float, lines: int) -> None:
    """Write and draw a panel whose heading begins at ``left`` and ``top``, in inches, with room for so many lines."""
    width, height = figure.get_size_inches()
    for number, (text, size, weight, colour) in enumerate(panel.words):
        y = (top - LINE * number) / height
        figure.text((left + 0.05) / width, y, text, va="top", size=size, weight=weight, color=colour)
    if panel.draw:
        below = top - LINE * lines - GAP
        box = (left + LEFT, below - panel.height, PANEL_WIDTH - LEFT - panel.right, panel.height)
        panel.draw(figure.add_axes((box[0] / width, box[1] / height, box[2] / width, box[3] / height)))


def _key(panels: Sequence[Panel]) -> list[Line2D]:
    used = {name for panel in panels for name in panel.symbols}
    used = {*used, "both"} - {"mean", "ratio"} if {"mean", "ratio"} <= used else used
    plain = {"color": INK, "markersize": 3.6, "linestyle": "none"}
    return [Line2D([], [], label=text, **{**plain, **look}) for name, (text, look) in KEY.items() if name in used]


def two_lines(text: str, characters: int) -> list[str]:
    """Break a text into at most two lines of so many characters; what does not fit is cut."""
    first, *rest = textwrap.wrap(text, characters, break_long_words=False) or [""]
    return list(filter(None, (first, textwrap.shorten(" ".join(rest), characters, placeholder=" …"))))


def move_edges(axes: Axes, left: float, right: float) -> None:
    """Move both edges of an axes to the right, by inches."""
    figure: Any = axes.figure
    box, width = axes.get_position(), figure.get_figwidth()
    axes.set_position((box.x0 + left / width, box.y0, box.width + (right - left) / width, box.height))


def bare(axes: Axes) -> None:
    """Take ticks, grid and frame off an axes; names of ticks stay."""
    axes.tick_params(length=0)
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)


def svg_text(figure: Figure) -> str:
    """Write the figure as SVG, without date."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def displayed(figure: Figure) -> Figure:
    """Make a notebook show a figure, whatever Matplotlib's backend is."""

    def written() -> str:
        with style():
            return svg_text(figure)

    figure._repr_svg_ = written  # type: ignore[attr-defined]
    return figure


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as SVG and PDF, by a path without suffix; returns the two files."""
    from fontTools.subset import Options  # type: ignore[import-untyped]

    svg, pdf = (path.with_name(path.name + suffix) for suffix in (".svg", ".pdf"))
    stream, kept = io.BytesIO(), Options._drop_tables_default
    write_atomic(svg, svg_text(figure))
    # no glyph needs the layout tables of its font, and cutting them down takes most of the time
    Options._drop_tables_default = [*kept, "GSUB", "GPOS", "GDEF"]
    try:
        figure.savefig(stream, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    finally:
        Options._drop_tables_default = kept
    write_atomic(pdf, stream.getvalue())
    return [svg, pdf]


def write_svg(draw: Callable[[], Figure], path: Path) -> Path:
    """Draw a figure and write it as SVG; the same numbers give the same bytes."""
    with style():
        write_atomic(path, svg_text(draw()) + MARK)
    return path
