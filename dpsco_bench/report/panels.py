"""Draw the panels of kinds: slopes of a sweep, ratios cell by cell, real epsilons, or words where nothing is drawn."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter

from dpsco_bench.analysis.bootstrap import summarise
from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.analysis.slopes import log_weights
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.registry import evaluate
from dpsco_bench.claims.model import GRID, RISK, Part
from dpsco_bench.execution.job_results import risk_kind_of
from dpsco_bench.privacy.ledger import SIGNS
from dpsco_bench.report.axes import EndLabel, at_foot, beyond_log, label_ends, log_x, log_y, tick_text, value_axis
from dpsco_bench.report.drawing import (
    BOUND,
    COLOURS,
    DASHED,
    FAINT,
    GREY,
    MARKERS,
    TEXT_COLOURS,
    TONE_COLOURS,
    Panel,
    move_edges,
)
from dpsco_bench.report.inputs import Charged, ClaimResults
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain, slope, span
from dpsco_bench.report.verdicts import NOISE, Group, measured_parts, panel_message, quantity, reason
from dpsco_bench.report.wording import SYMBOLS, noise_title, parameter_label, quantity_label, setting, symbols, tone

BESIDE = "beside the statement"  # label of parts whose verdicts count for nothing (`Part.beside`)
LABEL_CHARACTERS, MOST_LINES = 19, 3  # characters of a line, and lines, of a verdict beside a curve
KIND_MARKERS = {"exact": "o", "lower": "^", "upper": "v"}  # of an accountant's epsilon, by its kind
NOISE_OFF_DECADES = 1.5  # noise-off points farther below the measured ones than this are arrows at the lower edge
LOWEST_END = 0.1
"""An interval that reaches below this part of the lowest mean leaves the axes at the foot; so does a bound's line."""
ROOM = 0.06  # part of the axis of a grid that stays free above
WHISKER = 2.0  # standard errors that the rules of these kinds add to a mean
MOST_RANGES = 3  # groups beside each other of which there is room for the range of their values
OFFSET, CROWDED = 0.26, 16
"""Distance of two calibrations at a cell, and the number of cells from which markers are smaller."""


def panel_line(part: Part) -> str:
    fixed = {key: part.fixed.get(key) for key in ("n", "d", "epsilon", "delta")}
    sizes = setting({key: value for key, value in fixed.items() if not isinstance(value, Mapping)})
    names = [part.id] if part.problem in part.id or not part.problem else [part.id, part.problem]
    if part.uses and not part.problem:
        names.append(f"cells of {', '.join(part.uses)}")
    return "; ".join(filter(None, (", ".join(names), sizes)))


def small_line(claim: ClaimResults, rows: Sequence[Verdict]) -> str:
    """Write the one small line of a panel: what of it is beside the statement, then part, instance and sizes."""
    return "; ".join(filter(None, (beside_text(rows), panel_line(claim.part(rows[0])))))


def beside_text(rows: Sequence[Verdict]) -> str:
    """Say ``beside the statement``, with whose noise where that holds of some rows only; empty where all count."""
    found = [row.calibration for row in rows if row.beside]
    whose = " and ".join(NOISE[calibration] for calibration in found) + " "
    return (whose * (len(found) < len(rows)) + BESIDE) if found else ""


def worded_panel(claim: ClaimResults, rows: Sequence[Verdict]) -> Panel:
    """Tell verdicts in words, for what has nothing to draw; where something is judged, with what was measured."""
    told = dict.fromkeys(reason(row).partition(";")[0] for row in rows if row.judged)
    said = [*(text for text in told if text != NOTHING), small_line(claim, rows)]
    return Panel(panel_message(claim, rows), line="; ".join(said))


def end_label(row: Verdict, y: float, told: str = "", more: Sequence[tuple[str, str]] = ()) -> EndLabel:
    """Label the last point of a calibration: its name and number, further lines, and its verdict with a mark.

    The name has the erratum whose correction the noise has, and the verdict is grey where it is beside the statement.
    """
    colour = FAINT if row.beside else TONE_COLOURS.get(tone(row), FAINT)
    said = textwrap.wrap(f"{SYMBOLS[tone(row)]} {symbols(row.said)}", LABEL_CHARACTERS)[:MOST_LINES]
    name = " ".join(filter(None, (noise_title(row.calibration), row.corrected and f"({row.corrected})", told)))
    return EndLabel(y, name, TEXT_COLOURS[row.calibration], (*more, *((line, colour) for line in said)))


class Series(NamedTuple):
    """Means and intervals of a calibration, errors and degrees of freedom of log means for the fit's weights."""

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    log_error: np.ndarray
    dof: np.ndarray


def series(cells: Sequence[MeasuredCell], x: Sequence[float] | None = None) -> Series:
    """Summarise measured cells exactly as the verdict does; over the swept parameter or over x."""
    found = [summarise(cell.risks, cell.numerical_error) for cell in cells]
    mean, half, stderr, dof = (
        np.array([getattr(s, name) for s in found]) for name in ("mean", "half", "stderr", "dof")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        log_error = stderr / mean
    places = np.array([cell.value for cell in cells] if x is None else x)
    return Series(places, mean, mean - half, mean + half, log_error, dof)


def bound_line(row: Verdict) -> np.ndarray:
    """Multiply the bound by a constant with which it passes through the points: the geometric mean of their ratios.

    NaN where there is no such constant.
    """
    fitted = row.fitted if row.fitted and any(row.fitted) else (True,) * len(row.mean)
    pairs = [(m, b) for m, b, inside in zip(row.mean, row.bound, fitted, strict=False) if inside]
    logs = [math.log(m / b) for m, b in pairs if is_number(m) and is_number(b) and m > 0 and b > 0]
    return (math.exp(np.mean(logs)) if logs else math.nan) * np.array(row.bound, dtype=float)


class DrawnSweep(NamedTuple):
    """The points of a verdict in a sweep, and what is drawn through them."""

    row: Verdict
    points: Series
    fitted: np.ndarray  # which points are in the fit
    has_line: bool  # whether the fitted line is drawn
    bound: np.ndarray  # line of the bound at every point; empty for none


def _curve(claim: ClaimResults, row: Verdict) -> DrawnSweep | None:
    """Summarise the cells of a verdict; None where some have not run. Planned gradient evaluations have no error."""
    cells, part = _cells(claim, row), claim.part(row)
    if row.rules.counts:
        x, mean = (np.array(column, dtype=float) for column in (row.values, row.mean))
        points = Series(x, mean, mean, mean, np.zeros(len(x)), np.full(len(x), np.inf))
        if not 0 < len(x) == len(mean):
            return None
    elif cells and all(cell.risks.size for cell in cells):
        points = series(cells, [_place(part, cell) for cell in cells])
    else:
        return None
    size, told, bound = len(points.x), row.fitted or (), row.bound or ()
    fitted = np.array(told, bool) if len(told) == size else np.ones(size, bool)
    follows_line = is_number(row.slope) and row.meaning.outcome != "shown"  # what is only shown need follow none
    has_line = follows_line and fitted.sum() > 1 and bool((points.mean[fitted] > 0).all())
    follows_bound = not told or any(told)  # a part without fitted points is not meant to
    drawn = follows_bound and len(bound) == size > 1 and sum(map(is_number, bound)) > 1
    line = bound_line(row) if drawn and not beyond_log(points.mean).any() else np.empty(0)
    return DrawnSweep(row, points, fitted, has_line, line if np.isfinite(line).any() else np.empty(0))


def _place(part: Part, cell: MeasuredCell) -> float:
    return evaluate(part.bound, part.axis, cell.printed) if part.axis else cell.value


def _cells(claim: ClaimResults, row: Verdict, calibration: str = "") -> list[MeasuredCell]:
    """Find cells that a verdict judges: its part's own, or those of the parts that it uses."""
    parts = claim.part(row).uses or [row.part]
    return [cell for part in parts for cell in claim.evidence(part, calibration or row.calibration)]


def slope_panel(claim: ClaimResults, rows: Sequence[Verdict]) -> Panel:
    """Draw a sweep with all its calibrations: points with intervals, fitted line, bound, noise off."""
    first, title = rows[0], panel_message(claim, rows)
    curves = [curve for row in rows if (curve := _curve(claim, row))]
    if not curves or first.parameter == GRID:  # numbers of combinations are no axis
        return worded_panel(claim, rows)
    if len({cell.entry.method for cell in _cells(claim, first)}) > 1:
        return Panel(title, lambda axes: _draw_methods(axes, claim, curves), small_line(claim, rows))
    drawn = {
        "mean": not first.rules.counts and any((curve.points.mean > 0).any() for curve in curves),
        "hollow": any((curve.points.mean[~curve.fitted] > 0).any() for curve in curves),
        "fit": any(curve.has_line for curve in curves),
        "bound": any(curve.bound.size for curve in curves),
        "foot": any(beyond_log(curve.points.mean).any() for curve in curves),
        "off": bool(_noise_off(claim, curves)),
    }
    keys = tuple(name for name, there in drawn.items() if there)
    return Panel(title, lambda axes: _draw_sweep(axes, claim, curves), small_line(claim, rows), symbols=keys)


def _look(row: Verdict) -> dict[str, Any]:
    return {"fmt": MARKERS[row.calibration], "color": COLOURS[row.calibration], "zorder": 3}


def _draw_methods(axes: Axes, claim: ClaimResults, curves: Sequence[DrawnSweep]) -> None:
    """Draw means of a part with several methods, which no curve joins: a line for each."""
    cells = [cell.entry for cell in _cells(claim, curves[0].row)]
    names = [f"{one.method.replace('_', ' ')}, {symbols(one.parameter)} = {plain(float(one.value))}" for one in cells]
    for row, points, *_ in curves:
        errors = np.nan_to_num(np.array([points.mean - points.low, points.high - points.mean]))
        axes.errorbar(points.mean, np.arange(float(len(points.mean))), xerr=errors, elinewidth=0.8, **_look(row))
    if all((curve.points.mean > 0).all() for curve in curves):
        log_x(axes)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
    move_edges(axes, 0.62, 0.62)  # names are longer than numbers
    axes.set_yticks(range(len(names)), names, size=5.6)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(_measure_label(claim, curves[0].row))


def _measure_label(claim: ClaimResults, row: Verdict) -> str:
    """Name the axis of what a verdict measures."""
    if (quantity := claim.part(row).quantity) != RISK:
        return quantity_label(quantity, claim.paper)
    kind = "planned gradient evaluations" if row.rules.counts else risk_kind_of(_cells(claim, row)[0].entry)
    return kind + " risk" * kind.startswith("excess")


def _draw_sweep(axes: Axes, claim: ClaimResults, curves: Sequence[DrawnSweep]) -> None:
    ends = [_draw_curve(axes, curve) for curve in curves]
    seen = np.concatenate([_visible(curve.points) for curve in curves])
    seen = seen if seen.size else np.ones(1)
    off, start = _noise_off(claim, curves), _starts(claim, curves)
    near = [y for _, y in off if 10**-NOISE_OFF_DECADES * seen.min() <= y < math.inf]
    near += [y for curve in curves for y in curve.bound if LOWEST_END * seen.min() <= y <= seen.max() / LOWEST_END]
    near += [y for _, y in start if y < 30 * seen.max()]
    log_y(axes, [*seen, *near], _measure_label(claim, curves[0].row))
    places = np.concatenate([curve.points.x for curve in curves])
    value_axis(axes, places, parameter_label(curves[0].row.parameter, claim.paper))
    low, high = axes.get_ylim()
    if off:
        if inside := [one for one in off if low <= one[1] <= high]:
            axes.plot(*zip(*inside, strict=True), "o", color=GREY, markersize=3, zorder=1)
        at_foot(axes, [x for x, y in off if y < low], GREY, markerfacecolor=GREY, markersize=3, zorder=2)
        last = off[-1][1]
        ends.append(EndLabel(max(last, low), "noise off" if last >= low else "noise off ↓", FAINT))
    if start and min(y for _, y in start) <= high:
        axes.plot(*zip(*start, strict=True), color=FAINT, linestyle=":", linewidth=0.9, zorder=1)
        ends.append(EndLabel(start[-1][1], "at start", FAINT))
    label_ends(axes, ends)


def _visible(points: Series) -> np.ndarray:
    """Say what an axis has to hold: every mean, and the ends of intervals but those far below the lowest mean."""
    good = np.isfinite(points.mean) & ~beyond_log(points.mean)
    means, ends = points.mean[good], np.concatenate([points.low[good], points.high[good]])
    least = LOWEST_END * means.min() if means.size else 0.0
    return np.concatenate([means, ends[np.isfinite(ends) & (ends > least)]])


def _draw_curve(axes: Axes, curve: DrawnSweep) -> EndLabel:
    """Draw points, line and bound of a calibration; returns its label: its slope, that of the bound, its verdict."""
    row, points, fitted, has_line, bound = curve
    good, colour = ~beyond_log(points.mean), COLOURS[row.calibration]
    x, mean = points.x[good], points.mean[good]
    at_foot(axes, points.x[~good], colour)
    errors = np.nan_to_num(np.array([mean - points.low[good], points.high[good] - mean]))
    for shown, face in ((fitted[good], colour), (~fitted[good], "white")) if len(x) else ():
        axes.errorbar(x[shown], mean[shown], errors[:, shown], markerfacecolor=face, elinewidth=0.8, **_look(row))
    if has_line:
        chosen = points.x[fitted]
        weights = log_weights(points.log_error[fitted], points.dof[fitted])
        centre = float(weights @ (np.log(points.mean[fitted]) - row.slope * np.log(chosen)))
        grid = np.geomspace(chosen.min(), chosen.max(), 50)
        axes.plot(grid, np.exp(centre) * grid**row.slope, color=colour, zorder=2)
    if bound.size:
        axes.plot(points.x, bound, color=colour, **{**BOUND, "alpha": 0.85})
    if row.form == "inconclusive (bent)":
        _draw_local_slopes(axes, row, points.x[fitted], points.mean[fitted])
    y = float(mean[np.argmax(x)]) if len(x) else 0.0
    if not is_number(row.slope) or row.meaning.outcome == "shown":
        return end_label(row, y)
    against = row.rules.compared_slope(row)
    word = "bound" if row.rules.whose_exponent == "paper" else row.rules.whose_exponent
    return end_label(row, y, slope(row.slope), [(f"{word} {slope(against)}", FAINT)] * is_number(against))


def _draw_local_slopes(axes: Axes, row: Verdict, x: np.ndarray, mean: np.ndarray) -> None:
    """Write the slope between neighbours, where there is no single one; of accounted noise below its line."""
    up = -1 if row.calibration == "accounted" else 1
    side = -up if is_number(row.slope) and row.slope > 0 else up
    look: dict[str, Any] = {"textcoords": "offset points", "size": 5.5, "color": TEXT_COLOURS[row.calibration]}
    look |= {"ha": "left" if side > 0 else "right", "va": "bottom" if up > 0 else "top"}
    for i, value in enumerate(row.local_slopes or ()):
        if i + 1 < len(x) and (mean[i : i + 2] > 0).all():
            middle = math.sqrt(x[i] * x[i + 1]), math.sqrt(mean[i] * mean[i + 1])
            axes.annotate(slope(value), middle, (3 * side, 3 * up), **look)


def _noise_off(claim: ClaimResults, curves: Sequence[DrawnSweep]) -> list[tuple[float, float]]:
    """Place the noise-off points of a panel that is not itself about runs without noise."""
    first = curves[0].row
    if first.rules.counts or "none" in {curve.row.calibration for curve in curves}:
        return []
    cells = (cell for cell in _cells(claim, first, "none") if cell.risks.size)
    return [(_place(claim.part(first), cell), float(cell.final.mean())) for cell in cells]


def _starts(claim: ClaimResults, curves: Sequence[DrawnSweep]) -> list[tuple[float, float]]:
    """Place the starting risks; none where they differ between noises, as signals may."""
    part = claim.part(curves[0].row)
    if part.rules.counts or part.quantity != RISK:
        return []
    found = [[(_place(part, c), c.start_risk) for c in _cells(claim, curve.row)] for curve in curves]
    starts = [[(x, risk) for x, risk in own if math.isfinite(risk)] for own in found]
    return starts[0] if all(one == starts[0] for one in starts) else []


def ratio_panel(
    claim: ClaimResults, rows: Sequence[Verdict], ratio: str, reference: str = "", worst: str = "worst"
) -> Panel:
    """Draw means over what they are compared with, whiskers of two standard errors.

    Of all cells of a grid they stand over the bound in each, on a linear axis of ratios, to hold them all. A kind gives
    its words for the ratio, for what it is held against (by default its number) and for the worst one.
    """
    words = (ratio, reference, worst)
    of_a_grid = rows[0].parameter == GRID
    shown = [row for row in rows if len(found := _ratios(row)[0]) and (not of_a_grid or np.isfinite(found).any())]
    if not shown or (of_a_grid and not any(row.judged for row in rows)):
        return worded_panel(claim, rows)
    title, line = panel_message(claim, rows), small_line(claim, rows)
    if of_a_grid:
        line = f"{count(max(len(row.values) for row in shown))} cells; {line}"
        return Panel(title, lambda axes: _draw_grid(axes, claim, shown, words), line, symbols=("ratio",))
    foot = np.concatenate([_below(row) for row in shown])
    keys = ("ratio",) * (not foot.all()) + ("foot",) * bool(foot.any())
    return Panel(title, lambda axes: _draw_ratios(axes, claim, shown, words), line, symbols=keys)


def _draw_grid(axes: Axes, claim: ClaimResults, shown: Sequence[Verdict], words: tuple[str, str, str]) -> None:
    reference, ends = list(claim.part(shown[0]).band) or [1.0], []
    held = [0.0, *reference]
    for row in shown:
        ratios, whiskers = _ratios(row)
        bound = np.array(row.bound, dtype=float)
        good = np.isfinite(ratios) & (bound > 0)
        axes.errorbar(bound[good], ratios[good], whiskers[good], elinewidth=0.6, markersize=2.0, **_look(row))
        held += [*(ratios + whiskers)[good], *(ratios - whiskers)[good]]
        ends.append(_ratio_label(row, words[2], len(ratios) - int(good.sum())))
    axes.set_ylim(min(held) - ROOM * (min(held) < 0), max(held) * (1 + ROOM))
    axes.set_ylabel(words[0])
    log_x(axes)
    axes.set_xlabel("value of the bound in a cell")
    for end in reference:
        axes.axhline(end, **DASHED)
        ends.append(EndLabel(end, words[1] or number(end), FAINT))
    label_ends(axes, ends)


def _ratio_label(row: Verdict, worst: str, absent: int) -> EndLabel:
    """Label the last point: whose noise, the worst ratio, the cells that have none, the verdict."""
    ratios = _ratios(row)[0]
    good = ratios[np.isfinite(ratios) & (ratios > 0)]
    more = [f"{worst} {number(row.worst_ratio)}"] * is_number(row.worst_ratio)
    more += [f"{absent} without ratio"] * bool(absent)
    lines = [(text, TEXT_COLOURS[row.calibration]) for text in more]
    return end_label(row, float(good[-1]) if len(good) else 0.0, more=lines)


def _ratios(row: Verdict) -> tuple[np.ndarray, np.ndarray]:
    mean, stderr, bound = (np.array(column) for column in (row.mean, row.stderr, row.bound))
    if not len(mean) == len(stderr) == len(bound):
        return np.empty(0), np.empty(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean / bound, WHISKER * np.nan_to_num(stderr) / bound


def _below(row: Verdict) -> np.ndarray:
    """Find cells whose measured value is 0 or below, or so far below its bound that no logarithmic axis shows it."""
    return (np.array(row.mean, dtype=float) <= 0) | beyond_log(np.append(_ratios(row)[0], 1.0))[:-1]


def _draw_ratios(axes: Axes, claim: ClaimResults, shown: Sequence[Verdict], words: tuple[str, str, str]) -> None:
    groups = grouped_cells(claim, shown)
    reference = [float(end) for end in claim.part(shown[0]).band if end > 0] or [1.0]
    everything, stands, ends = list(reference), list[float](), list[EndLabel]()
    for number_, row in enumerate(shown):
        places, offset = cell_places(claim, row, groups), number_ - (len(shown) - 1) / 2
        wide = float(places.max() / places.min()) if len(places) and places.min() > 0 else 0.0
        apart = places + OFFSET * offset if groups else places * (max(wide, 2.0) ** 0.025 if wide else 1.0) ** offset
        (ratios, whiskers), foot = _ratios(row), _below(row)
        positive = np.isfinite(ratios) & ~foot
        y, bars = ratios[positive], whiskers[positive]
        at_foot(axes, apart[foot], COLOURS[row.calibration])
        small = 2.4 if len(apart) > CROWDED else 3.6
        axes.errorbar(apart[positive], y, bars, elinewidth=0.8, markersize=small, **_look(row))
        everything += [*(y + bars), *y, *(y - bars)]
        stands += apart.tolist()
        ends.append(_ratio_label(row, words[2], int((~np.isfinite(ratios) & ~foot).sum())))
    log_y(axes, everything, words[0].replace("excess risk", quantity(claim, shown[0])), room=0.1)
    if groups:
        _group_axis(axes, groups)
    else:
        values = [value for row in shown for value in row.values]
        value_axis(axes, values, parameter_label(shown[0].parameter, claim.paper), stands)
    if len(reference) == 1:
        axes.axhline(reference[0], **DASHED)
        ends.append(EndLabel(reference[0], words[1] or number(reference[0]), FAINT))
    else:
        axes.axhspan(reference[0], reference[1], color="#009E73", alpha=0.13, linewidth=0, zorder=0)
        ends += [EndLabel(end, number(end), FAINT) for end in reference]
    label_ends(axes, ends)


Groups = Mapping[Group, Sequence[float]]  # cells of a part -> their values


def grouped_cells(claim: ClaimResults, shown: Sequence[Verdict]) -> Groups:
    """List parts whose cells stand side by side, with their values; empty where all share one parameter."""
    found: dict[Group, list[float]] = {}
    for row in sorted(shown, key=lambda row: -len(row.values)):
        own, start = measured_parts(claim, row), 0
        if sum(group.cells for group in own) != len(row.values):
            return {}
        for group in own:
            found.setdefault(group, list(row.values[start : start + group.cells]))
            start += group.cells
    return found if len({group.parameter for group in found}) > 1 else {}


def cell_places(claim: ClaimResults, row: Verdict, groups: Groups) -> np.ndarray:
    """Compute positions on the x axis: the values, or consecutive numbers with a gap between groups."""
    if not groups:
        return np.array(row.values, dtype=float)
    starts = dict(zip(groups, np.cumsum([0, *(group.cells + 1 for group in groups)]), strict=False))
    return np.concatenate([starts[own] + np.arange(float(own.cells)) for own in measured_parts(claim, row)])


def _group_axis(axes: Axes, groups: Groups) -> None:
    """Set a tick per cell; under each group the range of its values, and its parameter, once for neighbours alike."""
    ticks: list[float] = []
    place = start = 0
    look: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "center"}
    for group, values in groups.items():
        ticks += range(place, place + group.cells)
        if len(groups) <= MOST_RANGES:
            ends = " … ".join(dict.fromkeys(map(tick_text, (values[0], values[-1]))))
            axes.text(place + (group.cells - 1) / 2, -0.14, ends, size=5.5, **look)
        place += group.cells + 1
    for name, alike in groupby(groups, key=lambda group: group.parameter):
        room = sum(group.cells + 1 for group in alike)
        axes.text(start + room / 2 - 1, -0.07, symbols(name), size=7, **look)
        start += room
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(NullFormatter())
    axes.set_xlim(-0.7, place - 1.3)
    axes.grid(False, axis="x")


def epsilon_panel(claim: ClaimResults, rows: Sequence[Verdict]) -> Panel:
    """Draw real epsilons of a sweep beside the claimed ones: the panel of kind `privacy`."""
    shown = [(row, cells) for row in rows if (cells := claim.charged(row.part, row.calibration))]
    if not shown:
        return worded_panel(claim, rows)
    kinds = {cell.kind for _, cells in shown for cell in cells if math.isfinite(cell.real)}
    draw = partial(_draw_epsilons, shown=shown, paper=claim.paper)
    return Panel(panel_message(claim, rows), draw, small_line(claim, rows), symbols=tuple(sorted(kinds)))


def _draw_epsilons(axes: Axes, shown: Sequence[tuple[Verdict, list[Charged]]], paper: str) -> None:
    cells = [cell for _, own in shown for cell in own]
    finite = [cell.real for cell in cells if math.isfinite(cell.real) and cell.real > 0]
    claims = sorted({(float(cell.cell.value), cell.claimed) for cell in cells})
    log_y(axes, [*finite, *(cell.claimed for cell in cells)], "real ε at the claimed δ", room=0.12)
    value_axis(axes, [x for x, _ in claims], parameter_label(cells[0].cell.parameter, paper))
    axes.plot(*zip(*claims, strict=True), **{**DASHED, "linewidth": 0.9}, zorder=1)
    ends = [EndLabel(claims[-1][1], "claimed", FAINT)]
    for row, own in shown:
        colour, drawn = COLOURS[row.calibration], [cell for cell in own if math.isfinite(cell.real)]
        axes.plot([c.cell.value for c in drawn], [c.real for c in drawn], color=colour, linewidth=0.8, zorder=2)
        for cell in drawn:
            axes.plot([cell.cell.value], [cell.real], KIND_MARKERS[cell.kind], color=colour, zorder=3)
        for cell in (cell for cell in own if math.isinf(cell.real)):
            look: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "top", "size": 8}
            axes.text(cell.cell.value, 0.98, "∞", color=colour, **look)
        y, told = drawn[-1].real if drawn else axes.get_ylim()[1], "not known"
        if known := [cell for cell in own if not math.isnan(cell.real)]:  # real epsilons with their sign: ≥ 12 900
            kind = max(known, key=lambda cell: cell.real / cell.claimed).kind
            bounds = (outward(cell.real, cell.kind) for cell in known)
            told = f"{symbols(SIGNS.get(kind, '='))} {span(bounds, least=kind == 'lower')}"
        ends.append(end_label(row, y, more=[(told, TEXT_COLOURS[row.calibration])]))
    label_ends(axes, ends)
