"""Axes of the figures: log scales with ticks at the measured values, and labels at the ends of curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from dpsco_bench.report.drawing import FAINT
from dpsco_bench.report.numbers import number, plain, superscript

MOST_TICKS = 6
LABEL_GAP = 0.058
"""Least distance of two end labels, as a fraction of the axes' height."""
CHARACTER, TICK_GAP = 0.026, 0.02
"""Width of a character of a tick label, and least gap between two labels, as fractions of the axis of one panel."""


@dataclass(frozen=True)
class EndLabel:
    """A label beside the last point of a curve."""

    y: float
    text: str
    colour: str


def value_axis(axes: Axes, values: Iterable[float], label: str) -> None:
    """Logarithmic x axis with ticks at the measured values."""
    ticks = sorted({float(v) for v in values})
    step = math.ceil(len(ticks) / MOST_TICKS)
    shown = ticks[::-1][::step][::-1]
    axes.set_xscale("log")
    margin = 10 ** (0.04 * max(0.3, math.log10(ticks[-1] / ticks[0])))
    axes.set_xlim(ticks[0] / margin, ticks[-1] * margin)
    shown = legible(shown, *axes.get_xlim())
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([tick_text(v) for v in shown]))
    axes.xaxis.set_minor_locator(FixedLocator(ticks) if len(shown) < len(ticks) else NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(label)


def legible(ticks: Sequence[float], low: float, high: float) -> list[float]:
    """Those of ascending ticks whose labels do not touch on a logarithmic axis from low to high, the largest first."""
    kept: list[float] = []
    for tick in reversed(ticks):
        if kept:
            room = math.log(kept[-1] / tick) / math.log(high / low)
            characters = (len(tick_text(tick)) + len(tick_text(kept[-1]))) / 2
            if room < CHARACTER * characters + TICK_GAP:
                continue
        kept.append(tick)
    return kept[::-1]


def tick_text(value: float) -> str:
    """Powers of two beyond 10,000 and below 0.01 as such, whole numbers plainly, others with three digits at most."""
    power = math.log2(value)
    if not 0.01 <= value < 1e4 and power == round(power):
        return f"2{superscript(round(power))}"
    short = value == round(value) or value == float(f"{value:.3g}")
    return plain(value) if short else number(value)


def log_y(axes: Axes, values: Iterable[float], label: str, room: float = 0.08) -> None:
    """Logarithmic y axis around the values, decades (and 2, 5 where few of them) labelled."""
    logs = np.log10([v for v in values if v > 0 and math.isfinite(v)] or [1.0])
    low, high = float(logs.min()), float(logs.max())
    margin = max(room * (high - low), 0.08)
    axes.set_yscale("log")
    axes.set_ylim(10 ** (low - margin), 10 ** (high + margin))
    decades = high - low + 2 * margin
    subs = (1.0,) if decades > 2.2 else (1.0, 2.0, 5.0) if decades > 0.7 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=8 if len(subs) == 1 else 20))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: decade_text(value)))
    axes.yaxis.set_minor_locator(NullLocator())  # dozens of artists an axis, for marks that nobody reads
    axes.set_ylabel(label)


def decade_text(value: float) -> str:
    """Tick label on a logarithmic axis: plain near 1, a power of ten elsewhere."""
    return plain(value) if 0.0099 < value < 1e4 else _power(value)


def _power(value: float) -> str:
    power = math.floor(math.log10(value) + 1e-9)
    mantissa = value / 10.0**power
    return ("" if abs(mantissa - 1) < 1e-6 else f"{mantissa:g}×") + f"10{superscript(power)}"


def label_ends(axes: Axes, labels: Sequence[EndLabel]) -> None:
    """Write labels at the right edge, each at its curve's height, pushed apart where they would overlap."""
    low, high = np.log10(axes.get_ylim())
    # a curve that ends at or below zero leaves a logarithmic axis at its foot
    heights = [(math.log10(label.y) - low) / (high - low) if label.y > 0 else 0.0 for label in labels]
    wanted = sorted((min(1.0, max(0.0, y)), label.text, label.colour) for y, label in zip(heights, labels, strict=True))
    for place, (_, text, colour) in zip(spread([w[0] for w in wanted], LABEL_GAP), wanted, strict=True):
        axes.text(1.02, place, text, transform=axes.transAxes, va="center", size=6.5, color=colour)


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Move sorted places apart to at least a gap, keeping their order and as much of their positions as possible."""
    blocks: list[list[float]] = []
    for place in places:
        blocks.append([place, 1.0])
        while len(blocks) > 1 and _low(blocks[-1], gap) < _high(blocks[-2], gap):
            centre, size = blocks.pop()
            before, count_ = blocks.pop()
            blocks.append([(centre * size + before * count_) / (size + count_), size + count_])
    return [_low(block, gap) + gap * (i + 0.5) for block in blocks for i in range(int(block[1]))]


def _low(block: Sequence[float], gap: float) -> float:
    return block[0] - gap * block[1] / 2


def _high(block: Sequence[float], gap: float) -> float:
    return block[0] + gap * block[1] / 2


def below_axis(axes: Axes, values: Sequence[float], x: Sequence[float], colour: str) -> None:
    """Arrows at the lower edge for points that lie below the axis."""
    low = axes.get_ylim()[0]
    outside = [place for place, value in zip(x, values, strict=True) if value < low]
    if outside:
        edge = axes.get_xaxis_transform()
        axes.plot(outside, [0.02] * len(outside), "v", color=colour, transform=edge, clip_on=False, markersize=3)


def reference_line(axes: Axes, y: float, text: str, colour: str = FAINT) -> None:
    """A horizontal line with its meaning beside it."""
    axes.axhline(y, color=colour, linewidth=0.8, linestyle=(0, (4, 2)))
    axes.text(1.02, y, text, transform=axes.get_yaxis_transform(), va="center", size=6.5, color=colour)
