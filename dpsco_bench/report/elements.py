"""Parts of figures: measured sweeps, formulas through them, claimed against real epsilon."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.noise import Noise, noise_behind
from dpsco_bench.privacy.ledger import PHRASES
from dpsco_bench.report.axes import Plot
from dpsco_bench.report.drawing import COLOURS, DASHED, FAINT, INK, MARKERS, SHADES, TEXT_COLOURS, TEXTS, Panel
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.ledger import LedgerRow
from dpsco_bench.report.numbers import number
from dpsco_bench.report.own_figures import FIGURES, PaperFigure
from dpsco_bench.report.panels import KIND_MARKERS, Series, series
from dpsco_bench.report.wording import noise_title, setting, symbols


class Sizes(NamedTuple):
    """Cells of one method in one sweep, and their summary."""

    cells: list[MeasuredCell]
    points: Series


def sweep(inputs: Inputs, claim: str, part: str, calibration: str, method: str = "") -> Sizes | None:
    """Find the measured cells of a part, of one method where it has several; None where there are none."""
    results = inputs.find(claim)
    cells = results.evidence(part, calibration) if results and part in results.parts else []
    cells = [cell for cell in cells if not method or cell.entry.method == method]
    return Sizes(cells, series(cells)) if cells else None


def part_settings(inputs: Inputs, claim: str, part: str) -> str:
    """Name method, instance and fixed settings of a part that was measured, as the line above its panel."""
    found = inputs.claim(claim).parts[part]
    methods = " and ".join(dict.fromkeys(m.algorithm.split(".", 1)[-1] for m in found.methods))
    given = {**found.fixed, **found.problem_options}
    plain_ones = {key: value for key, value in given.items() if not isinstance(value, Mapping)}
    return "; ".join(filter(None, (methods and f"{methods} on {found.problem}", setting(plain_ones))))


def draw_sweep(plot: Plot, points: Series, colour: str, marker: str) -> None:
    """Draw means with 95 % intervals, and a line through them."""
    good = np.isfinite(points.mean) & (points.mean > 0)
    x, y = points.x[good], points.mean[good]
    half = np.nan_to_num(points.high[good] - y)
    lower = np.minimum(half, 0.95 * y)
    plot.axes.errorbar(x, y, (lower, half), fmt=marker, color=colour, elinewidth=0.8, markersize=3.6, zorder=3)
    plot.axes.plot(x, y, "-", color=colour, linewidth=0.7, alpha=0.6, zorder=2)
    plot.held += [*y, *(y + half), *(y - lower)]


def through(points: Series, formula: Sequence[float]) -> list[float]:
    """Multiply a formula by the constant with which it passes through the points (geometric mean of the ratios)."""
    values = np.asarray(formula, dtype=float)
    good = (points.mean > 0) & (values > 0)
    return list(values * math.exp(float(np.mean(np.log(points.mean[good] / values[good])))))


def calibrations_panel(
    title: str,
    sweeps: Sequence[tuple[str, Sizes]],
    label: str,
    formulas: Sequence[tuple[str, Callable[[MeasuredCell], float]]] = (),
    line: str = "",
) -> Panel:
    """Draw sweeps of one instance under several calibrations, with formulas drawn through the first of them."""

    def draw(axes: Axes) -> None:
        plot = Plot(axes)
        for calibration, found in sweeps:
            draw_sweep(plot, found.points, COLOURS[calibration], MARKERS[calibration])
            noise = None if calibration == "none" else noise_behind(cell.charged for cell in found.cells)
            lacks = textwrap.wrap(symbols(noise.shortfall), 20)[:2] if noise else []  # of the claimed privacy
            plot.label(found.points.mean[-1], noise_title(calibration), TEXT_COLOURS[calibration], *lacks)
        cells, points = sweeps[0][1]
        for place, (name, value) in enumerate(formulas):
            values = through(points, [value(cell) for cell in cells])
            plot.line(points.x, values, name, INK, linestyle=((0, (4, 2)), (0, (1, 1.5)))[place % 2])
        start = [cell.start_risk for cell in cells]
        if np.all(np.isfinite(start)) and max(start) < 4 * max(plot.held):
            plot.line(points.x, start, "start", FAINT, linewidth=0.7, linestyle=(0, (1, 2)))
        plot.finish(points.x, label, "excess risk")

    return Panel(title, draw, line, symbols=("mean",))


def real_epsilon_figure(module: str, name: str) -> None:
    """Register ``<paper>.real_epsilon`` for a paper's module: real over claimed epsilon, a panel per mechanism."""
    paper = name.partition(".")[0]

    def draw(inputs: Inputs) -> list[Panel]:
        found = sorted(charged_mechanisms(inputs, paper).items())
        return [_mechanism_panel(algorithm, kinds) for algorithm, kinds in found if any(map(_finite, kinds.values()))]

    title = "Real against claimed ε of the paper's noise, mechanism by mechanism"
    told = "From the privacy ledger; the accounted noise is chosen to meet the claim and is not drawn."
    FIGURES.add(name, PaperFigure(name, title, told, draw, lambda inputs: excess_message(inputs, paper)), module)


def excess_message(inputs: Inputs, paper: str) -> str:
    found = charged_mechanisms(inputs, paper)
    noises = [[noise for own in kinds.values() for noise in own] for kinds in found.values()]
    more = sum(any(map(_above, own)) for own in noises)
    if not more:
        return "No mechanism of the paper is shown to spend more than the ε that it claims"
    said = f"{more} of {len(found)} mechanisms of the paper spend{'s' * (more == 1)} more than the claimed ε"
    inner = more - sum(any(noise.status == "exceeds_claim" for noise in own) for own in noises)
    return said + f", {inner} of them in the query sequence, the output being open" * bool(inner)


def _above(noise: Noise) -> bool:
    """Check whether what is released, or the query sequence, is known to exceed the claim."""
    return noise.status == "exceeds_claim" or noise.sequence_exceeds


def charged_mechanisms(inputs: Inputs, paper: str) -> dict[str, dict[str, list[Noise]]]:
    """Mechanism -> variant and options -> noise of every cell that was charged with the paper's own."""
    found: dict[str, dict[str, list[Noise]]] = {}
    jobs = ((claim, job) for claim in inputs.of_paper(paper) for job in claim.jobs if not job.skipped)
    for cell in (c for claim, job in jobs if job.calibration == "paper" for c in claim.charged(job.part, "paper")):
        kinds = found.setdefault(str(cell.cell.algorithm), {})
        kinds.setdefault(LedgerRow((cell,)).variant, []).append(cell.noise)
    return found


def _mechanism_panel(algorithm: str, kinds: Mapping[str, Sequence[Noise]]) -> Panel:
    every, looks = [noise for own in kinds.values() for noise in own], list(zip(SHADES, TEXTS, strict=True))

    def draw(axes: Axes) -> None:
        plot = Plot(axes, 1.0)
        plot.label(1.0, "claim", FAINT)
        for place, ((name, own), (colour, ink)) in enumerate(zip(kinds.items(), cycle(looks), strict=False)):
            shift, noises = 1.0 + 0.02 * (place - (len(kinds) - 1) / 2), _finite(own)
            for noise in noises:
                marker = KIND_MARKERS[noise.epsilon_real_kind]
                axes.plot(noise.epsilon_claimed * shift, noise.excess, marker, color=colour, markersize=3.2)
                plot.held.append(noise.excess)
            if noises:  # variant and options beside the last of its points
                last = max(noises, key=lambda noise: noise.epsilon_claimed)
                first, *rest = textwrap.wrap(name.replace("_", " ") or "as printed", 20)[:3]
                plot.label(last.excess, first, ink, *rest)
        axes.axhline(1.0, **DASHED)
        plot.finish([noise.epsilon_claimed for noise in every], "claimed ε", "real ε / claimed ε", room=0.1)

    bare, finite = any(math.isinf(noise.epsilon_real) for noise in every), _finite(every)
    said = "not private at all, something is released without noise" if bare else _spent(every)
    keys = {noise.epsilon_real_kind for noise in finite}
    return Panel(f"{algorithm.partition('.')[2]}: {said}", draw, symbols=tuple(sorted(keys)))


def _finite(noises: Iterable[Noise]) -> list[Noise]:
    return [noise for noise in noises if 0 < noise.epsilon_real < math.inf]


def _spent(noises: Sequence[Noise]) -> str:
    if above := [noise for noise in _finite(noises) if _above(noise)]:
        over = max(above, key=lambda noise: noise.excess)
        real = " ".join(filter(None, ("real ε", over.whose)))
        return f"{real} up to {PHRASES[over.epsilon_real_kind]}{number(over.excess)} times the claim"
    if all(noise.status == "proven" for noise in noises):
        return f"private, and spends at most {number(max(noise.excess for noise in noises))} of its claim"
    within = (noise.declared and noise.epsilon_real_kind in ("exact", "upper") and not noise.above for noise in noises)
    if all(noise.status == "proven" or own for noise, own in zip(noises, within, strict=True)):
        return "private if the declared constants hold"
    return "not shown to be private"
