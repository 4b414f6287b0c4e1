"""Panels of the parts of a claim: slopes on log-log axes, ratios to bounds, real against claimed epsilon, words."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter

from dpsco_bench.analysis.bootstrap import summarise
from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.analysis.slopes import log_weights
from dpsco_bench.claims.bounds.registry import evaluate
from dpsco_bench.claims.model import RISK
from dpsco_bench.execution.job_results import risk_kind_of
from dpsco_bench.privacy.ledger import SIGNS
from dpsco_bench.report.axes import (
    EndLabel,
    at_foot,
    below_axis,
    beyond_log,
    label_ends,
    log_x,
    log_y,
    tick_text,
    value_axis,
)
from dpsco_bench.report.drawing import (
    COLOURS,
    FAINT,
    GREY,
    INK,
    MARKERS,
    TEXT_COLOURS,
    TONE_COLOURS,
    Panel,
    words_panel,
)
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain, slope, span
from dpsco_bench.report.scores import NOISE, Group, Score, measured_parts, panel_message
from dpsco_bench.report.wording import SYMBOLS, parameter_label, parameter_symbol, quantity_label, setting, symbols

BESIDE = "beside the statement"  # label of parts whose verdicts count for nothing (`Part.beside`)
LABEL_CHARACTERS, MOST_LINES = 19, 3  # characters of a line, and lines, of a verdict beside a curve
NOISE_OFF_DECADES = 1.5  # noise-off points farther below the measured ones than this are arrows at the lower edge
KIND_MARKERS = {"exact": "o", "lower": "^", "upper": "v"}
LOWEST_END = 0.1
"""An interval that reaches below this part of the lowest mean leaves the axes at the foot; so does a bound's line."""
GRID_MARKER, ROOM = 2.0, 0.06  # points of a marker in a panel of a grid; part of its axis that stays free above
WHISKER = 2.0  # standard errors that the rules of these kinds add to a mean
MOST_RANGES = 3  # groups beside each other of which there is room for the range of their values
_OFFSET, CROWDED = 0.26, 16
"""Distance of two calibrations at a cell, and the number of cells from which markers are smaller."""


def panel_line(score: Score) -> str:
    part = score.part
    shown = {key: value for key in ("n", "d", "epsilon", "delta") if (value := part.fixed.get(key)) is not None}
    sizes = setting({key: value for key, value in shown.items() if not isinstance(value, Mapping)})
    names = [part.id] if part.problem in part.id or not part.problem else [part.id, part.problem]
    if part.uses and not part.problem:
        names.append(f"cells of {', '.join(part.uses)}")
    return "; ".join(filter(None, (", ".join(names), sizes)))


def small_line(scores: Sequence[Score]) -> str:
    """Write the one small line of a panel: what of it is beside the statement, then part, instance and sizes."""
    return "; ".join(filter(None, (beside_text(scores), panel_line(scores[0]))))


def beside_text(scores: Sequence[Score]) -> str:
    """Say ``beside the statement``, with whose noise where that holds of some scores only; empty where all count."""
    found = [score.row.calibration for score in scores if score.row.beside]
    whose = " and ".join(NOISE.get(calibration, calibration) for calibration in found) + " "
    return (whose * (len(found) < len(scores)) + BESIDE) if found else ""


def worded_panel(scores: Sequence[Score]) -> Panel:
    """Tell verdicts in words, for what has nothing to draw; where something is judged, with what was measured."""
    told = dict.fromkeys(score.reason.partition(";")[0] for score in scores if score.judged)
    said = [*(text for text in told if text != NOTHING), small_line(scores)]
    return words_panel(panel_message(scores), "; ".join(said))


def mark(score: Score) -> list[tuple[str, str]]:
    """Show the verdict as a mark with its word, in lines below the name of a curve; grey beside the statement."""
    colour = FAINT if score.row.beside else TONE_COLOURS.get(score.tone, FAINT)
    lines = textwrap.wrap(f"{SYMBOLS.get(score.tone, '·')} {score.verdict}", LABEL_CHARACTERS)
    return [(line, colour) for line in lines[:MOST_LINES]]


@dataclass(frozen=True)
class Series:
    """Means and intervals of a calibration, and errors and degrees of freedom of log means for the fit's weights."""

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    log_error: np.ndarray
    dof: np.ndarray


def series(cells: Sequence[CellEvidence], x: Sequence[float] | None = None) -> Series:
    """Summarise measured cells exactly as the verdict does; over the swept parameter or over x."""
    found = [summarise(cell.risks, cell.numerical_error) for cell in cells]
    mean = np.array([s.mean for s in found])
    half = np.array([s.half for s in found])
    with np.errstate(invalid="ignore", divide="ignore"):
        log_error = np.array([s.stderr for s in found]) / mean
    places = np.array([cell.value for cell in cells] if x is None else x)
    return Series(places, mean, mean - half, mean + half, log_error, np.array([s.dof for s in found]))


def curve_label(score: Score, y: float) -> EndLabel:
    """Say what stands beside the points of a calibration: its slope, that of the bound, and the verdict."""
    row, calibration = score.row, score.row.calibration
    name = "noise off" if calibration == "none" else calibration
    told = is_number(row.slope) and row.meaning.outcome != "shown"
    text = f"{name} {slope(row.slope)}" if told else name
    against = score.kind.compared_slope(row)
    word = "bound" if score.kind.whose_exponent == "paper" else score.kind.whose_exponent
    held = [(f"{word} {slope(against)}", FAINT)] if told and is_number(against) else []
    return EndLabel(y, text, TEXT_COLOURS.get(calibration, FAINT), (*held, *mark(score)))


def bound_constant(score: Score) -> float:
    """Average measured over bound (geometric mean): with this constant the bound passes through the points."""
    mean, bound = score.row.mean or (), score.row.bound or ()
    fitted = score.row.fitted if any(score.row.fitted or ()) else (True,) * len(mean)
    pairs = [(m, b) for m, b, inside in zip(mean, bound, fitted or (), strict=False) if inside]
    good = [(m, b) for m, b in pairs if is_number(m) and is_number(b) and m > 0 and b > 0]
    return math.exp(np.mean([math.log(m / b) for m, b in good])) if good else math.nan


def bound_line(score: Score) -> np.ndarray:
    bound = [b if is_number(b) else math.nan for b in score.row.bound]
    return bound_constant(score) * np.array(bound, dtype=float)


def rate_panel(scores: Sequence[Score]) -> Panel:
    """Draw a sweep with all its calibrations: points with intervals, fitted line, bound, noise off."""
    first, title = scores[0], panel_message(scores)
    shown = [(score, points) for score in scores if (points := _measured(score)) is not None]
    if not shown:
        return worded_panel(scores)
    if len({cell.entry.method for cell in _cells(first)}) > 1:
        return Panel(title, lambda axes: _draw_methods(axes, shown), small_line(scores))
    counted = first.kind.counts
    drawn = {
        "mean": not counted and any((points.mean > 0).any() for _, points in shown),
        "hollow": any((points.mean[~fitted_cells(score, points)] > 0).any() for score, points in shown),
        "fit": any(_draws_fit(score, points) for score, points in shown),
        "bound": any(_draws_bound(score, points) for score, points in shown),
        "foot": any(beyond_log(points.mean).any() for _, points in shown),
        "off": bool(_noise_off(shown)),
    }
    keys = tuple(name for name, there in drawn.items() if there)
    return Panel(title, lambda axes: _draw_rate(axes, shown), small_line(scores), symbols=keys)


def fitted_cells(score: Score, points: Series) -> np.ndarray:
    fitted = score.row.fitted
    return np.array(fitted, bool) if fitted and len(fitted) == len(points.x) else np.ones(len(points.x), bool)


def _draws_fit(score: Score, points: Series) -> bool:
    """Check whether a line is fitted: not where values are only shown, which need follow none."""
    fitted = fitted_cells(score, points)
    if not is_number(score.row.slope) or score.row.meaning.outcome == "shown":
        return False
    return fitted.sum() > 1 and bool((points.mean[fitted] > 0).all())


def _draws_bound(score: Score, points: Series) -> bool:
    """Check whether there is a line of the bound: a value for every point, at least two points."""
    bound, fitted = score.row.bound or (), score.row.fitted or ()
    if (fitted and not any(fitted)) or beyond_log(points.mean).any():
        return False  # it would pass through points that are not meant to follow it, or are not shown
    return len(bound) == len(points.x) > 1 and sum(map(is_number, bound)) > 1 and math.isfinite(bound_constant(score))


def _draw_methods(axes: Axes, shown: Sequence[tuple[Score, Series]]) -> None:
    """Draw means of a part with several methods, which no curve joins: a line for each."""
    rows = [
        (f"{cell.entry.method.replace('_', ' ')}, {parameter_symbol(cell.entry.parameter)} = {plain(cell.value)}", i)
        for i, cell in enumerate(_cells(shown[0][0]))
    ]
    for score, points in shown:
        calibration = score.row.calibration
        places = np.arange(len(points.mean), dtype=float)
        errors = np.nan_to_num(np.array([points.mean - points.low, points.high - points.mean]))
        look: dict[str, Any] = {"fmt": MARKERS.get(calibration, "D"), "color": COLOURS.get(calibration, INK)}
        axes.errorbar(points.mean, places, xerr=errors, elinewidth=0.8, zorder=3, **look)
    if all((points.mean > 0).all() for _, points in shown):
        log_x(axes)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
    box: Any = axes.get_position()
    figure: Any = axes.figure
    room = 0.62 / figure.get_figwidth()  # names are longer than numbers
    axes.set_position((box.x0 + room, box.y0, box.width, box.height))
    axes.set_yticks([place for _, place in rows], [name for name, _ in rows], size=5.6)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(_measure_label(shown[0][0]))


def _measured(score: Score) -> Series | None:
    """Summarise the cells of a verdict; None where some have not run. Planned gradient evaluations have no error."""
    if score.kind.counts:
        x, mean = (np.array(column, dtype=float) for column in (score.row.values, score.row.mean))
        zero = np.zeros(len(x))
        return Series(x, mean, mean, mean, zero, zero + np.inf) if len(x) and len(x) == len(mean) else None
    cells = _cells(score)
    places = [_place(score, cell) for cell in cells]
    return series(cells, places) if cells and all(cell.risks.size for cell in cells) else None


def _place(score: Score, cell: CellEvidence) -> float:
    part = score.part
    return evaluate(part.bound, part.axis, cell.printed) if part.axis else cell.value


def _cells(score: Score, calibration: str = "") -> list[CellEvidence]:
    """Find cells that a verdict judges: its part's own, or those of the parts that it uses."""
    calibration = calibration or score.row.calibration
    parts = score.part.uses or [score.row.part]
    return [cell for part in parts for cell in score.results.evidence(part, calibration)]


def _measure_label(score: Score) -> str:
    (cell, *_) = _cells(score)
    kind = risk_kind_of(cell.entry)
    return kind + " risk" * kind.startswith("excess")


def _draw_rate(axes: Axes, shown: Sequence[tuple[Score, Series]]) -> None:
    first = shown[0][0]
    counted, quantity = first.kind.counts, first.part.quantity
    label = "planned gradient evaluations" if counted else _measure_label(first)
    label = label if quantity == RISK else quantity_label(quantity, first.results.paper)
    ends = [_draw_series(axes, score, points) for score, points in shown]
    seen = np.concatenate([visible(points) for _, points in shown])
    seen = seen if seen.size else np.ones(1)
    off, start = _noise_off(shown), _starts(shown)
    near = [y for _, y in off if 10**-NOISE_OFF_DECADES * seen.min() <= y < math.inf]
    lines = [y for score, points in shown if _draws_bound(score, points) for y in bound_line(score)]
    near += [y for y in lines if LOWEST_END * seen.min() <= y <= seen.max() / LOWEST_END]
    log_y(axes, [*seen, *near, *(y for _, y in start if y < 30 * seen.max())], label)
    places = np.concatenate([points.x for _, points in shown])
    value_axis(axes, places, parameter_label(first.row.parameter, first.results.paper))
    ends += _draw_noise_off(axes, off)
    if start and min(y for _, y in start) <= axes.get_ylim()[1]:
        axes.plot(*zip(*start, strict=True), color=FAINT, linestyle=":", linewidth=0.9, zorder=1)
        ends.append(EndLabel(start[-1][1], "at start", FAINT))
    label_ends(axes, ends)


def visible(points: Series) -> np.ndarray:
    """Say what an axis has to hold: every mean, and the ends of intervals but those far below the lowest mean."""
    good = np.isfinite(points.mean) & ~beyond_log(points.mean)
    means, ends = points.mean[good], np.concatenate([points.low[good], points.high[good]])
    least = LOWEST_END * means.min() if means.size else 0.0
    return np.concatenate([means, ends[np.isfinite(ends) & (ends > least)]])


def _draw_series(axes: Axes, score: Score, points: Series) -> EndLabel:
    calibration = score.row.calibration
    colour = COLOURS.get(calibration, INK)
    good = ~beyond_log(points.mean)
    x, mean = points.x[good], points.mean[good]
    at_foot(axes, points.x[~good], colour)
    if not len(x):
        return curve_label(score, 0.0)
    errors = np.nan_to_num(np.array([mean - points.low[good], points.high[good] - mean]))
    marker = MARKERS.get(calibration, "D")
    fitted = fitted_cells(score, points)
    for shown, face in ((fitted[good], colour), (~fitted[good], "white")):
        points_at = x[shown], mean[shown], errors[:, shown]
        axes.errorbar(*points_at, fmt=marker, color=colour, markerfacecolor=face, elinewidth=0.8, zorder=3)
    if _draws_fit(score, points):
        chosen, log_x = points.x[fitted], np.log(points.x[fitted])
        weights = log_weights(points.log_error[fitted], points.dof[fitted])
        centre = float(weights @ (np.log(points.mean[fitted]) - score.row.slope * log_x))
        grid = np.geomspace(chosen.min(), chosen.max(), 50)
        axes.plot(grid, np.exp(centre) * grid**score.row.slope, color=colour, zorder=2)
    if _draws_bound(score, points):
        line = bound_line(score)
        axes.plot(points.x, line, color=colour, linestyle=(0, (3.5, 2)), linewidth=0.9, zorder=2, alpha=0.85)
    if score.row.form == "inconclusive (bent)":
        _draw_local_slopes(axes, score, points, fitted)
    return curve_label(score, float(mean[np.argmax(x)]))


def _draw_local_slopes(axes: Axes, score: Score, points: Series, fitted: np.ndarray) -> None:
    """Write the slope between neighbours, where there is no single one; of accounted noise below its line."""
    up = -1 if score.row.calibration == "accounted" else 1
    side = -up if is_number(score.row.slope) and score.row.slope > 0 else up
    x, mean = points.x[fitted], points.mean[fitted]
    for i, value in enumerate(score.row.local_slopes or ()):
        if i + 1 < len(x) and (mean[i : i + 2] > 0).all():
            middle = math.sqrt(x[i] * x[i + 1]), math.sqrt(mean[i] * mean[i + 1])
            axes.annotate(
                slope(value), middle, (3 * side, 3 * up), textcoords="offset points", size=5.5,
                ha="left" if side > 0 else "right", va="bottom" if up > 0 else "top",
                color=TEXT_COLOURS.get(score.row.calibration, FAINT),
            )  # fmt: skip


def _noise_off(shown: Sequence[tuple[Score, Series]]) -> list[tuple[float, float]]:
    """Place the noise-off points of a panel that is not itself about runs without noise."""
    first = shown[0][0]
    if first.kind.counts or "none" in {score.row.calibration for score, _ in shown}:
        return []
    return [(_place(first, cell), float(cell.final.mean())) for cell in _cells(first, "none") if cell.risks.size]


def _starts(shown: Sequence[tuple[Score, Series]]) -> list[tuple[float, float]]:
    """Place the starting risks; none where they differ between noises, as signals may."""
    first = shown[0][0]
    if first.kind.counts or first.part.quantity != RISK:
        return []
    cells = [[(score, cell) for cell in _cells(score) if math.isfinite(cell.start_risk)] for score, _ in shown]
    starts = [[(_place(score, cell), cell.start_risk) for score, cell in own] for own in cells]
    return starts[0] if all(one == starts[0] for one in starts) else []


def _draw_noise_off(axes: Axes, off: Sequence[tuple[float, float]]) -> list[EndLabel]:
    if not off:
        return []
    x, y = zip(*off, strict=True)
    low, high = axes.get_ylim()
    inside = [(a, b) for a, b in off if low <= b <= high]
    if inside:
        axes.plot(*zip(*inside, strict=True), "o", color=GREY, markersize=3, zorder=1)
    below_axis(axes, y, x, GREY)
    return [EndLabel(max(y[-1], low), "noise off" if y[-1] >= low else "noise off ↓", FAINT)]


def privacy_panel(scores: Sequence[Score]) -> Panel:
    title = panel_message(scores)
    shown = [(score, cells) for score in scores if (cells := score.charged)]
    kinds = {cell.kind for _, cells in shown for cell in cells if math.isfinite(cell.real)}
    drawn = Panel(title, lambda axes: _draw_privacy(axes, shown), small_line(scores), symbols=tuple(sorted(kinds)))
    return drawn if shown else worded_panel(scores)


def reals(cells: Sequence[Any]) -> str:
    """Show ``≥ 12 900``: real epsilons of a sweep with their sign."""
    if all(math.isnan(cell.real) for cell in cells):
        return "not known"
    worst = max((cell for cell in cells if not math.isnan(cell.real)), key=lambda cell: cell.real / cell.claimed)
    bounds = (outward(cell.real, cell.kind) for cell in cells)
    return f"{symbols(SIGNS.get(worst.kind, '='))} {span(bounds, least=worst.kind == 'lower')}"


def _draw_privacy(axes: Axes, shown: Sequence[tuple[Score, list[Any]]]) -> None:
    finite = [c.real for _, cells in shown for c in cells if math.isfinite(c.real) and c.real > 0]
    claimed = [(float(c.cell.value), c.claimed) for _, cells in shown for c in cells]
    log_y(axes, [*finite, *(y for _, y in claimed)], "real ε at the claimed δ", room=0.12)
    value_axis(axes, [x for x, _ in claimed], parameter_label(shown[0][1][0].cell.parameter, shown[0][0].results.paper))
    claims = sorted(set(claimed))
    axes.plot(*zip(*claims, strict=True), color=FAINT, linestyle=(0, (4, 2)), linewidth=0.9, zorder=1)
    ends = [_draw_reals(axes, score, cells) for score, cells in shown]
    label_ends(axes, [EndLabel(claims[-1][1], "claimed", FAINT), *ends])


def _draw_reals(axes: Axes, score: Score, cells: Sequence[Any]) -> EndLabel:
    calibration = score.row.calibration
    colour = COLOURS.get(calibration, INK)
    finite = [c for c in cells if math.isfinite(c.real)]
    axes.plot([c.cell.value for c in finite], [c.real for c in finite], color=colour, linewidth=0.8, zorder=2)
    for cell in finite:
        axes.plot([cell.cell.value], [cell.real], KIND_MARKERS.get(cell.kind, "o"), color=colour, zorder=3)
    for cell in cells:
        if math.isinf(cell.real):
            place = axes.get_xaxis_transform()
            axes.text(cell.cell.value, 0.98, "∞", transform=place, color=colour, ha="center", va="top", size=8)
    text_colour = TEXT_COLOURS.get(calibration, FAINT)
    y = finite[-1].real if finite else axes.get_ylim()[1]
    return EndLabel(y, calibration, text_colour, ((reals(cells), text_colour), *mark(score)))


def ratio_panel(scores: Sequence[Score]) -> Panel:
    """Draw means over what they are compared with, whiskers of two standard errors."""
    title = panel_message(scores)
    shown = [score for score in scores if len(_ratios(score)[0])]
    if not shown:
        return worded_panel(scores)
    foot = np.concatenate([_at_foot(score) for score in shown])
    symbols = ("ratio",) * (not foot.all()) + ("foot",) * bool(foot.any())
    return Panel(title, lambda axes: _draw(axes, shown), small_line(scores), symbols=symbols)


def grid_panel(scores: Sequence[Score]) -> Panel:
    """Draw the same for all cells of a grid, over the bound in each; the axis of ratios is linear, to hold them all."""
    shown = [score for score in scores if np.isfinite(_ratios(score)[0]).any()]
    if not shown:
        return worded_panel(scores)
    line = f"{count(max(len(score.row.values) for score in shown))} cells; {small_line(scores)}"
    return Panel(panel_message(scores), lambda axes: _draw_grid(axes, shown), line, symbols=("ratio",))


def _draw_grid(axes: Axes, shown: Sequence[Score]) -> None:
    labels, ends = shown[0].kind.labels_of(shown[0].part), []
    reference = list(shown[0].part.band) or [1.0]
    held = [0.0, *reference]
    for score in shown:
        ratios, whiskers = _ratios(score)
        bound = np.array(score.row.bound, dtype=float)
        good = np.isfinite(ratios) & (bound > 0)
        calibration = score.row.calibration
        look: dict[str, Any] = {"fmt": MARKERS.get(calibration, "D"), "color": COLOURS.get(calibration, INK)}
        look |= {"elinewidth": 0.6, "markersize": GRID_MARKER, "zorder": 3}
        axes.errorbar(bound[good], ratios[good], whiskers[good], **look)
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


def _label(score: Score, absent: int = 0) -> EndLabel:
    """Label the last point: whose noise, the worst ratio, the cells that have none, the verdict."""
    ratios = _ratios(score)[0]
    good = ratios[np.isfinite(ratios) & (ratios > 0)]
    colour = TEXT_COLOURS.get(score.row.calibration, FAINT)
    worst = score.kind.labels_of(score.part).get("worst", "worst")
    more = [(f"{worst} {number(score.row.worst_ratio)}", colour)] if is_number(score.row.worst_ratio) else []
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


def _draw(axes: Axes, shown: Sequence[Score]) -> None:
    labels = shown[0].kind.labels_of(shown[0].part)
    groups, values = _groups(shown)
    reference = [float(end) for end in shown[0].part.band if end > 0] or [1.0]
    everything, stands = list(reference), []
    for number_, score in enumerate(shown):
        places, offset = _places(score, groups), number_ - (len(shown) - 1) / 2
        wide = float(places.max() / places.min()) if len(places) and places.min() > 0 else 0.0
        apart = places + _OFFSET * offset if groups else places * (max(wide, 2.0) ** 0.025 if wide else 1.0) ** offset
        everything += _points(axes, score, apart)
        stands += apart.tolist()
    label = labels.get("ratio", "ratio").replace("excess risk", shown[0].quantity)
    log_y(axes, everything, label, room=0.1)
    if groups:
        _group_axis(axes, groups, values)
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


SHAPES: Mapping[str, Callable[[Sequence[Score]], Panel]] = {
    **{"slopes": rate_panel, "ratios": ratio_panel, "privacy": privacy_panel},
    **dict.fromkeys(("curves", "audits", "words"), worded_panel),
}
"""Orderings and the audits of a claim have a figure of their own, so that a panel of them has words alone."""


def kind_panel(scores: Sequence[Score]) -> Panel:
    """Draw the scores of a part by the panel of its kind, or else by the shape that the kind names."""
    kind = scores[0].kind
    return kind.panel(scores) or SHAPES[kind.shape](scores)
