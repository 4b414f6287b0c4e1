"""Do the points of an instance fall on one curve of ``n epsilon/sqrt(d)``? The least private risk against it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpsco_bench.analysis.ranking import Standing
from dpsco_bench.report.axes import log_x, log_y
from dpsco_bench.report.board import kind_text, measured
from dpsco_bench.report.drawing import GREY, INK, Panel, compose
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.numbers import is_number, plain

NEAR = 1.5
"""Largest factor between two values of ``n epsilon/sqrt(d)`` at which risks are compared."""
COLLAPSED = 1.5
"""Largest factor between risks at such values, the slope taken out, that is called one curve."""
MARKERS = ("o", "s", "^", "D", "v", "P")
SHADES = ("#9ecae1", "#4292c6", "#08519c", "#08306b")
WORDS = "Least excess risk of a method proven private over that of the start (grey line); hollow: undecided; ▼: risk 0"
FOOT = 0.3
"""Where points of risk 0 stand on a logarithmic axis, in units of the least risk above 0."""


def share(row: Standing) -> float:
    """Divide the least risk by that of the starting point, 0 where a method finds the optimum; NaN where none ran."""
    risks = [max(0.0, method.risk) for method in row.methods if method.ranked and is_number(method.risk)]
    return min(risks) / row.trivial if risks and is_number(row.trivial) and row.trivial > 0 else math.nan


def known(rows: Sequence[Standing]) -> list[Standing]:
    """Keep points at which a method ran."""
    return [row for row in rows if not math.isnan(share(row))]


def ratio(row: Standing) -> float:
    """Compute ``n epsilon/sqrt(d)``."""
    return row.n * row.epsilon / math.sqrt(row.d)


def spread(rows: Sequence[Standing]) -> float | None:
    """Find the largest factor between shares at about one `ratio` and other n or d, with its slope taken out.

    None where there are no two such points; infinite where one of the two risks is 0. Undecided points say nothing:
    a method that was left out may have less risk. The slope is that of a line through the points' logarithms.
    """
    decided = [row for row in known(rows) if not row.contenders]
    points = [(math.log(ratio(row)), math.log(share(row)), row.n, row.d) for row in decided if share(row) > 0]
    middle_x = sum(x for x, *_ in points) / max(1, len(points))
    middle_y = sum(y for _, y, *_ in points) / max(1, len(points))
    width = sum((x - middle_x) ** 2 for x, *_ in points)
    slope = sum((x - middle_x) * (y - middle_y) for x, y, *_ in points) / width if width > 0 else 0.0
    points += [(math.log(ratio(row)), -math.inf, row.n, row.d) for row in decided if share(row) == 0]
    gaps = [
        0.0 if y == v else abs(y - v - slope * (x - u)) if math.isfinite(y + v) else math.inf
        for (x, y, *here), (u, v, *there) in combinations(points, 2)
        if here != there and abs(x - u) <= math.log(NEAR)
    ]
    return math.exp(max(gaps)) if gaps else None


def spread_text(rows: Sequence[Standing]) -> str:
    """Check whether one number decides, in a sentence."""
    found = spread(rows)
    if found is None:
        return "no two points share a value of n ε/√d"
    word = "one curve" if found <= COLLAPSED else "not one curve"
    apart = "0 beside others" if math.isinf(found) else f"up to a factor {found:.2g} apart"
    return f"{word}: risks at one n ε/√d are {apart}"


def collapse_figure(board: BoardResults) -> Figure | None:
    """Draw a panel for every instance with at least three points; None where there is none."""
    panels = []
    for instance in board.board.instances:
        rows = known([row for row in measured(board) if row.instance == instance.id])
        if len(rows) >= 3:
            text = spread_text(rows)
            panels.append(Panel(text[:1].upper() + text[1:], _drawn(rows), instance.title))
    return compose(panels, collapse_message(board), WORDS, key=False) if panels else None


def collapse_message(board: BoardResults) -> str:
    """Count on how many instances one number decides the risk."""
    by_instance: dict[str, list[Standing]] = {}
    for row in known(measured(board)):
        by_instance.setdefault(row.instance, []).append(row)
    found = [spread(rows) for rows in by_instance.values() if len(rows) >= 3]
    told = [factor for factor in found if factor is not None]
    one = sum(factor <= COLLAPSED for factor in told)
    return f"n ε/√d alone decides the least private risk on {one or 'none'} of {len(told)} instances"


def _drawn(rows: Sequence[Standing]) -> Any:
    sizes, dimensions = sorted({row.n for row in rows}), sorted({row.d for row in rows})

    def draw(axes: Axes) -> None:
        axes.axhline(1.0, color=GREY, linewidth=0.8, zorder=1)
        above = [value for row in rows if (value := share(row)) > 0]
        foot = FOOT * min(above, default=1.0)
        for n in sizes:
            colour = SHADES[min(len(SHADES) - 1, sizes.index(n))]
            for d in dimensions:
                ours = sorted((row for row in rows if (row.n, row.d) == (n, d)), key=ratio)
                marker = MARKERS[dimensions.index(d) % len(MARKERS)]
                label = f"n {plain(n)}" + (f", d {d}" if len(dimensions) > 1 else "")
                if ours:
                    _draw_size(axes, ours, foot, color=colour, marker=marker, label=label)
        axes.set_xscale("log")
        log_x(axes)
        log_y(axes, [*above, 1.0, *([foot] if len(above) < len(rows) else [])], f"{kind_text(rows[0])} risk / start's")
        axes.set_xlabel("n ε/√d")
        axes.legend(loc="best", fontsize=5, handlelength=1.2, framealpha=0.7)

    return draw


def _draw_size(axes: Axes, rows: Sequence[Standing], foot: float, **look: Any) -> None:
    """Draw points of one n and d: hollow where undecided, at the foot of the axis where the risk is 0."""
    edge: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.3}
    axes.plot([ratio(row) for row in rows], [share(row) or foot for row in rows], **edge, **look)
    for row in rows:
        none = share(row) == 0
        if row.contenders or none:
            face: dict[str, Any] = {"markerfacecolor": "white" if row.contenders else look["color"], "zorder": 4}
            size: dict[str, Any] = {"markersize": 5.5} if none else {}
            axes.plot(
                ratio(row), share(row) or foot, "v" if none else look["marker"], color=look["color"], **face, **size
            )
