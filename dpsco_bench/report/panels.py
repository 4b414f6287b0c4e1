"""Panels of the parts of a claim: slopes on log-log axes, and real against claimed epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from dpsco_bench.analysis.bootstrap import student_factor, summarise
from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.analysis.slopes import log_weights
from dpsco_bench.claims.bounds.registry import evaluate
from dpsco_bench.claims.model import RISK
from dpsco_bench.execution.summary import risk_kind_of
from dpsco_bench.privacy.ledger import SIGNS
from dpsco_bench.report.axes import EndLabel, at_foot, below_axis, beyond_log, label_ends, log_x, log_y, value_axis
from dpsco_bench.report.drawing import (
    COLOURS,
    FAINT,
    GREY,
    INK,
    MARKERS,
    TEXT_COLOURS,
    Panel,
)
from dpsco_bench.report.labels import mark, small_line, worded_panel
from dpsco_bench.report.messages import panel_message
from dpsco_bench.report.numbers import is_number, plain, slope, span
from dpsco_bench.report.scores import Score
from dpsco_bench.report.wording import parameter_label, parameter_symbol, quantity_label, symbols

NORMAL_95 = 1.959964
NOISE_OFF_DECADES = 1.5
"""Noise-off points farther below the measured ones than this are arrows at the lower edge."""
KIND_MARKERS = {"exact": "o", "lower": "^", "upper": "v"}
LOWEST_END = 0.1
"""An interval that reaches below this part of the lowest mean leaves the axes at the foot; so does a bound's line."""


@dataclass(frozen=True)
class Series:
    """Means of one calibration.

    Attributes
    ----------
    log_error, dof : ndarray, standard errors of log mean and their degrees of freedom, for the weights of the fit
    """

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    log_error: np.ndarray
    dof: np.ndarray


def series(cells: Sequence[CellEvidence], x: Sequence[float] | None = None) -> Series:
    """Means and intervals of measured cells, exactly as the verdict sees them; over the swept parameter or over x."""
    found = [summarise(cell.risks, cell.numerical_error) for cell in cells]
    mean = np.array([s.mean for s in found])
    half = np.array([NORMAL_95 * student_factor(s.dof) * s.stderr if s.dof > 0 else math.nan for s in found])
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
    """Geometric mean of measured over bound: the constant with which the bound passes through the points."""
    mean, bound = score.row.mean or (), score.row.bound or ()
    fitted = score.row.fitted if any(score.row.fitted or ()) else (True,) * len(mean)
    pairs = [(m, b) for m, b, inside in zip(mean, bound, fitted or (), strict=False) if inside]
    good = [(m, b) for m, b in pairs if is_number(m) and is_number(b) and m > 0 and b > 0]
    return math.exp(np.mean([math.log(m / b) for m, b in good])) if good else math.nan


def bound_line(score: Score) -> np.ndarray:
    """The bound times that constant, at every point."""
    bound = [b if is_number(b) else math.nan for b in score.row.bound]
    return bound_constant(score) * np.array(bound, dtype=float)


def rate_panel(scores: Sequence[Score]) -> Panel:
    """A sweep with all its calibrations: points with intervals, fitted line, bound, noise off."""
    first, title = scores[0], panel_message(scores)
    shown = [(score, points) for score in scores if (points := _measured(score)) is not None]
    if not shown:
        return worded_panel(scores)
    if len({cell.entry.method for cell in _cells(first)}) > 1:
        return Panel(title, lambda axes: _draw_methods(axes, shown), small_line(scores))
    return Panel(title, lambda axes: _draw_rate(axes, shown), small_line(scores), symbols=_keys(shown))


def _keys(shown: Sequence[tuple[Score, Series]]) -> tuple[str, ...]:
    """Symbols that a sweep's panel draws."""
    counted = shown[0][0].kind.counts
    drawn = {
        "mean": not counted and any((points.mean > 0).any() for _, points in shown),
        "hollow": any((points.mean[~fitted_cells(score, points)] > 0).any() for score, points in shown),
        "fit": any(_draws_fit(score, points) for score, points in shown),
        "bound": any(_draws_bound(score, points) for score, points in shown),
        "foot": any(beyond_log(points.mean).any() for _, points in shown),
        "off": bool(_shown_noise_off(shown)),
    }
    return tuple(name for name, there in drawn.items() if there)


def fitted_cells(score: Score, points: Series) -> np.ndarray:
    """Say which points are in the fit; the others are drawn hollow."""
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
    """Means of a part with several methods, which no curve joins: a line for each."""
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
    if score.kind.counts:
        return _counted(score)
    cells = _cells(score)
    places = [_place(score, cell) for cell in cells]
    return series(cells, places) if cells and all(cell.risks.size for cell in cells) else None


def _place(score: Score, cell: CellEvidence) -> float:
    """Say where a cell stands on the axis of its part."""
    part = score.part
    return evaluate(part.bound, part.axis, cell.printed) if part.axis else cell.value


def _cells(score: Score, calibration: str = "") -> list[CellEvidence]:
    """Cells that a verdict judges: its part's own, or those of the parts that it uses."""
    calibration = calibration or score.row.calibration
    parts = score.part.uses or [score.row.part]
    return [cell for part in parts for cell in score.results.evidence(part, calibration)]


def _counted(score: Score) -> Series | None:
    """Planned gradient evaluations, which have no error."""
    x, mean = (np.array(column, dtype=float) for column in (score.row.values, score.row.mean))
    zero = np.zeros(len(x))
    return Series(x, mean, mean, mean, zero, zero + np.inf) if len(x) and len(x) == len(mean) else None


def _measure_label(score: Score) -> str:
    """Say what the part's algorithm is measured by."""
    (cell, *_) = _cells(score)
    kind = risk_kind_of(cell.entry)
    return kind + " risk" * kind.startswith("excess")


def _draw_rate(axes: Axes, shown: Sequence[tuple[Score, Series]]) -> None:
    first = shown[0][0]
    counted, quantity = first.kind.counts, first.part.quantity
    label = "planned gradient evaluations" if counted else _measure_label(first)
    label = label if quantity == RISK else quantity_label(quantity, first.results.paper)
    ends = []
    for score, points in shown:
        ends += _draw_series(axes, score, points)
    seen = np.concatenate([visible(points) for _, points in shown])
    seen = seen if seen.size else np.ones(1)
    off = _shown_noise_off(shown)
    starts = [] if counted or quantity != RISK else [_start_risks(score) for score, _ in shown]
    start = starts[0] if starts and all(one == starts[0] for one in starts) else []  # signals may differ between noises
    near = [y for _, y in off if 10**-NOISE_OFF_DECADES * seen.min() <= y < math.inf]
    lines = [y for score, points in shown if _draws_bound(score, points) for y in bound_line(score)]
    near += [y for y in lines if LOWEST_END * seen.min() <= y <= seen.max() / LOWEST_END]
    log_y(axes, [*seen, *near, *(y for _, y in start if y < 30 * seen.max())], label)
    value_axis(
        axes,
        np.concatenate([points.x for _, points in shown]),
        parameter_label(first.row.parameter, first.results.paper),
    )
    ends += _draw_noise_off(axes, off)
    ends += _draw_start(axes, start)
    label_ends(axes, ends)


def visible(points: Series) -> np.ndarray:
    """Say what an axis has to hold: every mean, and the ends of intervals but those far below the lowest mean."""
    good = np.isfinite(points.mean) & ~beyond_log(points.mean)
    means, ends = points.mean[good], np.concatenate([points.low[good], points.high[good]])
    least = LOWEST_END * means.min() if means.size else 0.0
    return np.concatenate([means, ends[np.isfinite(ends) & (ends > least)]])


def _draw_series(axes: Axes, score: Score, points: Series) -> list[EndLabel]:
    calibration = score.row.calibration
    colour = COLOURS.get(calibration, INK)
    good = ~beyond_log(points.mean)
    x, mean = points.x[good], points.mean[good]
    at_foot(axes, points.x[~good], colour)
    if not len(x):
        return [curve_label(score, 0.0)]
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
    return [curve_label(score, float(mean[np.argmax(x)]))]


def _draw_local_slopes(axes: Axes, score: Score, points: Series, fitted: np.ndarray) -> None:
    """The slope between each pair of neighbours, where there is no single one; of accounted noise below its line."""
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


def _shown_noise_off(shown: Sequence[tuple[Score, Series]]) -> list[tuple[float, float]]:
    """Noise-off points of a panel that is not itself about runs without noise."""
    first = shown[0][0]
    if first.kind.counts or "none" in {score.row.calibration for score, _ in shown}:
        return []
    return _noise_off(first)


def _noise_off(score: Score) -> list[tuple[float, float]]:
    return [(_place(score, cell), float(cell.final.mean())) for cell in _cells(score, "none") if cell.risks.size]


def _start_risks(score: Score) -> list[tuple[float, float]]:
    return [(_place(score, cell), cell.start_risk) for cell in _cells(score) if math.isfinite(cell.start_risk)]


def _draw_noise_off(axes: Axes, off: Sequence[tuple[float, float]]) -> list[EndLabel]:
    if not off:
        return []
    x, y = ([pair[i] for pair in off] for i in (0, 1))
    low, high = axes.get_ylim()
    inside = [(a, b) for a, b in off if low <= b <= high]
    if inside:
        axes.plot(*zip(*inside, strict=True), "o", color=GREY, markersize=3, zorder=1)
    below_axis(axes, y, x, GREY)
    return [EndLabel(max(y[-1], low), "noise off" if y[-1] >= low else "noise off ↓", FAINT)]


def _draw_start(axes: Axes, start: Sequence[tuple[float, float]]) -> list[EndLabel]:
    if not start or min(y for _, y in start) > axes.get_ylim()[1]:
        return []
    axes.plot(*zip(*start, strict=True), color=FAINT, linestyle=":", linewidth=0.9, zorder=1)
    return [EndLabel(start[-1][1], "at start", FAINT)]


def privacy_panel(scores: Sequence[Score]) -> Panel:
    """Real against claimed epsilon over the sweep."""
    title = panel_message(scores)
    shown = [(score, cells) for score in scores if (cells := score.charged)]
    if not shown:
        return worded_panel(scores)
    kinds = {cell.kind for _, cells in shown for cell in cells if math.isfinite(cell.real)}
    draw = lambda axes: _draw_privacy(axes, shown)  # noqa: E731
    return Panel(title, draw, small_line(scores), symbols=tuple(sorted(kinds)))


def reals(score: Score, cells: Sequence[Any]) -> str:
    """``≥ 12 900``: real epsilons of a sweep with their sign."""
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
    ends = [EndLabel(claims[-1][1], "claimed", FAINT)]
    for score, cells in shown:
        ends += _draw_reals(axes, score, cells)
    label_ends(axes, ends)


def _draw_reals(axes: Axes, score: Score, cells: Sequence[Any]) -> list[EndLabel]:
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
    return [EndLabel(y, calibration, text_colour, ((reals(score, cells), text_colour), *mark(score)))]
