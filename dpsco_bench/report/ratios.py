"""Panels of ratios: explicit bounds, bands, laws and lower bounds, cell by cell; medians of orderings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter

from dpsco_bench.claims.model import RISK
from dpsco_bench.report.axes import log_y, reference_line, tick_text, value_axis
from dpsco_bench.report.drawing import COLOURS, FAINT, MARKERS, TEXT_COLOURS, Line, Panel, words_panel
from dpsco_bench.report.numbers import is_number, number
from dpsco_bench.report.panels import bound_line, of_parts, settings_line, verdict_line
from dpsco_bench.report.scores import Group, Score, measured_parts
from dpsco_bench.report.wording import parameter_label, symbols

WHISKER = 2.0
"""Standard errors that the rules of these kinds add to a mean."""
_OFFSET, CROWDED = 0.26, 16
"""Distance of two calibrations at a cell, and the number of cells from which markers are smaller."""


def ratio_panel(scores: Sequence[Score]) -> Panel:
    """Means over what they are compared with, whiskers of two standard errors."""
    first = scores[0]
    lines = [Line(text) for text in (settings_line(first.part), of_parts(first)) if text]
    lines += bound_line(first)
    for score in scores:
        lines.append(verdict_line(score))
        if is_number(score.row.worst_ratio):
            text = symbols(score.row.reason)
            lines.append(Line(text, TEXT_COLOURS.get(score.row.calibration, FAINT), " "))
    shown = [score for score in scores if len(_ratios(score)[0])]
    if not shown:
        return words_panel(first.row.part, [*lines, Line(str(first.row.reason or "nothing was measured"))])
    drawn = any((_ratios(score)[0] > 0).any() for score in shown)
    return Panel(first.row.part, lambda axes: _draw(axes, shown), lines, symbols=("ratio",) * drawn)


def _ratios(score: Score) -> tuple[np.ndarray, np.ndarray]:
    """Ratios per cell and their whiskers."""
    mean, stderr, bound = (np.array(column) for column in (score.row.mean, score.row.stderr, score.row.bound))
    if not len(mean) == len(stderr) == len(bound):
        return np.empty(0), np.empty(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean / bound, WHISKER * np.nan_to_num(stderr) / bound


def _draw(axes: Axes, shown: Sequence[Score]) -> None:
    labels = shown[0].kind.labels
    longest = max(shown, key=lambda score: len(score.row.values))
    groups = _groups(longest)
    reference = _reference(shown[0])
    everything = list(reference)
    for number_, score in enumerate(shown):
        offset = _OFFSET * (number_ - (len(shown) - 1) / 2) if groups else 0.0
        everything += _points(axes, score, _places(score, groups), offset)
    label, quantity = labels.get("ratio", "ratio"), shown[0].part.quantity
    log_y(axes, everything, label if quantity == RISK else label.replace("excess risk", "measured"), room=0.1)
    if groups:
        _group_axis(axes, groups, list(longest.row.values))
    else:
        value_axis(axes, shown[0].row.values, parameter_label(shown[0].row.parameter))
    if len(reference) == 2:
        axes.axhspan(reference[0], reference[1], color="#009E73", alpha=0.13, linewidth=0, zorder=0)
        for end in reference:
            axes.text(1.02, end, number(end), transform=axes.get_yaxis_transform(), va="center", size=6.5, color=FAINT)
    else:
        reference_line(axes, reference[0], labels.get("reference", number(reference[0])))


def _reference(score: Score) -> list[float]:
    """Ends of the band that a logarithmic axis can show; 1 where there is none."""
    return [float(end) for end in score.part.band if end > 0] or [1.0]


def _points(axes: Axes, score: Score, places: np.ndarray, offset: float) -> list[float]:
    ratios, whiskers = _ratios(score)
    calibration = score.row.calibration
    colour, marker = COLOURS.get(calibration, "#000000"), MARKERS.get(calibration, "D")
    positive = np.isfinite(ratios) & (ratios > 0)
    x = places[positive] + offset
    small = 2.4 if len(places) > CROWDED else 3.6
    bars = whiskers[positive]
    axes.errorbar(x, ratios[positive], bars, fmt=marker, color=colour, elinewidth=0.8, markersize=small, zorder=3)
    return [*(ratios + whiskers)[positive], *ratios[positive], *(ratios - whiskers)[positive]]


def _groups(score: Score) -> list[Group]:
    """Parts whose cells stand side by side; empty where all share one parameter."""
    found = measured_parts(score)
    alike = len({group.parameter for group in found}) <= 1
    complete = sum(group.cells for group in found) == len(score.row.values or ())
    return found if complete and not alike else []


def _places(score: Score, groups: Sequence[Group]) -> np.ndarray:
    """Positions on the x axis: the values, or consecutive numbers with a gap between groups.

    A score without the cells of some groups leaves their places empty.
    """
    if not groups:
        return np.array(score.row.values, dtype=float)
    starts = dict(zip((g.part for g in groups), np.cumsum([0] + [g.cells + 1 for g in groups]), strict=False))
    return np.concatenate([starts[own.part] + np.arange(own.cells) for own in measured_parts(score)]).astype(float)


def _group_axis(axes: Axes, groups: Sequence[Group], values: Sequence[float]) -> None:
    """A tick per cell; under each group its parameter and the range of its values."""
    ticks: list[float] = []
    place = taken = 0
    for _, name, size in groups:
        block = values[taken : taken + size]
        ticks += [place + i for i in range(size)]
        middle, under = place + (size - 1) / 2, axes.get_xaxis_transform()
        axes.text(middle, -0.07, symbols(name), transform=under, ha="center", va="center", size=7)
        ends = f"{tick_text(block[0])} … {tick_text(block[-1])}"
        axes.text(middle, -0.14, ends, transform=under, ha="center", va="center", size=5.5)
        place, taken = place + size + 1, taken + size
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(NullFormatter())
    axes.set_xlim(-0.7, place - 1.3)
    axes.grid(False, axis="x")
