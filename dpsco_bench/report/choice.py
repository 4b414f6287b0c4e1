"""The figures of two verbs: of `choose`, all methods at one point; of `run`, the risks of a sweep."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpsco_bench.claims.bounds.orders import ORDER_ONLY
from dpsco_bench.execution.job_results import SweptRun
from dpsco_bench.report.axes import log_x, log_y, value_axis
from dpsco_bench.report.drawing import COLOURS, FAINT, GREY, INK
from dpsco_bench.report.inputs import grouped
from dpsco_bench.report.numbers import number, plain

if TYPE_CHECKING:
    from dpsco_bench.leaderboard.choose import Choice
WIDTH, ROW, BELOW, ABOVE, TITLE, TOLD = 5.6, 0.155, 0.72, 0.2, 0.15, 0.13  # inches; TITLE and TOLD a line
BEST, OTHER = COLOURS["accounted"], COLOURS["paper"]
LINE_MARKERS, CYCLE = "osD^vPX*", 7  # markers of a sweep's lines; how many colours the style cycles through
NAMED = ("algorithm", "problem", "calibration", "variant")  # swept keys whose values speak for themselves
SETTINGS = dict.fromkeys(("algorithm", "problem", "calibration"), "")
SETTINGS |= {"n": "n", "d": "d", "epsilon_claimed": "ε", "delta": "δ", "replicates": "replicates"}
"""Setting that runs have in common -> its name in a heading."""
LOWEST = 1e-3  # share of the least risk to which a logarithmic axis reaches for the end of an interval


def choice_figure(found: Choice) -> Figure:
    """Draw all methods at one point, the least risk on top, with lines for what they are held against."""
    count, title = len(found.methods), textwrap.wrap(found.answer, 84)
    told = textwrap.wrap(_circumstances(found), 110)
    height = BELOW + ROW * count + ABOVE + TITLE * len(title) + TOLD * len(told)
    drawn = Figure(figsize=(WIDTH, height))
    axes = drawn.add_axes((1.75 / WIDTH, BELOW / height, (WIDTH - 1.95) / WIDTH, ROW * count / height))
    axes.set_ylim(count - 0.4, -0.6)
    axes.set_yticks(range(count), [method.method for method in found.methods])
    for place, (method, label) in enumerate(zip(found.methods, axes.get_yticklabels(), strict=True)):
        colour = BEST if method.tied else OTHER if method.ranked else GREY
        look: dict[str, Any] = {"color": colour, "markerfacecolor": colour if method.ranked else "white"}
        low, high = method.ci
        if math.isfinite(low) and method.risk > 0:
            axes.plot([max(low, LOWEST * method.risk), high], [place, place], color=colour, linewidth=1.0, zorder=2)
        axes.plot([method.risk], [place], marker="o", linestyle="none", zorder=3, **look)
        label.set_color(BEST if method.tied else INK if method.ranked else FAINT)
    values: tuple[tuple[str, float, Any, str], ...] = (
        ("trivial solution", found.trivial, "-", FAINT),
        ("without privacy", found.without_privacy.risk, "--", FAINT),
        (f"lower bound, {ORDER_ONLY}", found.lower_bound or 0.0, ":", INK),
    )
    lines = [line for line in values if 0 < line[1] < math.inf]  # what a logarithmic axis has
    for _, value, dash, colour in lines:
        axes.axvline(value, linestyle=dash, color=colour, linewidth=0.9, zorder=1)
    log_x(axes)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"{found.risk_kind} risk, mean and 95 % interval")
    best = "cannot be told apart from the best" if len(found.tied) > 1 else "the best"
    marks = [(best, BEST, BEST), ("proven privacy", OTHER, OTHER)]
    marks += [] if all(method.ranked for method in found.methods) else [("privacy not proven", GREY, "white")]
    key = [Line2D([], [], marker="o", color=c, markerfacecolor=f, linestyle="none", label=text) for text, c, f in marks]
    key += [Line2D([], [], color=colour, linestyle=dash, linewidth=0.9, label=text) for text, _, dash, colour in lines]
    drawn.legend(handles=key, loc="lower center", ncols=3)
    drawn.text(0.01, 1 - 0.05 / height, "\n".join(title), va="top", size=8, weight="bold", color=INK)
    below = 0.07 + TITLE * len(title)
    drawn.text(0.01, 1 - below / height, "\n".join(told), va="top", size=6.5, color=FAINT)
    return drawn


def _circumstances(found: Choice) -> str:
    point = found.point
    options = ", ".join(f"{key} {value}" for key, value in sorted(point.options.items()) if key != "sha256")
    where = f"n = {point.n:,}, d = {point.d}, ε = {plain(point.epsilon)}, δ = {number(point.delta)}"
    rest = f"{len(found.refused)} methods not run" + f", {len(found.late)} of them for lack of time" * bool(found.late)
    return f"{where}; {point.replicates} replicates; {rest}; {point.problem}{f' ({options})' if options else ''}"


def sweep_figure(rows: Sequence[SweptRun]) -> Figure:
    """Draw mean risks with their intervals, over the swept key that has the most numbers, if any differs."""
    values = {key: {_number(row.swept[key]) for row in rows} for key in rows[0].swept}
    several = [key for key, found in values.items() if len(found) > 1 and not any(map(math.isnan, found))]
    axis = max(several, key=lambda key: len(values[key]), default="")
    kinds = sorted({row.summary.risk_kind for row in rows})

    def name(row: SweptRun) -> str:
        """Tell it from others that differ along the axis alone."""
        parts = [value if key in NAMED else f"{key} = {value}" for key, value in row.swept.items() if key != axis]
        return ", ".join(parts + [row.summary.risk_kind] * (len(kinds) > 1))

    lines = grouped(rows, name)
    drawn = Figure(figsize=(4.6, 2.7 + 0.16 * len(lines) * (len(lines) > 1)), layout="constrained")
    axes = drawn.add_subplot()
    axes.set_title(textwrap.fill(_heading(rows), 70), loc="left", size=7, weight="normal", color=INK)
    everything, ends = [], []
    for place, (label, found) in enumerate(lines.items()):
        found = sorted(found, key=lambda row: _number(row.swept[axis])) if axis else found
        places = [_number(row.swept[axis]) if axis else float(place) for row in found]
        risks, halves = ([getattr(row.summary, key) for row in found] for key in ("risk", "half_interval"))
        look: Any = {"marker": LINE_MARKERS[place // CYCLE % len(LINE_MARKERS)], "color": f"C{place % CYCLE}"}
        axes.errorbar(places, risks, yerr=halves, label=label, linestyle="-" if axis else "none", **look)
        everything += places
        ends += [*risks, *(risk + side * half for risk, half in zip(risks, halves, strict=True) for side in (1, -1))]
    measure = f"{kinds[0]} risk" if len(kinds) == 1 else "risk, see the key"
    axes.set_ylabel(measure)
    if all(row.summary.risk > 0 for row in rows):
        log_y(axes, ends, measure)
    if not axis:
        axes.set_xticks([])
        axes.margins(x=0.3)
    elif min(everything) > 0:
        value_axis(axes, everything, axis)
    else:
        axes.set_xlabel(axis)
    if len(lines) > 1:
        drawn.legend(loc="outside lower center", ncols=1)
    return drawn


def _heading(rows: Sequence[SweptRun]) -> str:
    values = ((name, {getattr(row.summary, key) for row in rows}) for key, name in SETTINGS.items())
    same = [(name, value) for name, (value, *others) in values if not others]
    return ", ".join(f"{name} = {plain(value)}" if name else str(value) for name, value in same)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
