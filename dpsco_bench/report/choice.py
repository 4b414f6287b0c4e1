"""The figure of a choice: all methods at one point, the least risk on top."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpsco_bench.analysis.choice import Choice, Chosen
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.report.axes import log_x
from dpsco_bench.report.drawing import COLOURS, FAINT, GREY, INK, cut, style, svg_text
from dpsco_bench.report.marks import MARK
from dpsco_bench.report.method_styles import Dash
from dpsco_bench.report.numbers import number, plain

WIDTH, ROW, MARGINS = 5.6, 0.155, 1.2
"""Inches."""
BEST, OTHER = COLOURS["accounted"], COLOURS["paper"]
LOWEST = 1e-3
"""Share of the least risk to which a logarithmic axis reaches for the end of an interval."""


def write_figure(found: Choice, path: Path) -> Path:
    """Write the figure as SVG; the same choice gives the same bytes."""
    with style():
        write_atomic(path, svg_text(figure(found)) + MARK)
    return path


def figure(found: Choice) -> Figure:
    """Risks with their intervals, and vertical lines for what they are held against."""
    count = len(found.methods)
    height = MARGINS + ROW * count
    drawn = Figure(figsize=(WIDTH, height))
    axes = drawn.add_axes((1.75 / WIDTH, 0.72 / height, (WIDTH - 1.95) / WIDTH, (height - MARGINS) / height))
    for place, method in enumerate(found.methods):
        _draw_method(axes, method, place)
    _draw_lines(axes, found)
    log_x(axes)
    axes.set_ylim(count - 0.4, -0.6)
    axes.set_yticks(range(count), [method.method for method in found.methods])
    axes.tick_params(axis="y", length=0)
    for label, method in zip(axes.get_yticklabels(), found.methods, strict=True):
        label.set_color(BEST if method.tied else INK if method.ranked else FAINT)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"{found.risk_kind} risk, mean and 95 % interval")
    _write_heading(drawn, found, height)
    drawn.legend(handles=_key(found), loc="lower center", ncols=3)
    return drawn


def _draw_method(axes: Axes, method: Chosen, place: int) -> None:
    colour = BEST if method.tied else OTHER if method.ranked else GREY
    face = colour if method.ranked else "white"
    low, high = method.ci
    if math.isfinite(low) and method.risk > 0:
        axes.plot([max(low, LOWEST * method.risk), high], [place, place], color=colour, linewidth=1.0, zorder=2)
    axes.plot([method.risk], [place], marker="o", color=colour, markerfacecolor=face, linestyle="none", zorder=3)


def _draw_lines(axes: Axes, found: Choice) -> None:
    for value, dash, colour in _lines(found):
        axes.axvline(value, linestyle=dash, color=colour, linewidth=0.9, zorder=1)


def _lines(found: Choice) -> list[tuple[float, Dash, str]]:
    """Place, dash and colour of what can be drawn on a logarithmic axis."""
    values: tuple[tuple[float, Dash, str], ...] = (
        (found.trivial, "-", FAINT),
        (found.without_privacy.risk, "--", FAINT),
        (found.lower_bound.value or 0.0, ":", INK),
    )
    return [(value, dash, colour) for value, dash, colour in values if 0 < value < math.inf]


def _key(found: Choice) -> list[Line2D]:
    marks = [("cannot be told apart from the best", BEST, BEST)] if len(found.tied) > 1 else [("the best", BEST, BEST)]
    marks += [("proven privacy", OTHER, OTHER)]
    if not all(method.ranked for method in found.methods):
        marks += [("privacy not proven", GREY, "white")]
    entries = [
        Line2D([], [], marker="o", color=colour, markerfacecolor=face, linestyle="none", label=text)
        for text, colour, face in marks
    ]
    bound = f"lower bound, {found.lower_bound.kind}"
    names: dict[Dash, str] = {"-": "trivial solution", "--": "without privacy", ":": bound}
    return entries + [
        Line2D([], [], color=colour, linestyle=dash, linewidth=0.9, label=names[dash])
        for _, dash, colour in _lines(found)
    ]


def _write_heading(drawn: Figure, found: Choice, height: float) -> None:
    point = found.point
    options = ", ".join(f"{key} {value}" for key, value in sorted(point.options.items()) if key != "sha256")
    told_options = f" ({options})" if options else ""
    where = f"n = {point.n:,}, d = {point.d}, ε = {plain(point.epsilon)}, δ = {number(point.delta)}"
    title = textwrap.shorten(message(found), 84, placeholder=" …")
    drawn.text(0.01, 1 - 0.05 / height, title, va="top", size=8, weight="bold", color=INK)
    rest = f"{len(found.refused)} methods not run" + f", {len(found.late)} of them for lack of time" * bool(found.late)
    told = f"{where}; {point.replicates} replicates; {rest}; {point.problem}{told_options}"
    drawn.text(0.01, 1 - 0.22 / height, cut(told, 110), va="top", size=6.5, color=FAINT)


def message(found: Choice) -> str:
    """Who is best, and how far ahead."""
    names = [name for name in found.tied if name != TRIVIAL]
    if not any(method.ranked for method in found.methods):
        return "No method whose privacy is proven ran"
    if not names:
        return "No method of proven privacy beats the trivial solution"
    if len(found.tied) > 1:
        return f"{len(found.tied)} cannot be told apart: {', '.join(found.tied)}"
    if math.isnan(found.margin):
        return f"{names[0]} alone was run"
    return f"{names[0]} has the least risk of proven privacy, {100 * found.margin:.0f} % below the next"
