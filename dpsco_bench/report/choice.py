"""The figure of a choice: all methods at one point, the least risk on top, and what they are held against."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpsco_bench.claims.bounds.orders import ORDER_ONLY
from dpsco_bench.jsonio import MARK, write_atomic
from dpsco_bench.report.axes import log_x
from dpsco_bench.report.drawing import COLOURS, FAINT, GREY, INK, cut, style, svg_text
from dpsco_bench.report.numbers import number, plain

if TYPE_CHECKING:
    from dpsco_bench.leaderboard.choose import Choice
WIDTH, ROW, MARGINS = 5.6, 0.155, 1.2  # inches
BEST, OTHER = COLOURS["accounted"], COLOURS["paper"]
LOWEST = 1e-3  # share of the least risk to which a logarithmic axis reaches for the end of an interval


def write_choice(found: Choice, path: Path) -> Path:
    """Write the figure of a choice as SVG; the same choice gives the same bytes."""
    with style():
        write_atomic(path, svg_text(choice_figure(found)) + MARK)
    return path


def choice_figure(found: Choice) -> Figure:
    """Draw all methods at one point, the least risk on top, with lines for what they are held against."""
    count = len(found.methods)
    height = MARGINS + ROW * count
    drawn = Figure(figsize=(WIDTH, height))
    axes = drawn.add_axes((1.75 / WIDTH, 0.72 / height, (WIDTH - 1.95) / WIDTH, (height - MARGINS) / height))
    for place, method in enumerate(found.methods):
        colour = BEST if method.tied else OTHER if method.ranked else GREY
        look: dict[str, Any] = {"color": colour, "markerfacecolor": colour if method.ranked else "white"}
        low, high = method.ci
        if math.isfinite(low) and method.risk > 0:
            axes.plot([max(low, LOWEST * method.risk), high], [place, place], color=colour, linewidth=1.0, zorder=2)
        axes.plot([method.risk], [place], marker="o", linestyle="none", zorder=3, **look)
    values: tuple[tuple[str, float, Any, str], ...] = (
        ("trivial solution", found.trivial, "-", FAINT),
        ("without privacy", found.without_privacy.risk, "--", FAINT),
        (f"lower bound, {ORDER_ONLY}", found.lower_bound or 0.0, ":", INK),
    )
    lines = [line for line in values if 0 < line[1] < math.inf]  # what a logarithmic axis has
    for _, value, dash, colour in lines:
        axes.axvline(value, linestyle=dash, color=colour, linewidth=0.9, zorder=1)
    log_x(axes)
    axes.set_ylim(count - 0.4, -0.6)
    axes.set_yticks(range(count), [method.method for method in found.methods])
    axes.tick_params(axis="y", length=0)
    for label, method in zip(axes.get_yticklabels(), found.methods, strict=True):
        label.set_color(BEST if method.tied else INK if method.ranked else FAINT)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"{found.risk_kind} risk, mean and 95 % interval")
    marks = [("cannot be told apart from the best" if len(found.tied) > 1 else "the best", BEST, BEST)]
    marks += [("proven privacy", OTHER, OTHER)]
    marks += [] if all(method.ranked for method in found.methods) else [("privacy not proven", GREY, "white")]
    key = [Line2D([], [], marker="o", color=c, markerfacecolor=f, linestyle="none", label=text) for text, c, f in marks]
    key += [Line2D([], [], color=colour, linestyle=dash, linewidth=0.9, label=text) for text, _, dash, colour in lines]
    drawn.legend(handles=key, loc="lower center", ncols=3)
    title, told = textwrap.shorten(found.answer, 84, placeholder=" …"), cut(_circumstances(found), 110)
    drawn.text(0.01, 1 - 0.05 / height, title, va="top", size=8, weight="bold", color=INK)
    drawn.text(0.01, 1 - 0.22 / height, told, va="top", size=6.5, color=FAINT)
    return drawn


def _circumstances(found: Choice) -> str:
    point = found.point
    options = ", ".join(f"{key} {value}" for key, value in sorted(point.options.items()) if key != "sha256")
    where = f"n = {point.n:,}, d = {point.d}, ε = {plain(point.epsilon)}, δ = {number(point.delta)}"
    rest = f"{len(found.refused)} methods not run" + f", {len(found.late)} of them for lack of time" * bool(found.late)
    return f"{where}; {point.replicates} replicates; {rest}; {point.problem}{f' ({options})' if options else ''}"
