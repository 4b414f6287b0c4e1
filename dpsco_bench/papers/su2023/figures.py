"""Figures of Su, Zhao, Wang 2023."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.report.axes import EndLabel, label_ends, log_y
from dpsco_bench.report.drawing import INK, SHADES, TEXTS, Panel
from dpsco_bench.report.elements import (
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
from dpsco_bench.report.numbers import is_number, slope
from dpsco_bench.report.own_figures import paper_figure
from dpsco_bench.report.wording import axis_labels, parameter_label, symbols

axis_labels(__name__, "su2023", {"width": "Gaussian width of the set"})

CALIBRATIONS = ("paper", "accounted", "none")
HEAVY_TAILS = (("su2023.thm10", ("n", "accounted")), ("su2023.thm11", ("n",)), ("su2023.thm12", ("mean_n-p2",)))


@paper_figure(
    "su2023.width",
    "Excess risk against the Gaussian width of the set",
    "Measured, claims su2023.thm2 and su2023.thm4 under the paper's noise.",
    lambda inputs: width_message(inputs),
)
def width_panels(inputs: Inputs) -> Sequence[Panel]:
    """Excess risk against the Gaussian width: linear losses, then mean estimation."""
    linear = _named(inputs, "su2023.thm2", {"width": "subspace", "width_ksupport": "k-support"})
    means = _named(inputs, "su2023.thm4", {"width": "boundary", "interior": "interior"})
    panels = []
    if linear:
        band = _band(inputs, "su2023.thm2", "width_band")
        panels.append(
            _width_panel("Theorem 2, linear losses", linear, "su2023.width_noise", band, inputs, "su2023.thm2")
        )
    if means:
        panels.append(
            _width_panel("Theorem 4, mean estimation", means, "su2023.width_noise_squared", None, inputs, "su2023.thm4")
        )
    return panels


def width_message(inputs: Inputs) -> str:
    """Say where the risk follows the width, by the verdicts of the two theorems."""
    words = {
        row.part: row.word
        for claim in inputs.claims
        if claim.id in ("su2023.thm2", "su2023.thm4")
        for row in claim.rows
        if row.calibration == "paper"
    }
    if words.get("width") == "match" and words.get("interior") not in ("match", None):
        return "The risk follows the Gaussian width where the optimum is on the boundary, and not where it is inside"
    return "Excess risk against the Gaussian width of the set"


def _named(inputs: Inputs, claim: str, parts: dict[str, str]) -> list[tuple[str, str, Sizes]]:
    found = [(part, name, sweep(inputs, claim, part, "paper")) for part, name in parts.items()]
    return [(part, name, sizes) for part, name, sizes in found if sizes is not None]


def _slopes(inputs: Inputs, claim: str) -> dict[str, float]:
    """Slopes by part, as the verdicts have them; those that there are."""
    rows = inputs.claim(claim).rows
    return {row.part: float(row.slope) for row in rows if row.calibration == "paper" and is_number(row.slope)}


def _band(inputs: Inputs, claim: str, part: str) -> tuple[float, float] | None:
    results = next((found for found in inputs.claims if found.id == claim), None)
    found = results.parts.get(part) if results else None
    low, high = found.band if found and found.band else (0.0, 0.0)
    return (low, high) if 0 < low < high else None


def _width_panel(
    title: str,
    shown: Sequence[tuple[str, str, Sizes]],
    formula: str,
    band: tuple[float, float] | None,
    inputs: Inputs,
    claim: str,
) -> Panel:
    bound, slopes = get_bound(formula), _slopes(inputs, claim)

    def draw(axes: Axes) -> None:
        ends: list[float] = []
        labels = []
        for (part, name, sizes), colour, ink in zip(shown, SHADES, TEXTS, strict=False):
            ends += draw_sweep(axes, sizes.points, colour, "o")
            more = (("shaded: its band", ink),) if band and part == "width_ksupport" else ()
            said = f"{name} {slope(slopes[part])}" if part in slopes else name
            labels.append(EndLabel(sizes.points.mean[-1], said, ink, more))
            values = np.array([bound.value(cell.printed) for cell in sizes.cells])
            if band and part == "width_ksupport":
                axes.fill_between(sizes.points.x, band[0] * values, band[1] * values, color=colour, alpha=0.15, lw=0)
                ends += [*(band[0] * values), *(band[1] * values)]
        cells, points = shown[0][2]
        values = through(points, [bound.value(cell.printed) for cell in cells])
        axes.plot(points.x, values, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        labels.append(EndLabel(values[-1], "formula", INK))
        sparse_axis(axes, sorted({x for _, _, s in shown for x in s.points.x}), "Gaussian width of the set")
        log_y(axes, ends, "excess risk")
        label_ends(axes, labels)

    told = ", ".join(f"{name} {slope(slopes[part])}" for part, name, _ in shown if part in slopes)
    return Panel(f"{title}: slopes {told}", draw, f"formula: {symbols(bound.text)}", symbols=("mean",))


@paper_figure(
    "su2023.thm7_formulas",
    "Noisy regularised mirror descent beside its formula, with the logarithm and without",
    "Measured, claim su2023.thm7, part n; both formulas pass through the points.",
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
    line = part_settings(inputs, "su2023.thm7", "n")
    return [calibrations_panel("Theorem 7, in n", shown, parameter_label("n"), formulas, line)]


@paper_figure(
    "su2023.heavy_tails",
    "Methods for heavy tails under the printed noise, under ours, and without noise",
    "Measured, claims su2023.thm10, su2023.thm11 and su2023.thm12, sweeps over n; formulas through the first.",
)
def tails_panels(inputs: Inputs) -> Sequence[Panel]:
    """Sweeps over n of the methods for heavy tails in all calibrations that were run."""
    panels = []
    for claim, parts in HEAVY_TAILS:
        shown = _calibrated(inputs, claim, parts)
        if shown:
            bound = next(c for c in inputs.claims if c.id == claim).parts[parts[0]].bound
            formulas = [("formula", lambda cell, bound=bound: get_bound(bound).value(cell.printed))]
            line = part_settings(inputs, claim, parts[0])
            title = f"{claim.replace('su2023.thm', 'Theorem ')}, in n"
            panels.append(calibrations_panel(title, shown, parameter_label("n"), formulas, line))
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
