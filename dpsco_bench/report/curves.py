"""Figures of orderings: excess risk along the run for several methods, a row per problem and calibration."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.claims.model import AT_END, AT_EQUAL_EVALUATIONS
from dpsco_bench.report.axes import decade_text, log_y
from dpsco_bench.report.drawing import FAINT, INK, TEXT_COLOURS
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.method_styles import Dash, MethodStyle, styles_of
from dpsco_bench.report.numbers import plain
from dpsco_bench.report.scores import Score, claim_scores
from dpsco_bench.report.wording import setting, symbols

WIDTH, LEFT, RIGHT, GAP = 7.1, 0.6, 0.06, 0.1
"""Inches: width of the figure, its margins, and the space between columns."""
AXES_HEIGHT, HEAD, FOOT, LINE = 1.5, 0.18, 0.42, 0.128
MOST_POINTS = 250
"""Curves are thinned to this many points, evenly on the logarithmic axis, the last one kept."""


@dataclass(frozen=True)
class Row:
    """One row of the figure: a part under a calibration, with its measured cells and the verdicts on it."""

    score: Score
    cells: Sequence[CellEvidence]
    verdicts: Sequence[Score]
    seconds: Mapping[int, np.ndarray]
    styles: Mapping[str, MethodStyle]


def ordering_rows(results: ClaimResults, timed: bool = False) -> list[Row]:
    """Measured (part, calibration) pairs of a claim's orderings; with ``timed`` only those that have timings."""
    rows = []
    scores = [score for score in claim_scores(results) if score.kind.shape == "curves"]
    for score in scores:
        part, calibration = score.row.part, score.row.calibration
        cells = results.evidence(part, calibration)
        judged = [s for s in scores if calibration == s.row.calibration and part in (s.row.part, *s.part.uses)]
        seconds = timings(results, part, calibration) if timed else {}
        if cells and (seconds or not timed):
            named = [*_labels(cells), *(label for s in judged for label in s.part.pair)]
            rows.append(Row(score, cells, judged, seconds, styles_of(results.paper, named)))
    return rows


def timings(results: ClaimResults, part: str, calibration: str) -> dict[int, np.ndarray]:
    """Per cell, the curve (gradient evaluations, seconds) of the timing job, shape ``(points, 2)``."""
    job = results.job(part, calibration)
    found = None if job is None else results.timing(job)
    cells = found["cells"] if found else ()
    curves = {c["cell"]: np.array([c["evaluations"], c["seconds"]], dtype=float).T for c in cells}
    return {cell: curve for cell, curve in curves.items() if len(curve)}


def curve_figure(results: ClaimResults, timed: bool = False) -> Figure | None:
    """Gap against gradient evaluations / n, or against running time; None where nothing was measured."""
    rows = ordering_rows(results, timed)
    if not rows:
        return None
    told = (f"Claimed: {results.claim.title}", _outcome(rows))
    header = [line for text in told for line in textwrap.wrap(symbols(text), 98)]
    heights = [LINE * (len(_heading(row)) + 1) + HEAD + AXES_HEIGHT + FOOT for row in rows]
    top, foot = 0.14 * len(header) + 0.2, 0.62
    size = (WIDTH, sum(heights) + top + foot)
    figure = Figure(figsize=size)
    figure.text(0.05 / WIDTH, 1 - 0.05 / size[1], "\n".join(header), va="top", size=8, weight="bold", color=INK)
    below = 1 - (0.05 + 0.14 * len(header)) / size[1]
    origin = f"{results.claim.source}  ({results.id}){machine(results) if timed else ''}"
    figure.text(0.05 / WIDTH, below, origin, va="top", size=6.5, color=FAINT)
    upper = size[1] - top
    for row, height in zip(rows, heights, strict=True):
        _draw_row(figure, row, upper, size, timed, last=row is rows[-1])
        upper -= height
    cells = [cell for row in rows for cell in row.cells]
    _key(figure, cells, styles_of(results.paper, _labels(cells)))
    return figure


def _outcome(rows: Sequence[Row]) -> str:
    """What the orderings of these runs are, by calibration: ``paper noise 3 holds, 1 reversed``."""
    said = []
    for calibration in dict.fromkeys(row.score.row.calibration for row in rows):
        words = [s.row.word for row in rows if row.score.row.calibration == calibration for s in row.verdicts]
        counts = (f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        noise = "noise off" if calibration == "none" else f"{calibration} noise"
        said.append(f"{noise} {', '.join(counts)}")
    return f"Measured here, orderings: {'; '.join(said)}"


def machine(results: ClaimResults) -> str:
    """Where a claim's times were taken."""
    for job in results.jobs:
        found = results.timing(job)
        if found:
            about = found["machine"]
            return f"; fastest run of one replicate on {about['processor']}, {about['backend']}"
    return ""


def _heading(row: Row) -> list[tuple[str, str]]:
    """Lines above a row: what is run, and each verdict in words."""
    part, calibration = row.score.part, row.score.row.calibration
    colour = TEXT_COLOURS.get(calibration, FAINT)
    first = row.cells[0].entry
    shown = {"n": first.n, "delta": first.delta, **part.problem_options}
    lines = [(f"{part.problem}; {setting(shown)}", FAINT)]
    lines += [(symbols(part.note), FAINT)] if part.note else []
    found: dict[str, list[str]] = {}
    for score in row.verdicts:
        first_, second = (row.styles[label].name for label in score.part.pair)
        where = {AT_END: " at the end", AT_EQUAL_EVALUATIONS: " at equal evaluations"}.get(score.part.compared, "")
        found.setdefault(f"{first_} below {second}", []).append(f"{score.verdict}{where}")
    lines += [(f"{pair}: {', '.join(words)}", colour) for pair, words in found.items()]
    remark = row.score.privacy.remark
    lines += [(f"{calibration} noise is {remark}", colour)] if remark else []
    return [(piece, tint) for text, tint in lines for piece in textwrap.wrap(text, 130)]


def _labels(cells: Sequence[CellEvidence]) -> list[str]:
    return list(dict.fromkeys(cell.entry.method for cell in cells))


def _draw_row(figure: Figure, row: Row, upper: float, size: tuple[float, float], timed: bool, last: bool) -> None:
    width, height = size
    heading = _heading(row)
    title = f"{row.score.row.part}, {row.score.row.calibration} noise"
    figure.text(0.05 / width, upper / height, title, va="top", size=7.5, weight="bold", color=INK)
    for number_, (text, colour) in enumerate(heading, start=1):
        figure.text(0.05 / width, (upper - LINE * number_) / height, text, va="top", size=6.5, color=colour)
    values = sorted({cell.value for cell in row.cells})
    room = (WIDTH - LEFT - RIGHT - GAP * (len(values) - 1)) / len(values)
    bottom = (upper - LINE * (len(heading) + 1) - HEAD - AXES_HEIGHT) / height
    limits, shared = _limits(row, timed), None
    for column, value in enumerate(values):
        box = ((LEFT + column * (room + GAP)) / width, bottom, room / width, AXES_HEIGHT / height)
        axes = figure.add_axes(box, sharey=shared)
        shared = shared or axes
        _draw_cell(axes, [cell for cell in row.cells if cell.value == value], row, timed)
        _finish(axes, row, value, limits, column == 0, timed)


def _curve(cell: CellEvidence, row: Row, timed: bool) -> np.ndarray:
    """x, median, lowest and highest risk along a run, shape ``(4, points)``."""
    risks = cell.curve_risks.reshape(len(cell.curve_risks), -1)
    x = cell.curve_evaluations.reshape(len(risks), -1).mean(axis=1)
    if timed:
        curve = row.seconds.get(int(cell.entry.cell))
        if curve is None:
            return np.empty((4, 0))
        x = np.interp(x, curve[:, 0], curve[:, 1], left=0.0)
    else:
        x = x / float(cell.entry.n)
    start = -1 if row.styles[cell.entry.method].end_only else 0
    stacked = np.array([x, np.median(risks, axis=1), risks.min(axis=1), risks.max(axis=1)])[:, start:]
    return _thinned(stacked[:, stacked[0] > 0])


def _thinned(curve: np.ndarray) -> np.ndarray:
    if curve.shape[1] <= MOST_POINTS:
        return curve
    wanted = np.geomspace(curve[0, 0], curve[0, -1], MOST_POINTS)
    return curve[:, np.unique(np.append(np.searchsorted(curve[0], wanted[:-1]), curve.shape[1] - 1))]


def _limits(row: Row, timed: bool) -> tuple[list[float], list[float]]:
    curves = [_curve(cell, row, timed) for cell in row.cells]
    x = [float(v) for c in curves for v in c[0]]
    y = [float(v) for c in curves for v in (*c[1], *c[2, -1:], *c[3, -1:]) if v > 0]
    return x, y


def _draw_cell(axes: Axes, cells: Sequence[CellEvidence], row: Row, timed: bool) -> None:
    for cell in cells:
        look = row.styles[cell.entry.method]
        x, middle, low, high = _curve(cell, row, timed)
        if not len(x):
            continue
        if look.end_only:
            errors = [[middle[-1] - low[-1]], [high[-1] - middle[-1]]]
            axes.errorbar(x[-1:], middle[-1:], errors, fmt="D", color=look.colour, markersize=4, zorder=5)
            continue
        axes.fill_between(x, np.maximum(low, 1e-300), high, color=look.colour, alpha=0.16, linewidth=0, zorder=1)
        axes.plot(x, middle, color=look.colour, linestyle=look.dash, linewidth=1.0, zorder=3)
        axes.plot(x[-1:], middle[-1:], "o", color=look.colour, markersize=3, zorder=4)


def _finish(
    axes: Axes, row: Row, value: float, limits: tuple[list[float], list[float]], first: bool, timed: bool
) -> None:
    x, y = limits
    log_y(axes, y, "excess risk F − F*" if first else "")
    axes.set_xscale("log")
    axes.set_xlim(min(x) / 1.2, max(x) * 1.3)
    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: decade_text(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("running time of the algorithm (s)" if timed else "gradient evaluations / n")
    axes.tick_params(labelleft=first)
    name = f"{symbols(row.cells[0].entry.parameter)} = {plain(value)}"
    axes.text(0.5, 1.03, name, transform=axes.transAxes, ha="center", va="bottom", size=7)


def _key(figure: Figure, cells: Sequence[CellEvidence], styles: Mapping[str, MethodStyle]) -> None:
    handles: list[Any] = []
    for label, look in styles.items():
        steps = next(cell for cell in cells if cell.entry.method == label).entry.options.get("steps")
        name = look.name + (f", T = {steps}" if steps and "T =" not in look.name else "")
        line: Dash | Literal["none"] = "none" if look.end_only else look.dash
        marker = "D" if look.end_only else "o"
        handles.append(Line2D([], [], color=look.colour, linestyle=line, marker=marker, markersize=3, label=name))
    handles.append(Patch(color=FAINT, alpha=0.2, label="line: the iterates, median; band: all replicates"))
    told = dict.fromkeys(look.returns for look in styles.values() if look.returns)
    returned = ", ".join(["dot: what is returned", *told])
    handles.append(Line2D([], [], color=FAINT, linestyle="none", marker="o", markersize=3, label=returned))
    figure.legend(handles=handles, loc="lower center", ncols=3)
