"""Draw the figures of kind `ordering`: risks along the runs of several methods, over gradients or over time."""

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
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.report.axes import EndLabel, decade_text, label_ends, log_y
from dpsco_bench.report.drawing import FAINT, Panel, compose
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.numbers import plain
from dpsco_bench.report.own_figures import MethodStyle, styles_of
from dpsco_bench.report.panels import beside_text
from dpsco_bench.report.verdicts import NOISE, claim_title
from dpsco_bench.report.wording import SYMBOLS, setting, symbols, tone

RIGHT = 1.2  # inches of the margin in which the names of curves stand
MOST_POINTS = 250  # curves are thinned to this many points, evenly on the logarithmic axis, the last one kept
CURVE_CHARACTERS = 19  # characters of a line of a method's name beside its curve
Curves = Mapping[str, np.ndarray]
"""Label of a method -> x, median, lowest and highest risk along its run, shape ``(4, points)``."""


def curve_figures(claim: ClaimResults, rows: Sequence[Verdict]) -> dict[str, Figure]:
    """Draw risk against gradient evaluations / n and, where runs were timed, against running time, by file suffix.

    Panels of one part have the same axes. Parts that kept the ends of their runs alone have no curves, unless none has
    more. There is no figure where nothing was measured.
    """
    timed = [row for row in rows if _timings(claim, row)]
    drawn = {".curves": _figure(claim, rows, False), ".time": _figure(claim, timed, True)}
    return {suffix: figure for suffix, figure in drawn.items() if figure}


def _figure(claim: ClaimResults, rows: Sequence[Verdict], timed: bool) -> Figure | None:
    measured = [(row, cells) for row in rows if (cells := claim.evidence(row.part, row.calibration))]
    measured = [one for one in measured if any(len(cell.curve_risks) > 1 for cell in one[1])] or measured
    if not measured:
        return None
    named = [label for row, cells in measured for label in (*(c.entry.method for c in cells), *claim.part(row).pair)]
    styles = styles_of(claim.paper, list(dict.fromkeys(named)))
    panels = []
    for part in dict.fromkeys(row.part for row, _ in measured):
        own = [(row, cells) for row, cells in measured if row.part == part]
        panels += _part_panels(claim, own, styles, timed)
    told = f"{claim.id}: {symbols(claim.claim.title)}"
    if timed and (where := next((t.machine for job in claim.jobs if (t := claim.timing(job))), None)):
        told += f"; fastest run of one replicate on {where.processor}, {where.backend}"
    returns = dict.fromkeys(look.returns for look in styles.values() if look.returns)
    key: list[Any] = [
        Patch(color=FAINT, alpha=0.2, label="line: the iterates, median; band: all replicates"),
        Line2D([], [], color=FAINT, ls="none", marker="o", ms=3, label=", ".join(["dot: what is returned", *returns])),
    ]
    return compose(panels, claim_title(claim.claim, claim.rows), told, more=key)


def _part_panels(
    claim: ClaimResults,
    measured: Sequence[tuple[Verdict, list[CellEvidence]]],
    styles: Mapping[str, MethodStyle],
    timed: bool,
) -> list[Panel]:
    """Draw a part: a panel for each value and noise."""
    drawn = []
    for value in sorted({cell.value for _, cells in measured for cell in cells}):
        for row, cells in measured:
            here = [cell for cell in cells if cell.value == value]
            clock = _timings(claim, row) if timed else None
            drawn.append((row, here, {cell.entry.method: _curve(cell, styles, clock) for cell in here}))
    curves = [curve for *_, own in drawn for curve in own.values()]
    tall = (v for curve in curves for v in (*curve[1], *curve[2, -1:], *curve[3, -1:]) if v > 0)  # all medians, and
    limits = [float(v) for curve in curves for v in curve[0]], [*map(float, tall)]  # the ends of all bands
    return [_panel(claim, *one, styles, limits, timed) for one in drawn if one[1]]


def _timings(claim: ClaimResults, row: Verdict) -> dict[int, np.ndarray]:
    """Per cell, the curve (gradient evaluations, seconds) of the timing job, shape ``(points, 2)``."""
    job = claim.job(row.part, row.calibration)
    found = None if job is None else claim.timing(job)
    return {
        cell.cell: np.array([cell.evaluations, cell.seconds], dtype=float).T
        for cell in (found.cells if found else ())
        if len(cell.seconds)
    }


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


def _panel(
    claim: ClaimResults,
    row: Verdict,
    cells: Sequence[CellEvidence],
    curves: Curves,
    styles: Mapping[str, MethodStyle],
    limits: tuple[list[float], list[float]],
    timed: bool,
) -> Panel:
    """Draw all methods under one noise at one value; the pair that is compared stands out."""
    names, part = {cell.entry.method: _name(cell, styles[cell.entry.method]) for cell in cells}, claim.part(row)

    def draw(axes: Axes) -> None:
        ends = []
        for label, curve in curves.items():
            if curve.size:
                look = styles[label]
                _draw_curve(axes, look, label in part.pair, curve)
                first, *rest = textwrap.wrap(names[label].replace("T = ", "T\u00a0=\u00a0"), CURVE_CHARACTERS)
                more = tuple((line, look.colour) for line in rest)
                ends.append(EndLabel(float(curve[1, -1]), first, look.colour, more, float(curve[0, -1])))
        log_y(axes, limits[1], "excess risk F − F*")
        axes.set_xscale("log")
        axes.set_xlim(min(limits[0]) / 1.2, max(limits[0]) * 1.3)
        axes.xaxis.set_major_locator(LogLocator(numticks=8))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: decade_text(value)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("running time of the algorithm (s)" if timed else "gradient evaluations / n")
        label_ends(axes, ends)

    first = cells[0].entry
    noise = NOISE[row.calibration]
    where = f"{noise[:1].upper()}{noise[1:]}, {symbols(first.parameter)} = {plain(cells[0].value)}"
    shown = setting({"n": first.n, "delta": first.delta, **part.problem_options})
    line = (beside_text([row]), f"{SYMBOLS[tone(row)]} {symbols(row.said)}", row.part)
    told = "; ".join(filter(None, (*line, part.problem, shown)))
    title = f"{where}: {_said(row, part.pair, names, styles)}".replace("T = ", "T\u00a0=\u00a0")
    return Panel(title, draw, told, right=RIGHT)


def _said(row: Verdict, pair: Sequence[str], names: Mapping[str, str], styles: Mapping[str, MethodStyle]) -> str:
    """Say which of the pair ends lower: ``DP-SVRG ends below DP-GD, T = 1500``."""
    if len(pair) != 2:
        return symbols(row.said)
    first, second = (names.get(label, styles[label].name) for label in pair)
    words = {HOLDS: f"{first} ends below {second}", REVERSED: f"{second} ends below {first}"}
    return words.get(row.word, f"{first} against {second}: {symbols(row.said)}")


def _name(cell: CellEvidence, look: MethodStyle) -> str:
    """Name a method, with its number of steps: other numbers may end elsewhere."""
    steps = cell.entry.options.get("steps")
    return look.name + (f", T = {steps}" if steps and "T =" not in look.name else "")


def _draw_curve(axes: Axes, look: MethodStyle, strong: bool, curve: np.ndarray) -> None:
    x, middle, low, high = curve
    if look.end_only:
        errors = [[middle[-1] - low[-1]], [high[-1] - middle[-1]]]
        axes.errorbar(x[-1:], middle[-1:], errors, fmt="D", color=look.colour, markersize=4, zorder=5)
        return
    band: dict[str, Any] = {"color": look.colour, "alpha": 0.2 if strong else 0.08, "linewidth": 0, "zorder": 1}
    line: dict[str, Any] = {"linewidth": 1.6 if strong else 0.8, "zorder": 4 if strong else 3}
    axes.fill_between(x, np.maximum(low, 1e-300), high, **band)
    axes.plot(x, middle, color=look.colour, linestyle=look.dash, **line)
    axes.plot(x[-1:], middle[-1:], "o", color=look.colour, markersize=4 if strong else 2.6, zorder=5)
