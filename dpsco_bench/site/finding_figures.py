"""The figure of a finding: its numbers as points on one axis, each with its name and its value beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dpsco_bench.analysis.rounding import outward
from dpsco_bench.claims.catalogue import naming
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.report.address import address
from dpsco_bench.report.drawing import COLOURS as NOISE
from dpsco_bench.report.drawing import FAINT, GREY, INK, style, svg_text
from dpsco_bench.report.findings import Said
from dpsco_bench.report.numbers import number
from dpsco_bench.report.wording import symbols
from dpsco_bench.site.findings import Supported

WIDTH, ROW, ABOVE, BELOW = 4.6, 0.3, 0.12, 0.5
"""Inches: legible on a telephone without scrolling."""
COLOURS = {"main": INK, "printed": NOISE["paper"], "private": NOISE["accounted"], "plain": GREY}
MARKERS = {"main": "o", "printed": "o", "private": "s", "plain": "D"}
"""Blue and orange are the papers' noise and accounted noise here as in all figures; a number of neither is dark."""
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
"""Behind a value, so that no line runs through it."""
ROUNDING = 1e-12
"""Share of the largest number from which on a number is more than rounding."""
FAR = 30.0
"""Ratio of the largest and the smallest number from which on the axis is logarithmic."""


def write_figures(found: Iterable[Supported], folder: Path) -> list[Supported]:
    """Draw findings; returns them."""
    drawn = []
    for one in found:
        with naming(one.finding.path):
            if one.said.points:
                with style(**{"font.size": 8.5}):
                    write_atomic(folder / f"{address('finding', one.id)}.svg", svg_text(figure(one.said)))
            drawn.append(one)
    return drawn


def figure(said: Said) -> Figure:
    """Draw the points of a finding, a row each."""
    rows = [(symbols(point.text), outward(float(point.value), point.bound), point.look) for point in said.points]
    height = ABOVE + BELOW + ROW * len(rows)
    drawn = Figure(figsize=(WIDTH, height))
    left = 0.2 + 0.058 * max(len(name) for name, _, _ in rows)
    axes = drawn.add_axes((left / WIDTH, BELOW / height, (WIDTH - left - 0.62) / WIDTH, ROW * len(rows) / height))
    _points(axes, rows, said)
    axes.set_xlabel(symbols(said.label), color=INK)
    return drawn


def _points(axes: Axes, rows: Sequence[tuple[str, float, str]], said: Said) -> None:
    line = said.reference
    ends = [value for _, value, _ in rows] + ([line] if line is not None else [])
    far = not said.linear and min(ends) > 0 and max(ends) / min(ends) > FAR
    start = min(ends) if far else min(0.0, *ends)
    if far:
        axes.set_xscale("log")
    elif all(float(end).is_integer() for end in ends):
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    for place, (_, value, look) in enumerate(rows):
        axes.plot([line if line is not None else start, value], [place, place], color="#c8c8c8", linewidth=1.4)
        axes.plot(value, place, MARKERS[look], color=COLOURS[look], markersize=6)
        axes.annotate(
            _shown(value, ends), (value, place), (7, 0), textcoords="offset points", va="center", color=INK, bbox=PAPER
        )
    if line is not None:
        axes.axvline(line, color=FAINT, linewidth=0.9, linestyle=(0, (4, 2)))
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    low, high = min(ends), max(ends)
    if far:
        axes.set_xlim(low / (high / low) ** 0.06, high * (high / low) ** 0.1)
    else:
        axes.set_xlim(start - 0.04 * (high - start), high + 0.1 * (high - start))


def _shown(value: float, ends: Sequence[float]) -> str:
    """A number; 0 for what rounding has left of it beside the others."""
    return number(0.0 if abs(value) < ROUNDING * max(map(abs, ends)) else value)
