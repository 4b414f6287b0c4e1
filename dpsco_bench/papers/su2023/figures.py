"""Figures of Su, Zhao, Wang 2023."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.report.axes import EndLabel, label_ends, log_y
from dpsco_bench.report.drawing import INK, Line, Panel
from dpsco_bench.report.elements import (
    PALETTE,
    Sizes,
    calibrations_panel,
    draw_sweep,
    part_settings,
    real_epsilon_figure,
    sparse_axis,
    sweep,
    through,
)
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import with_interval
from dpsco_bench.report.own_figures import paper_figure
from dpsco_bench.report.wording import axis_labels, parameter_label, symbols

axis_labels(__name__, {"width": "Gaussian width of the set"})

CALIBRATIONS = ("paper", "accounted", "none")
HEAVY_TAILS = (
    ("su2023.thm10", ("n", "accounted")),
    ("su2023.thm11", ("n",)),
    ("su2023.thm12", ("mean_n-p2",)),
)


@paper_figure(
    "su2023.width",
    "Excess risk against the Gaussian width of the set",
    "Measured, claims su2023.thm2 and su2023.thm4 under the paper's noise.",
)
def width_panels(inputs: Inputs) -> Sequence[Panel]:
    """Excess risk against the Gaussian width: linear losses, then mean estimation."""
    linear = _named(inputs, "su2023.thm2", {"width": "subspace", "width_ksupport": "k-support"})
    means = _named(inputs, "su2023.thm4", {"width": "boundary", "interior": "interior"})
    panels = []
    if linear:
        band = _band(inputs, "su2023.thm2", "width_band")
        panels.append(
            _width_panel("Theorem 2, linear losses", linear, _slopes(inputs, "su2023.thm2"), "su2023.width_noise", band)
        )
    if means:
        panels.append(
            _width_panel(
                "Theorem 4, mean estimation", means, _slopes(inputs, "su2023.thm4"), "su2023.width_noise_squared", None
            )
        )
    return panels


def _named(inputs: Inputs, claim: str, parts: dict[str, str]) -> list[tuple[str, str, Sizes]]:
    found = [(part, name, sweep(inputs, claim, part, "paper")) for part, name in parts.items()]
    return [(part, name, sizes) for part, name, sizes in found if sizes is not None]


def _slopes(inputs: Inputs, claim: str) -> dict[str, str]:
    """Slopes with their intervals by part, as the verdicts have them."""
    rows = inputs.claim(claim).rows
    return {row.part: with_interval(row.slope, row.ci) for row in rows if row.calibration == "paper"}


def _band(inputs: Inputs, claim: str, part: str) -> tuple[float, float] | None:
    results = next((found for found in inputs.claims if found.id == claim), None)
    found = results.parts.get(part) if results else None
    low, high = found.band if found and found.band else (0.0, 0.0)
    return (low, high) if 0 < low < high else None


def _width_panel(
    title: str,
    shown: Sequence[tuple[str, str, Sizes]],
    slopes: Mapping[str, str],
    formula: str,
    band: tuple[float, float] | None,
) -> Panel:
    bound = get_bound(formula)
    lines = [Line(f"formula: {symbols(bound.text)}, drawn through the first sweep")]
    if band:
        lines.append(Line(f"shaded: {band[0]:g} to {band[1]:g} times the formula, for the k-support norms"))
    for (part, name, _), colour in zip(shown, PALETTE, strict=False):
        lines.append(Line(f"{name}: slope {slopes[part]}", colour, "o"))

    def draw(axes: Axes) -> None:
        ends: list[float] = []
        labels = []
        for (part, name, sizes), colour in zip(shown, PALETTE, strict=False):
            ends += draw_sweep(axes, sizes.points, colour, "o")
            labels.append(EndLabel(sizes.points.mean[-1], name, colour))
            values = np.array([bound.value(cell.printed) for cell in sizes.cells])
            if band and part == "width_ksupport":
                axes.fill_between(sizes.points.x, band[0] * values, band[1] * values, color=colour, alpha=0.15, lw=0)
                ends += [*(band[0] * values), *(band[1] * values)]
        cells, points = shown[0][2]
        values = through(points, [bound.value(cell.printed) for cell in cells])
        axes.plot(points.x, values, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        sparse_axis(axes, sorted({x for _, _, s in shown for x in s.points.x}), "Gaussian width of the set")
        log_y(axes, ends, "excess risk")
        label_ends(axes, labels)

    return Panel(title, draw, lines)


@paper_figure(
    "su2023.thm7_formulas",
    "Noisy regularised mirror descent: the formula with its logarithm and the bare power",
    "Measured, claim su2023.thm7, part n.",
)
def formulas_panels(inputs: Inputs) -> Sequence[Panel]:
    """Theorem 7's sweep over n with the formula and with the bare power."""
    shown = _calibrated(inputs, "su2023.thm7", ("n",))
    if not shown:
        return []
    formulas = [
        ("with log", lambda cell: get_bound("su2023.thm7").value(cell.printed)),
        ("bare", lambda cell: get_bound("su2023.thm7_bare").value(cell.printed)),
    ]
    lines = [
        part_settings(inputs, "su2023.thm7", "n"),
        Line(f"dashed: {symbols(get_bound('su2023.thm7').text)}"),
        Line(f"dotted: {symbols(get_bound('su2023.thm7_bare').text)}; both through the points"),
    ]
    return [calibrations_panel("Theorem 7, n", shown, parameter_label("n"), formulas, lines)]


@paper_figure(
    "su2023.heavy_tails",
    "Methods for heavy tails under three calibrations",
    "Measured, claims su2023.thm10, su2023.thm11 and su2023.thm12, sweeps over n. Headings say where a "
    "noise is not private, or not shown to be.",
)
def tails_panels(inputs: Inputs) -> Sequence[Panel]:
    """Sweeps over n of the methods for heavy tails in all calibrations that were run."""
    panels = []
    for claim, parts in HEAVY_TAILS:
        shown = _calibrated(inputs, claim, parts)
        if shown:
            bound = next(c for c in inputs.claims if c.id == claim).parts[parts[0]].bound
            formulas = [("formula", lambda cell, bound=bound: get_bound(bound).value(cell.printed))]
            lines = [
                part_settings(inputs, claim, parts[0]),
                Line(f"dashed: {symbols(get_bound(bound).text)}, through the first calibration"),
            ]
            panels.append(
                calibrations_panel(
                    claim.replace("su2023.thm", "Theorem "), shown, parameter_label("n"), formulas, lines
                )
            )
    return panels


def _calibrated(inputs: Inputs, claim: str, parts: Sequence[str]) -> list[tuple[str, Sizes]]:
    """Sweeps of the parts by calibration, the first part that has it."""
    shown: dict[str, Sizes] = {}
    for calibration in CALIBRATIONS:
        for part in parts:
            found = sweep(inputs, claim, part, calibration)
            if found is not None and calibration not in shown:
                shown[calibration] = found
    return list(shown.items())


real_epsilon_figure(__name__, "su2023.real_epsilon")
