"""Draw the panel of kinds that judge a slope: a sweep on log-log axes with its fitted line, its bound and noise off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.slopes import log_weights
from dpsco_bench.claims.bounds.registry import evaluate
from dpsco_bench.claims.model import GRID, RISK
from dpsco_bench.execution.job_results import risk_kind_of
from dpsco_bench.report.axes import EndLabel, at_foot, beyond_log, hollow, label_ends, log_x, log_y, value_axis
from dpsco_bench.report.drawing import COLOURS, FAINT, GREY, INK, MARKERS, TEXT_COLOURS, Panel
from dpsco_bench.report.numbers import is_number, plain, slope
from dpsco_bench.report.panels import Series, bound_constant, mark, series, small_line, worded_panel
from dpsco_bench.report.scores import Score, panel_message
from dpsco_bench.report.wording import parameter_label, parameter_symbol, quantity_label

NOISE_OFF_DECADES = 1.5  # noise-off points farther below the measured ones than this are arrows at the lower edge
LOWEST_END = 0.1
"""An interval that reaches below this part of the lowest mean leaves the axes at the foot; so does a bound's line."""
Drawn = Sequence[tuple[Score, Series]]


def slope_panel(scores: Sequence[Score]) -> Panel:
    """Draw a sweep with all its calibrations: points with intervals, fitted line, bound, noise off."""
    first, title = scores[0], panel_message(scores)
    shown = [(score, points) for score in scores if (points := _measured(score)) is not None]
    if not shown or first.row.parameter == GRID:  # numbers of combinations are no axis
        return worded_panel(scores)
    if len({cell.entry.method for cell in _cells(first)}) > 1:
        return Panel(title, lambda axes: _draw_methods(axes, shown), small_line(scores))
    drawn = {
        "mean": not first.kind.counts and any((points.mean > 0).any() for _, points in shown),
        "hollow": any((points.mean[~_fitted(score, points)] > 0).any() for score, points in shown),
        "fit": any(_draws_fit(score, points) for score, points in shown),
        "bound": any(_draws_bound(score, points) for score, points in shown),
        "foot": any(beyond_log(points.mean).any() for _, points in shown),
        "off": bool(_noise_off(shown)),
    }
    keys = tuple(name for name, there in drawn.items() if there)
    return Panel(title, lambda axes: _draw(axes, shown), small_line(scores), symbols=keys)


def _measured(score: Score) -> Series | None:
    """Summarise the cells of a verdict; None where some have not run. Planned gradient evaluations have no error."""
    if score.kind.counts:
        x, mean = (np.array(column, dtype=float) for column in (score.row.values, score.row.mean))
        zero = np.zeros(len(x))
        return Series(x, mean, mean, mean, zero, zero + np.inf) if len(x) and len(x) == len(mean) else None
    cells = _cells(score)
    return series(cells, [_place(score, c) for c in cells]) if cells and all(c.risks.size for c in cells) else None


def _place(score: Score, cell: CellEvidence) -> float:
    part = score.part
    return evaluate(part.bound, part.axis, cell.printed) if part.axis else cell.value


def _cells(score: Score, calibration: str = "") -> list[CellEvidence]:
    """Find cells that a verdict judges: its part's own, or those of the parts that it uses."""
    parts = score.part.uses or [score.row.part]
    return [cell for part in parts for cell in score.results.evidence(part, calibration or score.row.calibration)]


def _fitted(score: Score, points: Series) -> np.ndarray:
    fitted = score.row.fitted
    return np.array(fitted, bool) if fitted and len(fitted) == len(points.x) else np.ones(len(points.x), bool)


def _draws_fit(score: Score, points: Series) -> bool:
    """Check whether a line is fitted: not where values are only shown, which need follow none."""
    fitted = _fitted(score, points)
    if not is_number(score.row.slope) or score.row.meaning.outcome == "shown":
        return False
    return fitted.sum() > 1 and bool((points.mean[fitted] > 0).all())


def _draws_bound(score: Score, points: Series) -> bool:
    """Check whether there is a line of the bound: a value for every point, at least two points."""
    bound, fitted = score.row.bound or (), score.row.fitted or ()
    if (fitted and not any(fitted)) or beyond_log(points.mean).any():
        return False  # it would pass through points that are not meant to follow it, or are not shown
    return len(bound) == len(points.x) > 1 and sum(map(is_number, bound)) > 1 and math.isfinite(bound_constant(score))


def _bound_line(score: Score) -> np.ndarray:
    return bound_constant(score) * np.array([b if is_number(b) else math.nan for b in score.row.bound], dtype=float)


def _draw_methods(axes: Axes, shown: Drawn) -> None:
    """Draw means of a part with several methods, which no curve joins: a line for each."""
    names = [
        f"{cell.entry.method.replace('_', ' ')}, {parameter_symbol(cell.entry.parameter)} = {plain(cell.value)}"
        for cell in _cells(shown[0][0])
    ]
    for score, points in shown:
        calibration, places = score.row.calibration, np.arange(len(points.mean), dtype=float)
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
    axes.set_yticks(range(len(names)), names, size=5.6)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(_measure_label(shown[0][0]))


def _measure_label(score: Score) -> str:
    kind = risk_kind_of(_cells(score)[0].entry)
    return kind + " risk" * kind.startswith("excess")


def _draw(axes: Axes, shown: Drawn) -> None:
    first = shown[0][0]
    if first.part.quantity != RISK:
        label = quantity_label(first.part.quantity, first.results.paper)
    else:
        label = "planned gradient evaluations" if first.kind.counts else _measure_label(first)
    ends = [_draw_series(axes, score, points) for score, points in shown]
    seen = np.concatenate([_visible(points) for _, points in shown])
    seen = seen if seen.size else np.ones(1)
    off, start = _noise_off(shown), _starts(shown)
    near = [y for _, y in off if 10**-NOISE_OFF_DECADES * seen.min() <= y < math.inf]
    lines = [y for score, points in shown if _draws_bound(score, points) for y in _bound_line(score)]
    near += [y for y in lines if LOWEST_END * seen.min() <= y <= seen.max() / LOWEST_END]
    log_y(axes, [*seen, *near, *(y for _, y in start if y < 30 * seen.max())], label)
    places = np.concatenate([points.x for _, points in shown])
    value_axis(axes, places, parameter_label(first.row.parameter, first.results.paper))
    ends += _draw_noise_off(axes, off)
    if start and min(y for _, y in start) <= axes.get_ylim()[1]:
        axes.plot(*zip(*start, strict=True), color=FAINT, linestyle=":", linewidth=0.9, zorder=1)
        ends.append(EndLabel(start[-1][1], "at start", FAINT))
    label_ends(axes, ends)


def _visible(points: Series) -> np.ndarray:
    """Say what an axis has to hold: every mean, and the ends of intervals but those far below the lowest mean."""
    good = np.isfinite(points.mean) & ~beyond_log(points.mean)
    means, ends = points.mean[good], np.concatenate([points.low[good], points.high[good]])
    least = LOWEST_END * means.min() if means.size else 0.0
    return np.concatenate([means, ends[np.isfinite(ends) & (ends > least)]])


def _draw_series(axes: Axes, score: Score, points: Series) -> EndLabel:
    """Draw the points of a calibration, its line and its bound; returns what stands beside them."""
    calibration, fitted, good = score.row.calibration, _fitted(score, points), ~beyond_log(points.mean)
    colour = COLOURS.get(calibration, INK)
    x, mean = points.x[good], points.mean[good]
    at_foot(axes, points.x[~good], **hollow(colour))
    if not len(x):
        return _label(score, 0.0)
    errors = np.nan_to_num(np.array([mean - points.low[good], points.high[good] - mean]))
    look: dict[str, Any] = {"fmt": MARKERS.get(calibration, "D"), "color": colour, "elinewidth": 0.8, "zorder": 3}
    for shown, face in ((fitted[good], colour), (~fitted[good], "white")):
        axes.errorbar(x[shown], mean[shown], errors[:, shown], markerfacecolor=face, **look)
    if _draws_fit(score, points):
        chosen = points.x[fitted]
        weights = log_weights(points.log_error[fitted], points.dof[fitted])
        centre = float(weights @ (np.log(points.mean[fitted]) - score.row.slope * np.log(chosen)))
        grid = np.geomspace(chosen.min(), chosen.max(), 50)
        axes.plot(grid, np.exp(centre) * grid**score.row.slope, color=colour, zorder=2)
    if _draws_bound(score, points):
        dashed: dict[str, Any] = {"linestyle": (0, (3.5, 2)), "linewidth": 0.9, "zorder": 2, "alpha": 0.85}
        axes.plot(points.x, _bound_line(score), color=colour, **dashed)
    if score.row.form == "inconclusive (bent)":
        _draw_local_slopes(axes, score, points, fitted)
    return _label(score, float(mean[np.argmax(x)]))


def _label(score: Score, y: float) -> EndLabel:
    """Say what stands beside the points of a calibration: its slope, that of the bound, and the verdict."""
    row, against = score.row, score.kind.compared_slope(score.row)
    name = "noise off" if row.calibration == "none" else row.calibration
    told = is_number(row.slope) and row.meaning.outcome != "shown"
    word = "bound" if score.kind.whose_exponent == "paper" else score.kind.whose_exponent
    held = [(f"{word} {slope(against)}", FAINT)] if told and is_number(against) else []
    text = f"{name} {slope(row.slope)}" if told else name
    return EndLabel(y, text, TEXT_COLOURS.get(row.calibration, FAINT), (*held, *mark(score)))


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


def _noise_off(shown: Drawn) -> list[tuple[float, float]]:
    """Place the noise-off points of a panel that is not itself about runs without noise."""
    first = shown[0][0]
    if first.kind.counts or "none" in {score.row.calibration for score, _ in shown}:
        return []
    return [(_place(first, cell), float(cell.final.mean())) for cell in _cells(first, "none") if cell.risks.size]


def _starts(shown: Drawn) -> list[tuple[float, float]]:
    """Place the starting risks; none where they differ between noises, as signals may."""
    first = shown[0][0]
    if first.kind.counts or first.part.quantity != RISK:
        return []
    starts = [
        [(_place(score, cell), cell.start_risk) for cell in _cells(score) if math.isfinite(cell.start_risk)]
        for score, _ in shown
    ]
    return starts[0] if all(one == starts[0] for one in starts) else []


def _draw_noise_off(axes: Axes, off: Sequence[tuple[float, float]]) -> list[EndLabel]:
    if not off:
        return []
    (low, high), last = axes.get_ylim(), off[-1][1]
    inside = [(a, b) for a, b in off if low <= b <= high]
    if inside:
        axes.plot(*zip(*inside, strict=True), "o", color=GREY, markersize=3, zorder=1)
    at_foot(axes, [a for a, b in off if b < low], color=GREY, markersize=3)
    return [EndLabel(max(last, low), "noise off" if last >= low else "noise off ↓", FAINT)]
