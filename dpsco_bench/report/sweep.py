"""The plot of a sweep: risks over the number that was swept, a line for everything else that differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpsco_bench.execution.summary import SweptRun
from dpsco_bench.jsonio import MARK, write_atomic
from dpsco_bench.report.drawing import INK, style, svg_text
from dpsco_bench.report.numbers import plain

WIDTH, HEIGHT, ROW = 4.6, 2.7, 0.16  # inches; the last one is what a line of the key adds
MARKERS = "osD^vPX*"
NAMED = ("algorithm", "problem", "calibration", "variant")  # swept keys whose values speak for themselves
SETTINGS = {"algorithm": "", "problem": "", "calibration": "", "n": "n", "d": "d", "epsilon_claimed": "ε", "delta": "δ"}
SETTINGS |= {"replicates": "replicates"}
"""Setting that runs have in common -> its name in a heading."""
COLOURS = 7  # how many the style cycles through


def write_figure(rows: Sequence[SweptRun], path: Path) -> Path:
    with style():
        write_atomic(path, svg_text(figure(rows)) + MARK)
    return path


def figure(rows: Sequence[SweptRun]) -> Figure:
    """Draw mean risks with their intervals, over the swept key that is a number."""
    axis = numeric_key(rows)
    lines = _lines(rows, axis)
    room = (ROW * len(lines) + 0.05) * (len(lines) > 1)
    height = HEIGHT + room
    drawn = Figure(figsize=(WIDTH, height))
    axes = drawn.add_axes((0.72 / WIDTH, (0.45 + room) / height, (WIDTH - 0.85) / WIDTH, (HEIGHT - 0.75) / height))
    drawn.text(0.05 / WIDTH, 1 - 0.06 / height, heading(rows), va="top", size=7, color=INK)
    for number, (label, found) in enumerate(lines.items()):
        found = sorted(found, key=lambda row: _number(row.swept[axis])) if axis else found
        places = [_number(row.swept[axis]) if axis else float(number) for row in found]
        halves = [0.0 if math.isnan(half) else half for half in (row.summary.half_interval for row in found)]
        look: Any = {"marker": MARKERS[number // COLOURS % len(MARKERS)], "color": f"C{number % COLOURS}"}
        look |= {"label": label, "linestyle": "-" if axis else "none"}
        axes.errorbar(places, [row.summary.risk for row in found], yerr=halves, **look)
    kinds = sorted({row.summary.risk_kind for row in rows})
    axes.set_ylabel(f"{kinds[0]} risk" if len(kinds) == 1 else "risk, see the key")
    if all(row.summary.risk > 0 for row in rows):
        axes.set_yscale("log")
    _set_axis(axes, rows, axis)
    if len(lines) > 1:
        drawn.legend(loc="lower center", ncols=1)
    return drawn


def heading(rows: Sequence[SweptRun]) -> str:
    values = {key: {getattr(row.summary, key) for row in rows} for key in SETTINGS}
    same = {key: value for key, (value, *others) in values.items() if not others}
    told = (f"{SETTINGS[key]} = {plain(value)}" if SETTINGS[key] else str(value) for key, value in same.items())
    return ", ".join(told)


def numeric_key(rows: Sequence[SweptRun]) -> str:
    """Find the swept key with the most different numbers; empty where none is a number that differs."""
    values = {key: {_number(row.swept[key]) for row in rows} for key in rows[0].swept}
    several = [key for key, found in values.items() if len(found) > 1 and not any(map(math.isnan, found))]
    return max(several, key=lambda key: len(values[key]), default="")


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _lines(rows: Sequence[SweptRun], axis: str) -> dict[str, list[SweptRun]]:
    """Group runs that differ along the axis alone, by what tells them from others."""
    found: dict[str, list[SweptRun]] = {}
    kinds = {row.summary.risk_kind for row in rows}
    for row in rows:
        parts = [value if key in NAMED else f"{key} = {value}" for key, value in row.swept.items() if key != axis]
        parts += [row.summary.risk_kind] * (len(kinds) > 1)
        found.setdefault(", ".join(parts), []).append(row)
    return found


def _set_axis(axes: Axes, rows: Sequence[SweptRun], axis: str) -> None:
    if not axis:
        axes.set_xticks([])
        axes.margins(x=0.3)
        return
    values = sorted({_number(row.swept[axis]) for row in rows})
    axes.set_xlabel(axis)
    if values[0] > 0:
        axes.set_xscale("log")
        axes.set_xticks(values if len(values) <= 8 else values[:: math.ceil(len(values) / 8)])
        axes.set_xticks([], minor=True)
        axes.set_xticklabels([f"{tick:g}" for tick in axes.get_xticks()])
