"""Figures of orderings: excess risk along the run for several methods, the noises side by side on the same axes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.ordering import HOLDS, REVERSED
from dpsco_bench.report.axes import EndLabel, decade_text, label_ends, log_y
from dpsco_bench.report.drawing import FAINT, INK, LINE_CHARACTERS, TEXT_COLOURS, cut, two_lines
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.labels import beside_text, mark_colour
from dpsco_bench.report.messages import NOISE, claim_message
from dpsco_bench.report.method_styles import MethodStyle, styles_of
from dpsco_bench.report.numbers import plain
from dpsco_bench.report.scores import Score, claim_scores
from dpsco_bench.report.wording import SYMBOLS, setting, symbols

WIDTH, LEFT, RIGHT, GAP = 7.1, 0.6, 1.35, 0.12
"""Inches: width of the figure, its margins (names of curves stand at the right), and the space between columns."""
CHARACTER = 0.052
"""Inches that a character of size 7 takes, on average."""
AXES_HEIGHT, HEAD, FOOT, LINE = 1.8, 0.2, 0.42, 0.13
MOST_POINTS = 250
"""Curves are thinned to this many points, evenly on the logarithmic axis, the last one kept."""
NAME_CHARACTERS = 22
"""Of a line of a method's name beside its curve."""


@dataclass(frozen=True)
class Row:
    """A part under a calibration, with its measured cells and the verdicts on it."""

    score: Score
    cells: Sequence[CellEvidence]
    verdicts: Sequence[Score]
    seconds: Mapping[int, np.ndarray]
    styles: Mapping[str, MethodStyle]

    @property
    def values(self) -> list[float]:
        """Values of the swept parameter."""
        return sorted({cell.value for cell in self.cells})


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
    cells = found.cells if found else ()
    curves = {c.cell: np.array([c.evaluations, c.seconds], dtype=float).T for c in cells}
    return {cell: curve for cell, curve in curves.items() if len(curve)}


def curve_figure(results: ClaimResults, timed: bool = False) -> Figure | None:
    """Gap against gradient evaluations / n, or against running time; None where nothing was measured.

    A band for every part that was run: its noises side by side, one below the other where several values are swept.
    """
    bands = _bands(ordering_rows(results, timed))
    if not bands:
        return None
    header = textwrap.wrap(claim_message(results), 96)
    heights = [_height(band) for band in bands]
    told = f"{results.id}: {symbols(results.claim.title)}{machine(results) if timed else ''}"
    origin = two_lines(told, 2 * LINE_CHARACTERS)
    top, foot = 0.16 * len(header) + 0.13 + 0.11 * len(origin), 0.3
    size = (WIDTH, sum(heights) + top + foot)
    figure = Figure(figsize=size)
    x = 0.05 / WIDTH
    figure.text(x, 1 - 0.05 / size[1], "\n".join(header), va="top", size=8.5, weight="bold", color=INK)
    below = 1 - (0.07 + 0.16 * len(header)) / size[1]
    figure.text(x, below, "\n".join(origin), va="top", size=6.5, color=FAINT)
    upper = size[1] - top
    for band, height in zip(bands, heights, strict=True):
        _draw_band(figure, band, upper, size, timed)
        upper -= height
    _key(figure, [row for band in bands for row in band])
    return figure


def _bands(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows of one part together; parts that kept their ends alone have no curves, unless none has more."""
    found: dict[str, list[Row]] = {}
    curved = [row for row in rows if any(len(cell.curve_risks) > 1 for cell in row.cells)]
    for row in curved or rows:
        found.setdefault(row.score.row.part, []).append(row)
    return list(found.values())


def _lines(band: Sequence[Row]) -> list[list[tuple[Row, float]]]:
    """Drawing areas, line by line: the values of a noise, or all noises where there is one value."""
    if max(len(row.values) for row in band) == 1:
        return [[(row, row.values[0]) for row in band]]
    return [[(row, value) for value in row.values] for row in band]


def _height(band: Sequence[Row]) -> float:
    lines = _lines(band)
    return LINE * (len(_titles(band)) + 1) + sum(map(_head, lines)) + (AXES_HEIGHT + FOOT) * len(lines) + 0.08


def _head(line: Sequence[tuple[Row, float]]) -> float:
    """Room above the drawing areas of a line: more where noise and verdict stand below each other."""
    return HEAD + LINE * _stacked(line)


def _stacked(line: Sequence[tuple[Row, float]]) -> bool:
    """Check whether the noise and the shortest form of the verdict do not fit beside each other above every area."""
    return any(
        len(_noise(row, value)) + len(_shortest(row.score)) + 2 > _width(line) / CHARACTER for row, value in line
    )


def _width(line: Sequence[tuple[Row, float]]) -> float:
    """Inches of each drawing area of a line."""
    return (WIDTH - LEFT - RIGHT - GAP * (len(line) - 1)) / len(line)


def _noise(row: Row, value: float) -> str:
    """``Printed noise, n = 256``."""
    noise = NOISE.get(row.score.row.calibration, row.score.row.calibration)
    return f"{noise[:1].upper()}{noise[1:]}, {symbols(row.cells[0].entry.parameter)} = {plain(value)}"


def _shortest(score: Score) -> str:
    """The mark of a verdict and its bare word."""
    return f"{SYMBOLS.get(score.tone, '·')} {score.row.word.replace('_', ' ')}"


def _titles(band: Sequence[Row]) -> list[str]:
    return textwrap.wrap(band_message(band), 108)


def band_message(band: Sequence[Row]) -> str:
    """Say which of the pair ends lower, under every noise: ``DP-SVRG ends below DP-GD, T = 1500``."""
    said: dict[str, list[str]] = {}
    for row in band:
        pair = row.score.part.pair
        first, second = (_named_method(row, label) for label in pair) if len(pair) == 2 else ("", "")
        words = {HOLDS: f"{first} ends below {second}", REVERSED: f"{second} ends below {first}"}
        text = words.get(row.score.row.word, f"{first} against {second}: {row.score.verdict}" if first else "")
        said.setdefault(text, []).append(NOISE.get(row.score.row.calibration, row.score.row.calibration))
    if len(said) == 1:
        return next(iter(said)) + (" under both noises" if len(band) == 2 else "")
    text = "; ".join(f"{' and '.join(names)}: {words}" for words, names in said.items())
    return text[:1].upper() + text[1:]


def machine(results: ClaimResults) -> str:
    """Say where a claim's times were taken."""
    for job in results.jobs:
        found = results.timing(job)
        if found:
            return f"; fastest run of one replicate on {found.machine.processor}, {found.machine.backend}"
    return ""


def _named_method(row: Row, label: str) -> str:
    """Name of a method, with its number of steps where it is one in all cells: other numbers may end elsewhere."""
    own = [cell for cell in row.cells if cell.entry.method == label]
    names = {_name(cell, row.styles[label]) for cell in own}
    return names.pop() if len(names) == 1 else row.styles[label].name


def _name(cell: CellEvidence, look: MethodStyle) -> str:
    steps = cell.entry.options.get("steps")
    return look.name + (f", T = {steps}" if steps and "T =" not in look.name else "")


def _labels(cells: Sequence[CellEvidence]) -> list[str]:
    return list(dict.fromkeys(cell.entry.method for cell in cells))


def _draw_band(figure: Figure, band: Sequence[Row], upper: float, size: tuple[float, float], timed: bool) -> None:
    width, height = size
    titles = _titles(band)
    for number_, text in enumerate(titles):
        y = (upper - LINE * number_) / height
        figure.text(0.05 / width, y, text, va="top", size=7.5, weight="bold", color=INK)
    upper -= LINE * len(titles)
    first = band[0].cells[0].entry
    shown = {"n": first.n, "delta": first.delta, **band[0].score.part.problem_options}
    text = f"{band[0].score.row.part}: {band[0].score.part.problem}; {setting(shown)}"
    text = "; ".join(filter(None, (beside_text([row.score for row in band]), text)))
    figure.text(0.05 / width, upper / height, cut(text, 2 * LINE_CHARACTERS), va="top", size=6.3, color=FAINT)
    upper -= LINE
    limits = _limits(band, timed)
    for line in _lines(band):
        _draw_line(figure, line, upper, size, limits, timed)
        upper -= _head(line) + AXES_HEIGHT + FOOT


def _draw_line(
    figure: Figure,
    line: Sequence[tuple[Row, float]],
    upper: float,
    size: tuple[float, float],
    limits: tuple[list[float], list[float]],
    timed: bool,
) -> None:
    """Drawing areas beside each other, on the same axes; names stand at the end of the line."""
    width, height = size
    room, stacked = _width(line), _stacked(line)
    bottom = (upper - _head(line) - AXES_HEIGHT) / height
    for column, (row, value) in enumerate(line):
        axes = figure.add_axes(
            ((LEFT + column * (room + GAP)) / width, bottom, room / width, AXES_HEIGHT / height)
        )  # fmt: skip
        cells = [cell for cell in row.cells if cell.value == value]
        ends = _draw_cell(axes, cells, row, timed)
        _finish(axes, row, limits, column == 0, timed)
        _say(axes, row, value, stacked)
        if column == len(line) - 1:
            label_ends(axes, ends)


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


def _limits(band: Sequence[Row], timed: bool) -> tuple[list[float], list[float]]:
    """Say what the axes of a band must hold, the same for all of its noises."""
    curves = [_curve(cell, row, timed) for row in band for cell in row.cells]
    x = [float(v) for c in curves for v in c[0]]
    y = [float(v) for c in curves for v in (*c[1], *c[2, -1:], *c[3, -1:]) if v > 0]
    return x, y


def _draw_cell(axes: Axes, cells: Sequence[CellEvidence], row: Row, timed: bool) -> list[EndLabel]:
    """Curves of all methods at one value; the pair that is compared stands out. Returns their names."""
    ends = []
    for cell in cells:
        label, look = cell.entry.method, row.styles[cell.entry.method]
        x, middle, low, high = _curve(cell, row, timed)
        if not len(x):
            continue
        strong = label in row.score.part.pair
        ends.append(_end(cell, look, float(x[-1]), float(middle[-1])))
        if look.end_only:
            errors = [[middle[-1] - low[-1]], [high[-1] - middle[-1]]]
            axes.errorbar(x[-1:], middle[-1:], errors, fmt="D", color=look.colour, markersize=4, zorder=5)
            continue
        shade = 0.2 if strong else 0.08
        axes.fill_between(x, np.maximum(low, 1e-300), high, color=look.colour, alpha=shade, linewidth=0, zorder=1)
        wide = 1.6 if strong else 0.8
        axes.plot(x, middle, color=look.colour, linestyle=look.dash, linewidth=wide, zorder=4 if strong else 3)
        axes.plot(x[-1:], middle[-1:], "o", color=look.colour, markersize=4 if strong else 2.6, zorder=5)
    return ends


def _end(cell: CellEvidence, look: MethodStyle, x: float, y: float) -> EndLabel:
    """Name of a method, with its number of steps."""
    first, *rest = textwrap.wrap(_name(cell, look).replace("T = ", "T\u00a0=\u00a0"), NAME_CHARACTERS)
    return EndLabel(y, first, look.colour, tuple((line, look.colour) for line in rest), x)


def _finish(axes: Axes, row: Row, limits: tuple[list[float], list[float]], first: bool, timed: bool) -> None:
    x, y = limits
    log_y(axes, y, "excess risk F − F*" if first else "")
    axes.set_xscale("log")
    axes.set_xlim(min(x) / 1.2, max(x) * 1.3)
    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: decade_text(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("running time of the algorithm (s)" if timed else "gradient evaluations / n")
    axes.tick_params(labelleft=first)


def _say(axes: Axes, row: Row, value: float, stacked: bool) -> None:
    """Noise and verdict above a drawing area, below each other where they do not fit beside each other."""
    score, name = row.score, _noise(row, value)
    above: dict[str, Any] = {"transform": axes.transAxes, "va": "bottom", "size": 7}
    at = 1.02 + stacked * LINE / AXES_HEIGHT
    axes.text(0.0, at, name, color=TEXT_COLOURS.get(score.row.calibration, INK), **above)
    # Where reservations do not fit, the mark in parentheses tells of them.
    room = axes.get_position().width * WIDTH / CHARACTER - (0 if stacked else len(name))
    whole = f"{SYMBOLS.get(score.tone, '·')} {score.verdict}"
    word = whole if len(whole) + 4 <= room else _shortest(score)
    side: dict[str, Any] = {"x": 0.0, "ha": "left"} if stacked else {"x": 1.0, "ha": "right"}
    axes.text(s=word, y=1.02, color=mark_colour(score), **side, **above)


def _key(figure: Figure, rows: Sequence[Row]) -> None:
    returns = dict.fromkeys(look.returns for row in rows for look in row.styles.values() if look.returns)
    handles: list[Any] = [Patch(color=FAINT, alpha=0.2, label="line: the iterates, median; band: all replicates")]
    told = ", ".join(["dot: what is returned", *returns])
    handles.append(Line2D([], [], color=FAINT, linestyle="none", marker="o", markersize=3, label=told))
    figure.legend(handles=handles, loc="lower center", ncols=2)
