"""Draw the panel of kinds that judge cell by cell: means over what they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter

from dpsco_bench.claims.model import GRID
from dpsco_bench.report.axes import (
    EndLabel,
    at_foot,
    beyond_log,
    hollow,
    label_ends,
    log_x,
    log_y,
    tick_text,
    value_axis,
)
from dpsco_bench.report.drawing import COLOURS, FAINT, INK, MARKERS, TEXT_COLOURS, Panel
from dpsco_bench.report.numbers import count, is_number, number
from dpsco_bench.report.panels import mark, small_line, worded_panel
from dpsco_bench.report.scores import Group, Score, measured_parts, panel_message
from dpsco_bench.report.wording import parameter_label, symbols

GRID_MARKER, ROOM = 2.0, 0.06  # points of a marker in a panel of a grid; part of its axis that stays free above
WHISKER = 2.0  # standard errors that the rules of these kinds add to a mean
MOST_RANGES = 3  # groups beside each other of which there is room for the range of their values
DASHED: dict[str, Any] = {"color": FAINT, "linewidth": 0.8, "linestyle": (0, (4, 2))}
_OFFSET, CROWDED = 0.26, 16
"""Distance of two calibrations at a cell, and the number of cells from which markers are smaller."""


class RatioWords(NamedTuple):
    """Words of a kind for its ratio, what that is held against and the worst one."""

    ratio: str
    reference: str
    worst: str


def ratio_panel(scores: Sequence[Score], ratio: str, reference: str = "", worst: str = "worst") -> Panel:
    """Draw means over what they are compared with, whiskers of two standard errors.

    Of all cells of a grid they stand over the bound in each, on a linear axis of ratios, to hold them all. A kind gives
    its words for the ratio, for what it is held against (by default its number) and for the worst one.
    """
    words = RatioWords(ratio, reference, worst)
    of_a_grid = scores[0].row.parameter == GRID
    shown = [
        score for score in scores if len(found := _ratios(score)[0]) and (not of_a_grid or np.isfinite(found).any())
    ]
    if not shown or (of_a_grid and not any(score.judged for score in scores)):
        return worded_panel(scores)
    title, line = panel_message(scores), small_line(scores)
    if of_a_grid:
        line = f"{count(max(len(score.row.values) for score in shown))} cells; {line}"
        return Panel(title, lambda axes: _draw_grid(axes, shown, words), line, symbols=("ratio",))
    foot = np.concatenate([_at_foot(score) for score in shown])
    keys = ("ratio",) * (not foot.all()) + ("foot",) * bool(foot.any())
    return Panel(title, lambda axes: _draw(axes, shown, words), line, symbols=keys)


def _draw_grid(axes: Axes, shown: Sequence[Score], words: RatioWords) -> None:
    reference, ends = list(shown[0].part.band) or [1.0], []
    held = [0.0, *reference]
    for score in shown:
        ratios, whiskers = _ratios(score)
        bound = np.array(score.row.bound, dtype=float)
        good = np.isfinite(ratios) & (bound > 0)
        look = {**_look(score), "elinewidth": 0.6, "markersize": GRID_MARKER}
        axes.errorbar(bound[good], ratios[good], whiskers[good], **look)
        held += [*(ratios + whiskers)[good], *(ratios - whiskers)[good]]
        ends.append(_label(score, words, len(ratios) - int(good.sum())))
    axes.set_ylim(min(held) - ROOM * (min(held) < 0), max(held) * (1 + ROOM))
    axes.set_ylabel(words.ratio)
    log_x(axes)
    axes.set_xlabel("value of the bound in a cell")
    ends += [EndLabel(end, words.reference or number(end), FAINT) for end in reference]
    for end in reference:
        axes.axhline(end, **DASHED)
    label_ends(axes, ends)


def _look(score: Score) -> dict[str, Any]:
    calibration = score.row.calibration
    return {"fmt": MARKERS.get(calibration, "D"), "color": COLOURS.get(calibration, INK), "zorder": 3}


def _label(score: Score, words: RatioWords, absent: int) -> EndLabel:
    """Label the last point: whose noise, the worst ratio, the cells that have none, the verdict."""
    ratios = _ratios(score)[0]
    good = ratios[np.isfinite(ratios) & (ratios > 0)]
    colour = TEXT_COLOURS.get(score.row.calibration, FAINT)
    more = [(f"{words.worst} {number(score.row.worst_ratio)}", colour)] * is_number(score.row.worst_ratio)
    more += [(f"{absent} without ratio", colour)] * bool(absent)
    name = "noise off" if score.row.calibration == "none" else score.row.calibration
    return EndLabel(float(good[-1]) if len(good) else 0.0, name, colour, (*more, *mark(score)))


def _ratios(score: Score) -> tuple[np.ndarray, np.ndarray]:
    mean, stderr, bound = (np.array(column) for column in (score.row.mean, score.row.stderr, score.row.bound))
    if not len(mean) == len(stderr) == len(bound):
        return np.empty(0), np.empty(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean / bound, WHISKER * np.nan_to_num(stderr) / bound


def _at_foot(score: Score) -> np.ndarray:
    """Find cells whose measured value is 0 or below, or so far below its bound that no logarithmic axis shows it."""
    return (np.array(score.row.mean, dtype=float) <= 0) | beyond_log(np.append(_ratios(score)[0], 1.0))[:-1]


def _draw(axes: Axes, shown: Sequence[Score], words: RatioWords) -> None:
    groups, values = _groups(shown)
    reference = [float(end) for end in shown[0].part.band if end > 0] or [1.0]
    everything, stands = list(reference), []
    for number_, score in enumerate(shown):
        places, offset = _places(score, groups), number_ - (len(shown) - 1) / 2
        wide = float(places.max() / places.min()) if len(places) and places.min() > 0 else 0.0
        apart = places + _OFFSET * offset if groups else places * (max(wide, 2.0) ** 0.025 if wide else 1.0) ** offset
        everything += _points(axes, score, apart)
        stands += apart.tolist()
    log_y(axes, everything, words.ratio.replace("excess risk", shown[0].quantity), room=0.1)
    if groups:
        _group_axis(axes, groups, values)
    else:
        values = [value for score in shown for value in score.row.values]
        value_axis(axes, values, parameter_label(shown[0].row.parameter, shown[0].results.paper), stands)
    ends = [_label(score, words, int((~np.isfinite(_ratios(score)[0]) & ~_at_foot(score)).sum())) for score in shown]
    if len(reference) == 1:
        axes.axhline(reference[0], **DASHED)
        ends.append(EndLabel(reference[0], words.reference or number(reference[0]), FAINT))
    else:
        axes.axhspan(reference[0], reference[1], color="#009E73", alpha=0.13, linewidth=0, zorder=0)
        ends += [EndLabel(end, number(end), FAINT) for end in reference]
    label_ends(axes, ends)


def _points(axes: Axes, score: Score, places: np.ndarray) -> list[float]:
    ratios, whiskers = _ratios(score)
    look, foot = _look(score), _at_foot(score)
    positive = np.isfinite(ratios) & ~foot
    ratios, bars = ratios[positive], whiskers[positive]
    at_foot(axes, places[foot], **hollow(look["color"]))
    small = 2.4 if len(places) > CROWDED else 3.6
    axes.errorbar(places[positive], ratios, bars, elinewidth=0.8, markersize=small, **look)
    return [*(ratios + bars), *ratios, *(ratios - bars)]


def _groups(shown: Sequence[Score]) -> tuple[list[Group], list[float]]:
    """List parts whose cells stand side by side, with their values; empty where all share one parameter."""
    found: dict[str, tuple[Group, list[float]]] = {}
    for score in sorted(shown, key=lambda score: -len(score.row.values)):
        own, start = measured_parts(score), 0
        if sum(group.cells for group in own) != len(score.row.values):
            return [], []
        for group in own:
            found.setdefault(group.part, (group, list(score.row.values[start : start + group.cells])))
            start += group.cells
    groups = [group for group, _ in found.values()]
    alike = len({group.parameter for group in groups}) <= 1
    return ([], []) if alike else (groups, [value for _, own in found.values() for value in own])


def _places(score: Score, groups: Sequence[Group]) -> np.ndarray:
    """Compute positions on the x axis: the values, or consecutive numbers with a gap between groups."""
    if not groups:
        return np.array(score.row.values, dtype=float)
    starts = dict(zip((g.part for g in groups), np.cumsum([0] + [g.cells + 1 for g in groups]), strict=False))
    return np.concatenate([starts[own.part] + np.arange(own.cells) for own in measured_parts(score)]).astype(float)


def _group_axis(axes: Axes, groups: Sequence[Group], values: Sequence[float]) -> None:
    """Set a tick per cell; under each group the range of its values, and its parameter, once for neighbours alike."""
    ticks: list[float] = []
    place = taken = 0
    under = axes.get_xaxis_transform()
    for _, _, size in groups:
        block = values[taken : taken + size]
        ticks += [place + i for i in range(size)]
        if len(groups) <= MOST_RANGES:
            ends = " … ".join(dict.fromkeys(map(tick_text, (block[0], block[-1]))))
            axes.text(place + (size - 1) / 2, -0.14, ends, transform=under, ha="center", va="center", size=5.5)
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
