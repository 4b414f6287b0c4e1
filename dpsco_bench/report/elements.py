"""What papers' own figures are made of: measured sweeps, formulas through them, claimed against real epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.privacy.ledger import PHRASES
from dpsco_bench.report.axes import EndLabel, label_ends, log_y, reference_line, tick_text, value_axis
from dpsco_bench.report.drawing import COLOURS, FAINT, INK, MARKERS, TEXT_COLOURS, Line, Panel
from dpsco_bench.report.inputs import Inputs, Job
from dpsco_bench.report.ledger import Charged, charged_cells, charged_evidence, noise_options
from dpsco_bench.report.numbers import span
from dpsco_bench.report.own_figures import paper_figure
from dpsco_bench.report.panels import KIND_MARKERS, Series, series, settings_line
from dpsco_bench.report.wording import noise_name

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Colour-blind-safe, the cycle of the style file."""
LEAST_GAP = 0.14
"""Between two ticks, as a fraction of the axis."""


class Sizes(NamedTuple):
    """Cells of one method in one sweep, and their summary."""

    cells: list[CellEvidence]
    points: Series


def sweep(inputs: Inputs, claim: str, part: str, calibration: str, method: str = "") -> Sizes | None:
    """Measured cells of a part, of one method where it has several; None where there are none."""
    results = next((found for found in inputs.claims if found.id == claim), None)
    cells = results.evidence(part, calibration) if results and part in results.parts else []
    cells = [cell for cell in cells if not method or cell.entry.method == method]
    return Sizes(cells, series(cells)) if cells else None


def part_settings(inputs: Inputs, claim: str, part: str) -> Line:
    """Method, instance and fixed settings of a part that was measured, as a line above its panel."""
    return Line(settings_line(next(found for found in inputs.claims if found.id == claim).parts[part]))


def draw_sweep(axes: Axes, points: Series, colour: str, marker: str) -> list[float]:
    """Means with 95 % intervals; returns the finite ends, for the axis."""
    good = np.isfinite(points.mean) & (points.mean > 0)
    x, y = points.x[good], points.mean[good]
    half = np.nan_to_num(points.high[good] - y)
    lower = np.minimum(half, 0.95 * y)
    axes.errorbar(x, y, (lower, half), fmt=marker, color=colour, elinewidth=0.8, markersize=3.6, zorder=3)
    axes.plot(x, y, "-", color=colour, linewidth=0.7, alpha=0.6, zorder=2)
    return [*y, *(y + half), *(y - lower)]


def through(points: Series, formula: Sequence[float]) -> np.ndarray:
    """A formula multiplied by the constant with which it passes through the points (geometric mean of the ratios)."""
    values = np.asarray(formula, dtype=float)
    good = (points.mean > 0) & (values > 0)
    return values * math.exp(float(np.mean(np.log(points.mean[good] / values[good]))))


def calibrations_panel(
    title: str,
    sweeps: Sequence[tuple[str, Sizes]],
    label: str,
    formulas: Sequence[tuple[str, Callable[[CellEvidence], float]]] = (),
    lines: Sequence[Line] = (),
    y_label: str = "excess risk",
) -> Panel:
    """Sweeps of one instance under several calibrations, with formulas drawn through the first of them."""

    def draw(axes: Axes) -> None:
        ends: list[float] = []
        labels: list[EndLabel] = []
        for calibration, found in sweeps:
            ends += draw_sweep(axes, found.points, COLOURS[calibration], MARKERS[calibration])
            labels.append(EndLabel(found.points.mean[-1], calibration, TEXT_COLOURS[calibration]))
        cells, points = sweeps[0][1]
        for place, (name, value) in enumerate(formulas):
            values = through(points, [value(cell) for cell in cells])
            axes.plot(points.x, values, color=INK, linewidth=0.9, linestyle=((0, (4, 2)), (0, (1, 1.5)))[place % 2])
            ends += list(values)
            labels.append(EndLabel(values[-1], name, INK))
        start = [cell.start_risk for cell in cells]
        if np.all(np.isfinite(start)) and max(start) < 4 * max(ends):
            axes.plot(points.x, start, color=FAINT, linewidth=0.7, linestyle=(0, (1, 2)))
            ends += start
            labels.append(EndLabel(start[-1], "start", FAINT))
        sparse_axis(axes, points.x, label)
        log_y(axes, ends, y_label)
        label_ends(axes, labels)

    return Panel(title, draw, [*lines, *(noise_line(*found) for found in sweeps)])


def noise_line(calibration: str, found: Sizes) -> Line:
    """Marker and name of a calibration, and what its cells lack of the claimed privacy."""
    remark = "" if calibration == "none" else charged_evidence(found.cells, calibration).remark
    return Line(noise_name(calibration) + f": {remark}" * bool(remark), TEXT_COLOURS[calibration], MARKERS[calibration])


def sparse_axis(axes: Axes, values: Iterable[float], label: str) -> None:
    """A logarithmic x axis with ticks at those values that leave room for their numbers, the largest one first."""
    value_axis(axes, values, label)
    low, high = np.log(axes.get_xlim())
    shown: list[float] = []
    for value in sorted({float(v) for v in values}, reverse=True):
        if not shown or math.log(shown[-1] / value) > LEAST_GAP * (high - low):
            shown.append(value)
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([tick_text(value) for value in shown]))


def real_epsilon_figure(module: str, name: str) -> None:
    """Register ``<paper>.real_epsilon`` for a paper's module: claimed against real epsilon of all its mechanisms."""

    def draw(inputs: Inputs) -> list[Panel]:
        return claimed_and_real(inputs, name.partition(".")[0])

    draw.__module__ = module
    paper_figure(
        name,
        "Real against claimed ε of the paper's noise, mechanism by mechanism",
        "From the privacy ledger; the accounted noise meets the claim by construction and is not drawn.",
    )(draw)


def claimed_and_real(inputs: Inputs, paper: str) -> list[Panel]:
    """A panel per mechanism of a paper: real over claimed epsilon of the paper's noise, as the ledger has it."""
    found: dict[str, dict[str, list[Charged]]] = {}
    for claim in inputs.of_paper(paper):
        for job in claim.jobs:
            for cell in charged_cells(claim, job.part, job.calibration).cells if _charged(job) else ():
                found.setdefault(cell.cell.algorithm, {}).setdefault(_noise(cell), []).append(cell)
    return [
        _mechanism_panel(algorithm, kinds)
        for algorithm, kinds in sorted(found.items())
        if any(map(_finite, kinds.values()))
    ]


def _charged(job: Job) -> bool:
    return job.calibration == "paper" and not job.skipped


def _noise(cell: Charged) -> str:
    return ", ".join(filter(None, (cell.calibrated.variant, noise_options(cell.cell))))


def _finite(cells: Iterable[Charged]) -> list[Charged]:
    return [cell for cell in cells if math.isfinite(cell.real) and cell.real > 0]


def _mechanism_panel(algorithm: str, kinds: dict[str, list[Charged]]) -> Panel:
    looks = dict(zip(kinds, cycle(PALETTE), strict=False))
    lines = [Line("● exact   ▲ lower bound   ▼ upper bound on the real ε")]
    for name, cells in kinds.items():
        good = _finite(cells)
        for kind in sorted({cell.kind for cell in good}):
            ratios = span(cell.excess for cell in good if cell.kind == kind)
            lines.append(Line(f"{name}: {PHRASES[kind]}{ratios} of the claim", looks[name], KIND_MARKERS[kind]))
        if any(math.isinf(cell.real) for cell in cells):
            lines.append(Line(f"{name}: not private at all, something is released without noise", looks[name], "x"))

    def draw(axes: Axes) -> None:
        ends = [1.0]
        for place, (name, cells) in enumerate(kinds.items()):
            shift = 1.0 + 0.02 * (place - (len(kinds) - 1) / 2)
            for cell in _finite(cells):
                axes.plot(cell.claimed * shift, cell.excess, KIND_MARKERS[cell.kind], color=looks[name], markersize=3.2)
                ends.append(cell.excess)
        sparse_axis(axes, [cell.claimed for cells in kinds.values() for cell in cells], "claimed ε")
        log_y(axes, ends, "real ε / claimed ε", room=0.1)
        reference_line(axes, 1.0, "claim")

    return Panel(algorithm.split(".", 1)[1], draw, lines)
