"""Figures of orderings: excess risk along the run for several methods, a panel for each noise and value."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
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
from dpsco_bench.report.drawing import FAINT, Panel, compose
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.messages import NOISE, claim_title
from dpsco_bench.report.method_styles import MethodStyle, styles_of
from dpsco_bench.report.numbers import plain
from dpsco_bench.report.panels import beside_text
from dpsco_bench.report.scores import Score, claim_scores
from dpsco_bench.report.wording import SYMBOLS, setting, symbols

RIGHT = 1.2
"""Inches of the margin in which the names of curves stand."""
MOST_POINTS = 250
"""Curves are thinned to this many points, evenly on the logarithmic axis, the last one kept."""
NAME_CHARACTERS = 19
"""Of a line of a method's name beside its curve."""
Curves = Mapping[str, np.ndarray]
"""Label of a method -> x, median, lowest and highest risk along its run, shape ``(4, points)``."""


def curve_figure(results: ClaimResults, timed: bool = False) -> Figure | None:
    """Draw risk against gradient evaluations / n, or against running time; None where nothing was measured.

    Panels of one part have the same axes. Parts that kept the ends of their runs alone have no curves, unless none has
    more.
    """
    scores = [score for score in claim_scores(results) if score.kind.shape == "curves"]
    measured = [(score, cells) for score in scores if (cells := _measured(score, timed))]
    measured = [one for one in measured if any(len(cell.curve_risks) > 1 for cell in one[1])] or measured
    if not measured:
        return None
    named = [label for score, cells in measured for label in (*(c.entry.method for c in cells), *score.part.pair)]
    styles = styles_of(results.paper, list(dict.fromkeys(named)))
    panels = []
    for part in dict.fromkeys(score.row.part for score, _ in measured):
        drawn = {}
        own = [(score, cells) for score, cells in measured if score.row.part == part]
        for value in sorted({cell.value for _, cells in own for cell in cells}):
            for score, cells in own:
                seconds = _timings(score) if timed else {}
                here = [cell for cell in cells if cell.value == value]
                found = {cell.entry.method: _curve(cell, styles, seconds if timed else None) for cell in here}
                drawn[score.row.calibration, value] = score, here, found
        limits = _limits([curve for *_, curves in drawn.values() for curve in curves.values()])
        panels += [_panel(*one, styles, limits, timed) for one in drawn.values() if one[1]]
    told = f"{results.id}: {symbols(results.claim.title)}{_machine(results) if timed else ''}"
    returns = dict.fromkeys(look.returns for look in styles.values() if look.returns)
    key: list[Any] = [
        Patch(color=FAINT, alpha=0.2, label="line: the iterates, median; band: all replicates"),
        Line2D([], [], color=FAINT, ls="none", marker="o", ms=3, label=", ".join(["dot: what is returned", *returns])),
    ]
    return compose(panels, claim_title(results.claim, results.rows), told, more=key)


def _measured(score: Score, timed: bool) -> list[CellEvidence]:
    """Find the measured cells of a part; with ``timed`` only where it has timings."""
    return [] if timed and not _timings(score) else score.results.evidence(score.row.part, score.row.calibration)


def _timings(score: Score) -> dict[int, np.ndarray]:
    """Per cell, the curve (gradient evaluations, seconds) of the timing job, shape ``(points, 2)``."""
    job = score.results.job(score.row.part, score.row.calibration)
    found = None if job is None else score.results.timing(job)
    return {
        cell.cell: np.array([cell.evaluations, cell.seconds], dtype=float).T
        for cell in (found.cells if found else ())
        if len(cell.seconds)
    }


def _machine(results: ClaimResults) -> str:
    """Say where a claim's times were taken."""
    found = next((timing.machine for job in results.jobs if (timing := results.timing(job))), None)
    return f"; fastest run of one replicate on {found.processor}, {found.backend}" if found else ""


def _curve(cell: CellEvidence, styles: Mapping[str, MethodStyle], seconds: Mapping[int, np.ndarray] | None) -> Any:
    """Make the curve of a cell; of a method whose iterates carry no noise before the end, the end alone."""
    risks = cell.curve_risks.reshape(len(cell.curve_risks), -1)
    x = cell.curve_evaluations.reshape(len(risks), -1).mean(axis=1)
    if seconds is not None:
        clock = seconds.get(int(cell.entry.cell))
        if clock is None:
            return np.empty((4, 0))
        x = np.interp(x, clock[:, 0], clock[:, 1], left=0.0)
    else:
        x = x / float(cell.entry.n)
    start = -1 if styles[cell.entry.method].end_only else 0
    curve = np.array([x, np.median(risks, axis=1), risks.min(axis=1), risks.max(axis=1)])[:, start:]
    curve = curve[:, curve[0] > 0]
    if curve.shape[1] <= MOST_POINTS:
        return curve
    wanted = np.geomspace(curve[0, 0], curve[0, -1], MOST_POINTS)
    return curve[:, np.unique(np.append(np.searchsorted(curve[0], wanted[:-1]), curve.shape[1] - 1))]


def _limits(curves: Sequence[np.ndarray]) -> tuple[list[float], list[float]]:
    """List what the axes of a part must hold: all medians, and the ends of all bands."""
    x = [float(v) for curve in curves for v in curve[0]]
    y = [float(v) for curve in curves for v in (*curve[1], *curve[2, -1:], *curve[3, -1:]) if v > 0]
    return x, y


def _panel(
    score: Score,
    cells: Sequence[CellEvidence],
    curves: Curves,
    styles: Mapping[str, MethodStyle],
    limits: tuple[list[float], list[float]],
    timed: bool,
) -> Panel:
    """Draw all methods under one noise at one value; the pair that is compared stands out."""
    names = {cell.entry.method: _name(cell, styles[cell.entry.method]) for cell in cells}

    def draw(axes: Axes) -> None:
        ends = []
        for label, (x, middle, low, high) in curves.items():
            if len(x):
                look, strong = styles[label], label in score.part.pair
                _draw_curve(axes, look, strong, x, middle, low, high)
                first, *rest = textwrap.wrap(names[label].replace("T = ", "T\u00a0=\u00a0"), NAME_CHARACTERS)
                more = tuple((line, look.colour) for line in rest)
                ends.append(EndLabel(float(middle[-1]), first, look.colour, more, float(x[-1])))
        log_y(axes, limits[1], "excess risk F − F*")
        axes.set_xscale("log")
        axes.set_xlim(min(limits[0]) / 1.2, max(limits[0]) * 1.3)
        axes.xaxis.set_major_locator(LogLocator(numticks=8))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: decade_text(value)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("running time of the algorithm (s)" if timed else "gradient evaluations / n")
        label_ends(axes, ends)

    first = cells[0].entry
    noise = NOISE.get(score.row.calibration, score.row.calibration)
    where = f"{noise[:1].upper()}{noise[1:]}, {symbols(first.parameter)} = {plain(cells[0].value)}"
    shown = setting({"n": first.n, "delta": first.delta, **score.part.problem_options})
    line = (beside_text([score]), f"{SYMBOLS.get(score.tone, '·')} {score.verdict}", score.row.part)
    told = "; ".join(filter(None, (*line, score.part.problem, shown)))
    return Panel(f"{where}: {_said(score, names, styles)}", draw, told, right=RIGHT)


def _said(score: Score, names: Mapping[str, str], styles: Mapping[str, MethodStyle]) -> str:
    """Say which of the pair ends lower: ``DP-SVRG ends below DP-GD, T = 1500``."""
    if len(score.part.pair) != 2:
        return score.verdict
    first, second = (names.get(label, styles[label].name) for label in score.part.pair)
    words = {HOLDS: f"{first} ends below {second}", REVERSED: f"{second} ends below {first}"}
    return words.get(score.row.word, f"{first} against {second}: {score.verdict}")


def _name(cell: CellEvidence, look: MethodStyle) -> str:
    """Name a method, with its number of steps: other numbers may end elsewhere."""
    steps = cell.entry.options.get("steps")
    return look.name + (f", T = {steps}" if steps and "T =" not in look.name else "")


def _draw_curve(axes: Axes, look: MethodStyle, strong: bool, x: Any, middle: Any, low: Any, high: Any) -> None:
    if look.end_only:
        errors = [[middle[-1] - low[-1]], [high[-1] - middle[-1]]]
        axes.errorbar(x[-1:], middle[-1:], errors, fmt="D", color=look.colour, markersize=4, zorder=5)
        return
    band: dict[str, Any] = {"color": look.colour, "alpha": 0.2 if strong else 0.08, "linewidth": 0, "zorder": 1}
    line: dict[str, Any] = {"linewidth": 1.6 if strong else 0.8, "zorder": 4 if strong else 3}
    axes.fill_between(x, np.maximum(low, 1e-300), high, **band)
    axes.plot(x, middle, color=look.colour, linestyle=look.dash, **line)
    axes.plot(x[-1:], middle[-1:], "o", color=look.colour, markersize=4 if strong else 2.6, zorder=5)
