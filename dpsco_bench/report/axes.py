"""Axes of the figures: log scales with ticks at the measured values, and labels at the ends of curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from scipy.optimize import isotonic_regression

from dpsco_bench.report.drawing import PANEL_WIDTH
from dpsco_bench.report.numbers import number, plain, superscript

MOST_TICKS = 6
LABEL_GAP = 0.06  # height of a line of an end label, as a fraction of the axes' height
ENDS = (-0.02, 1.05)
"""Between what end labels stand: farther down are the numbers of the other axis, farther up the panel's heading."""
SMALLEST = 4.8  # points of a label that would not fit into the margin otherwise
PLAIN, SMALL = (0.0099, 1e4), 5.4
"""Between what numbers of an axis are written plainly; points of those that are long."""
LEAST_DECADES = 0.5  # least decades of a logarithmic x axis, so that it has two numbers
NUMBERED = {2.2: (1.0,), 1.1: (1.0, 3.0), 0.8: (1.0, 2.0, 5.0), 0.0: (1.0, 2.0, 3.0, 5.0, 7.0)}
"""Decades of such an axis, at least -> the multiples of a power of ten that are numbered: two of them at least."""
LOST = 1e-16  # part of the largest value below which others are arrows at the lower edge
FOOT = 0.02  # height of arrows at the lower edge, as a fraction of the axes' height
CHARACTER, TICK_GAP = 0.026, 0.035
"""Width of a character of a tick label, and least gap between two labels, as fractions of the axis of one panel."""


@dataclass(frozen=True)
class EndLabel:
    """A label beside the last point of a curve."""

    y: float  # height of that point
    text: str
    colour: str
    more: tuple[tuple[str, str], ...] = ()  # smaller lines below, each with its colour
    x: float | None = None  # place of that point, where a thin line leads from it to the label


class Plot:
    """An axes while it is drawn: what its y axis has to hold, and the labels at its right edge."""

    def __init__(self, axes: Axes, *held: float) -> None:
        self.axes, self.held, self.labels = axes, [*held], list[EndLabel]()

    def label(self, y: float, text: str, colour: str, *more: str) -> None:
        """Name what ends at a height, in lines of one colour."""
        self.labels.append(EndLabel(y, text, colour, tuple((line, colour) for line in more)))

    def line(self, x: Sequence[float] | np.ndarray, y: Sequence[float], text: str, colour: str, **look: Any) -> None:
        """Draw a line with its name at its end."""
        self.axes.plot(x, y, **{"color": colour, "linewidth": 0.9, **look})
        self.held += y
        self.label(y[-1], text, colour)

    def finish(self, values: Iterable[float], x_label: str, y_label: str, room: float = 0.08) -> None:
        """Set two logarithmic axes, with ticks at the values of x, and write the labels."""
        value_axis(self.axes, values, x_label)
        log_y(self.axes, self.held, y_label, room)
        label_ends(self.axes, self.labels)


def value_axis(axes: Axes, values: Iterable[float], label: str, beside: Iterable[float] = ()) -> None:
    """Set a logarithmic x axis with ticks at the measured values; it also holds points that stand beside them."""
    ticks = sorted({float(v) for v in values})
    step = math.ceil(len(ticks) / MOST_TICKS)
    shown = ticks[::-1][::step][::-1]
    axes.set_xscale("log")
    margin = 10 ** (0.04 * max(0.3, math.log10(ticks[-1] / ticks[0])))
    held = [*ticks, *beside]
    axes.set_xlim(min(held) / margin, max(held) * margin)
    shown = legible(shown, *axes.get_xlim())
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([tick_text(v) for v in shown]))
    axes.xaxis.set_minor_locator(FixedLocator(ticks) if len(shown) < len(ticks) else NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(label)


def legible(ticks: Sequence[float], low: float, high: float) -> list[float]:
    """Keep the ticks whose labels do not touch on a logarithmic axis from low to high, the largest first."""
    kept: list[float] = []
    for tick in reversed(ticks):
        room = math.log(kept[-1] / tick) / math.log(high / low) if kept else 1.0
        characters = (len(tick_text(tick)) + len(tick_text(kept[-1]))) / 2 if kept else 0
        if room >= CHARACTER * characters + TICK_GAP:
            kept.append(tick)
    return kept[::-1]


def tick_text(value: float) -> str:
    """Write powers of two beyond 10,000 and below 0.01 as such, others plainly or with three digits."""
    power = math.log2(value)
    if not 0.01 <= value < 1e4 and power == round(power):
        return f"2{superscript(round(power))}"
    short = value == round(value) or value == float(f"{value:.3g}")
    return plain(value) if short else number(value)


def log_y(axes: Axes, values: Iterable[float], label: str, room: float = 0.08) -> None:
    """Set a logarithmic y axis around the values, decades (and 2, 5 where few of them) labelled."""
    logs = np.log10([v for v in values if v > 0 and math.isfinite(v)] or [1.0])
    low, high = float(logs.min()), float(logs.max())
    margin = max(room * (high - low), 0.08)
    axes.set_yscale("log")
    axes.set_ylim(10 ** (low - margin), 10 ** (high + margin))
    wide = high - low + 2 * margin
    subs = (1.0,) if wide > 2.2 else (1.0, 2.0, 5.0) if wide > 0.7 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    decades(axes.yaxis, subs, 8 if len(subs) == 1 else 20)
    if len(subs) > 1 and 10 ** (low - margin) < PLAIN[0]:
        axes.tick_params(axis="y", labelsize=SMALL)  # 1.5×10⁻⁴ beside the axis, and its name beside that
    axes.set_ylabel(label)


def log_x(axes: Axes) -> None:
    """Set a logarithmic x axis over what is drawn, if anything is positive, with 2, 3 and 5 where it is short."""
    if not math.isfinite(axes.dataLim.minposx):
        return
    axes.set_xscale("log")
    low, high = np.log10(axes.get_xlim())
    wide = float(high - low)
    if wide < LEAST_DECADES:
        middle = (low + high) / 2
        axes.set_xlim(10 ** (middle - LEAST_DECADES / 2), 10 ** (middle + LEAST_DECADES / 2))
    subs = next(subs for least, subs in NUMBERED.items() if wide >= least)
    decades(axes.xaxis, subs, 6 if len(subs) == 1 else 20)


def decades(axis: Axis, subs: Sequence[float] = (1.0,), most: int = 8) -> None:
    """Label powers of ten, and multiples ``subs`` of them, on a logarithmic axis; without minor ticks."""
    axis.set_major_locator(LogLocator(subs=subs, numticks=most))
    axis.set_major_formatter(FuncFormatter(lambda value, _: decade_text(value)))
    axis.set_minor_locator(NullLocator())  # dozens of artists an axis, for marks that nobody reads


def decade_text(value: float) -> str:
    """Write a tick label on a logarithmic axis: plain near 1, a power of ten elsewhere; none where floats end."""
    if not 0 < value < math.inf:
        return ""
    if PLAIN[0] < value < PLAIN[1]:
        return plain(value)
    power = math.floor(math.log10(value) + 1e-9)
    mantissa = value / 10.0**power if power > -300 else 1.0
    return ("" if abs(mantissa - 1) < 1e-6 else f"{mantissa:g}×") + f"10{superscript(power)}"


def label_ends(axes: Axes, labels: Sequence[EndLabel]) -> None:
    """Write labels at the right edge, each at its curve's height, pushed apart where they would overlap."""
    wanted = sorted(labels, key=lambda label: (_height(axes, label.y), label.text, label.colour))
    rooms = [LABEL_GAP * (1 + len(label.more)) for label in wanted]
    places = spread([_height(axes, label.y) for label in wanted], rooms)
    for place, room, label in zip(places, rooms, wanted, strict=True):
        top = place + (room - LABEL_GAP) / 2
        if label.x is not None:
            look = dict(arrowstyle="-", linewidth=0.4, alpha=0.7, shrinkA=0, shrinkB=2, color=label.colour)
            at: dict[str, Any] = {"xytext": (1.02, place), "textcoords": "axes fraction", "arrowprops": look}
            axes.annotate("", (label.x, label.y), annotation_clip=False, **at)
        for line, (text, colour) in enumerate([(label.text, label.colour), *label.more]):
            y, size = top - LABEL_GAP * line, fitting(axes, text, 6.0 if line else 6.5)
            axes.text(1.03, y, text, transform=axes.transAxes, va="center", size=size, color=colour)


def _height(axes: Axes, y: float) -> float:
    """Find the fraction of the axes' height at which a value stands; what is off the axes stands at their edge."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "linear":
        return min(1.0, max(0.0, (y - low) / (high - low)))
    return min(1.0, max(0.0, math.log10(y / low) / math.log10(high / low))) if y > 0 else 0.0


def fitting(axes: Axes, text: str, size: float) -> float:
    """Find the size, or a smaller one with which a label at the right edge ends inside its panel."""
    figure: Any = axes.figure
    box, width = axes.get_position(), 72.0 * figure.get_figwidth()
    left = (box.x1 + 0.03 * box.width) * width
    panel = 72.0 * PANEL_WIDTH
    room = panel - left % panel - 1.0 if width >= panel else width - left - 1.0
    wide = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0]
    return size if wide <= room else max(SMALLEST, size * room / wide)


def spread(places: Sequence[float], gap: float | Sequence[float]) -> list[float]:
    """Move sorted places apart between `ENDS`, each with the room ``gap``, as little as possible and in order.

    Neighbours that touch become a block about the mean of where they would be; what does not fit stands out at the top.
    """
    if not len(places):
        return []
    sizes = np.broadcast_to(gap, len(places))
    below = np.cumsum(sizes) - sizes / 2  # of each place, the room that it needs down to the first one's lower edge
    lowest = isotonic_regression(np.array(places) - below).x
    return [float(place) for place in np.maximum(ENDS[0], np.minimum(lowest, ENDS[1] - sizes.sum())) + below]


def beyond_log(values: np.ndarray) -> np.ndarray:
    """Find what no logarithmic axis shows: 0 and below, and what is lost beside the largest in double precision."""
    with np.errstate(invalid="ignore"):
        largest = np.max(values, initial=0.0, where=np.isfinite(values))
    return np.asarray(values <= LOST * max(largest, 0.0))


def at_foot(axes: Axes, x: Sequence[float] | np.ndarray, colour: str, **look: Any) -> None:
    """Draw arrows at the lower edge, hollow ones for measured values that no logarithmic axis shows (`beyond_log`)."""
    look = {"color": colour, "markerfacecolor": "white", "markersize": 3.6, "zorder": 4, **look}
    if len(x):
        axes.plot(x, [FOOT] * len(x), "v", transform=axes.get_xaxis_transform(), clip_on=False, **look)
