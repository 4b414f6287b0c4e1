"""Panels of ratios: explicit bounds, bands, laws and lower bounds, cell by cell; medians of orderings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter

from dpsco_bench.report.axes import EndLabel, at_foot, beyond_log, label_ends, log_x, log_y, tick_text, value_axis
from dpsco_bench.report.drawing import COLOURS, FAINT, INK, MARKERS, TEXT_COLOURS, Panel
from dpsco_bench.report.labels import mark, small_line, worded_panel
from dpsco_bench.report.messages import panel_message
from dpsco_bench.report.numbers import count, is_number, number
from dpsco_bench.report.scores import Group, Score, measured_parts
from dpsco_bench.report.wording import parameter_label, symbols

GRID_MARKER, ROOM = 2.0, 0.06
"""Points of a marker in a panel of a grid; part of its axis that stays free above."""
WHISKER = 2.0
"""Standard errors that the rules of these kinds add to a mean."""
MOST_RANGES = 3
"""Groups beside each other of which there is room for the range of their values."""
_OFFSET, CROWDED = 0.26, 16
"""Distance of two calibrations at a cell, and the number of cells from which markers are smaller."""


def ratio_panel(scores: Sequence[Score]) -> Panel:
    """Means over what they are compared with, whiskers of two standard errors."""
    title = panel_message(scores)
    shown = [score for score in scores if len(_ratios(score)[0])]
    if not shown:
        return worded_panel(scores)
    drawn = any((~_at_foot(score)).any() for score in shown)
    foot = any(_at_foot(score).any() for score in shown)
    symbols = ("ratio",) * drawn + ("foot",) * foot
    return Panel(title, lambda axes: _draw(axes, shown), small_line(scores), symbols=symbols)


def grid_panel(scores: Sequence[Score]) -> Panel:
    """The same for all combinations of a grid, over the value of the bound in each.

    The axis of ratios is linear, so that it holds every cell.
    """
    shown = [score for score in scores if np.isfinite(_ratios(score)[0]).any()]
    if not shown:
        return worded_panel(scores)
    line = f"{count(max(len(score.row.values) for score in shown))} cells; {small_line(scores)}"
    return Panel(panel_message(scores), lambda axes: _draw_grid(axes, shown), line, symbols=("ratio",))


def _draw_grid(axes: Axes, shown: Sequence[Score]) -> None:
    labels, ends = _words(shown[0]), []
    reference = list(shown[0].part.band) or [1.0]
    held = [0.0, *reference]
    for score in shown:
        ratios, whiskers = _ratios(score)
        bound = np.array(score.row.bound, dtype=float)
        good = np.isfinite(ratios) & (bound > 0)
        calibration = score.row.calibration
        look: dict[str, Any] = {
            "fmt": MARKERS.get(calibration, "D"),
            "color": COLOURS.get(calibration, INK),
            "markersize": GRID_MARKER,
        }
        axes.errorbar(bound[good], ratios[good], whiskers[good], elinewidth=0.6, zorder=3, **look)
        held += [*(ratios + whiskers)[good], *(ratios - whiskers)[good]]
        ends.append(_label(score, len(ratios) - int(good.sum())))
    axes.set_ylim(min(held) - ROOM * (min(held) < 0), max(held) * (1 + ROOM))
    axes.set_ylabel(labels.get("ratio", "ratio"))
    log_x(axes)
    axes.set_xlabel("value of the bound in a cell")
    ends += [EndLabel(end, labels.get("reference", number(end)), FAINT) for end in reference]
    for end in reference:
        axes.axhline(end, color=FAINT, linewidth=0.8, linestyle=(0, (4, 2)))
    label_ends(axes, ends)


def _words(score: Score) -> Mapping[str, str]:
    return score.kind.labels_of(score.part)


def _label(score: Score, absent: int = 0) -> EndLabel:
    """Beside the last point: whose noise, the worst ratio, the cells that have none, the verdict."""
    ratios = _ratios(score)[0]
    good = ratios[np.isfinite(ratios) & (ratios > 0)]
    colour = TEXT_COLOURS.get(score.row.calibration, FAINT)
    worst = _words(score).get("worst", "worst")
    more = [(f"{worst} {number(score.row.worst_ratio)}", colour)] if is_number(score.row.worst_ratio) else []
    more += [(f"{absent} without ratio", colour)] * bool(absent)
    name = "noise off" if score.row.calibration == "none" else score.row.calibration
    return EndLabel(float(good[-1]) if len(good) else 0.0, name, colour, (*more, *mark(score)))


def _ratios(score: Score) -> tuple[np.ndarray, np.ndarray]:
    """Ratios per cell and their whiskers."""
    mean, stderr, bound = (np.array(column) for column in (score.row.mean, score.row.stderr, score.row.bound))
    if not len(mean) == len(stderr) == len(bound):
        return np.empty(0), np.empty(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean / bound, WHISKER * np.nan_to_num(stderr) / bound


def _at_foot(score: Score) -> np.ndarray:
    """Cells whose measured value is 0 or below, or so far below its bound that no logarithmic axis shows it."""
    return (np.array(score.row.mean, dtype=float) <= 0) | beyond_log(np.append(_ratios(score)[0], 1.0))[:-1]


def _draw(axes: Axes, shown: Sequence[Score]) -> None:
    labels = _words(shown[0])
    longest = max(shown, key=lambda score: len(score.row.values))
    groups = _groups(longest)
    reference = _reference(shown[0])
    everything, stands = list(reference), []
    for number_, score in enumerate(shown):
        places, offset = _places(score, groups), number_ - (len(shown) - 1) / 2
        apart = places + _OFFSET * offset if groups else places * _stretch(places) ** offset
        everything += _points(axes, score, apart)
        stands += apart.tolist()
    label = labels.get("ratio", "ratio").replace("excess risk", shown[0].quantity)
    log_y(axes, everything, label, room=0.1)
    if groups:
        _group_axis(axes, groups, list(longest.row.values))
    else:
        values = [value for score in shown for value in score.row.values]
        value_axis(axes, values, parameter_label(shown[0].row.parameter, shown[0].results.paper), stands)
    if len(reference) == 2:
        axes.axhspan(reference[0], reference[1], color="#009E73", alpha=0.13, linewidth=0, zorder=0)
    ends = [_label(score, int((~np.isfinite(_ratios(score)[0]) & ~_at_foot(score)).sum())) for score in shown]
    if len(reference) == 1:
        axes.axhline(reference[0], color=FAINT, linewidth=0.8, linestyle=(0, (4, 2)))
        ends.append(EndLabel(reference[0], labels.get("reference", number(reference[0])), FAINT))
    else:
        ends += [EndLabel(end, number(end), FAINT) for end in reference]
    label_ends(axes, ends)


def _reference(score: Score) -> list[float]:
    """Ends of the band that a logarithmic axis can show; 1 where there is none."""
    return [float(end) for end in score.part.band if end > 0] or [1.0]


def _stretch(places: np.ndarray) -> float:
    """Factor by which two calibrations stand apart on a logarithmic axis, so that neither hides the other."""
    return float(max(places.max() / places.min(), 2.0) ** 0.025) if len(places) and places.min() > 0 else 1.0


def _points(axes: Axes, score: Score, places: np.ndarray) -> list[float]:
    ratios, whiskers = _ratios(score)
    calibration = score.row.calibration
    colour, marker = COLOURS.get(calibration, INK), MARKERS.get(calibration, "D")
    positive = np.isfinite(ratios) & ~_at_foot(score)
    x, ratios, bars = places[positive], ratios[positive], whiskers[positive]
    at_foot(axes, places[_at_foot(score)], colour)
    small = 2.4 if len(places) > CROWDED else 3.6
    axes.errorbar(x, ratios, bars, fmt=marker, color=colour, elinewidth=0.8, markersize=small, zorder=3)
    return [*(ratios + bars), *ratios, *(ratios - bars)]


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
    """A tick per cell; under each group the range of its values, and its parameter, once for neighbours alike."""
    ticks: list[float] = []
    place = taken = 0
    under = axes.get_xaxis_transform()
    for _, _, size in groups:
        block = values[taken : taken + size]
        ticks += [place + i for i in range(size)]
        middle = place + (size - 1) / 2
        if len(groups) <= MOST_RANGES:
            ends = " … ".join(dict.fromkeys(map(tick_text, (block[0], block[-1]))))
            axes.text(middle, -0.14, ends, transform=under, ha="center", va="center", size=5.5)
        place, taken = place + size + 1, taken + size
    start = 0
    for name, alike in groupby(groups, key=lambda group: group.parameter):
        room = sum(group.cells + 1 for group in alike)
        axes.text(start + room / 2 - 1, -0.07, symbols(name), transform=under, ha="center", va="center", size=7)
        start += room
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(NullFormatter())
    axes.set_xlim(-0.7, place - 1.3)
    axes.grid(False, axis="x")
