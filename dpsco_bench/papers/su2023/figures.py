"""Figures of Su, Zhao, Wang 2023."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.report import elements
from dpsco_bench.report.axes import Plot
from dpsco_bench.report.drawing import INK, SHADES, TEXTS, Panel
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import is_number, slope
from dpsco_bench.report.own_figures import paper_figure
from dpsco_bench.report.wording import axis_labels, parameter_label, symbols

axis_labels(__name__, "su2023", {"width": "Gaussian width of the set"})

HEAVY_TAILS = (("su2023.thm10", ("n", "accounted")), ("su2023.thm11", ("n",)), ("su2023.thm12", ("mean_n-p2",)))
WIDTH = "Excess risk against the Gaussian width of the set"


@paper_figure(
    "su2023.width",
    WIDTH,
    "Measured, claims su2023.thm2 and su2023.thm4 under the paper's noise.",
    lambda inputs: width_message(inputs),
)
def width_panels(inputs: Inputs) -> Sequence[Panel]:
    """Excess risk against the Gaussian width: linear losses, then mean estimation."""
    linear = "Theorem 2, linear losses", {"width": "subspace", "width_ksupport": "k-support"}, "su2023.width_noise"
    means = "Theorem 4, mean estimation", {"width": "boundary", "interior": "interior"}, "su2023.width_noise_squared"
    panels = [_width_panel(inputs, "su2023.thm2", *linear), _width_panel(inputs, "su2023.thm4", *means)]
    return [panel for panel in panels if panel]


def width_message(inputs: Inputs) -> str:
    """Say where the risk follows the width, by the verdicts of the two theorems."""
    claims = [claim for claim in inputs.claims if claim.id in ("su2023.thm2", "su2023.thm4")]
    words = {row.part: row.word for claim in claims for row in claim.rows if row.calibration == "paper"}
    if words.get("width") == "match" and words.get("interior") not in ("match", None):
        return "The risk follows the Gaussian width where the optimum is on the boundary, and not where it is inside"
    return WIDTH


def _width_panel(inputs: Inputs, claim: str, title: str, parts: dict[str, str], formula: str) -> Panel | None:
    found = ((part, name, elements.sweep(inputs, claim, part, "paper")) for part, name in parts.items())
    shown = [(part, name, sizes) for part, name, sizes in found if sizes]
    if not shown:
        return None
    results, bound = inputs.claim(claim), get_bound(formula)
    rows = [row for row in results.rows if row.calibration == "paper" and is_number(row.slope)]
    slopes = {row.part: float(row.slope) for row in rows}
    bands = {"width_ksupport": results.parts["width_band"].band} if "width_band" in results.parts else {}

    def draw(axes: Axes) -> None:
        plot = Plot(axes)
        for (part, name, sizes), colour, ink in zip(shown, SHADES, TEXTS, strict=False):
            elements.draw_sweep(plot, sizes.points, colour, "o")
            said = f"{name} {slope(slopes[part])}" if part in slopes else name
            plot.label(sizes.points.mean[-1], said, ink, *["shaded: its band"] * (part in bands))
            if part in bands:
                low, high = np.outer(bands[part], [bound.value(cell.printed) for cell in sizes.cells])
                axes.fill_between(sizes.points.x, low, high, color=colour, alpha=0.15, lw=0)
                plot.held += [*low, *high]
        cells, points = shown[0][2]
        formula_line = elements.through(points, [bound.value(cell.printed) for cell in cells])
        axes.plot(points.x, formula_line, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        plot.label(formula_line[-1], "formula", INK)
        plot.finish([x for _, _, s in shown for x in s.points.x], "Gaussian width of the set", "excess risk")

    told = ", ".join(f"{name} {slope(slopes[part])}" for part, name, _ in shown if part in slopes)
    return Panel(f"{title}: slopes {told}", draw, f"formula: {symbols(bound.text)}", symbols=("mean",))


@paper_figure(
    "su2023.thm7_formulas",
    "Noisy regularised mirror descent beside its formula, with the logarithm and without",
    "Measured, claim su2023.thm7, part n; both formulas pass through the points.",
)
def formulas_panels(inputs: Inputs) -> Sequence[Panel]:
    return _in_n(inputs, "su2023.thm7", ("n",), {"with log": "su2023.thm7", "bare": "su2023.thm7_bare"})


@paper_figure(
    "su2023.heavy_tails",
    "Methods for heavy tails under the printed noise, under ours, and without noise",
    "Measured, claims su2023.thm10, su2023.thm11 and su2023.thm12, sweeps over n; formulas through the first.",
)
def tails_panels(inputs: Inputs) -> Sequence[Panel]:
    return [panel for claim, parts in HEAVY_TAILS for panel in _in_n(inputs, claim, parts)]


def _in_n(inputs: Inputs, claim: str, parts: Sequence[str], formulas: dict[str, str] | None = None) -> list[Panel]:
    """Draw the sweeps of the parts by calibration, the first part that has it, with bounds: by default its own."""
    shown = {}
    for calibration in ("paper", "accounted", "none"):
        found = (elements.sweep(inputs, claim, part, calibration) for part in parts)
        if sizes := next(filter(None, found), None):
            shown[calibration] = sizes
    if not shown:
        return []
    named = formulas or {"formula": inputs.claim(claim).parts[parts[0]].bound}
    lines = [(name, lambda cell, bound=bound: get_bound(bound).value(cell.printed)) for name, bound in named.items()]
    title, setting = claim.replace("su2023.thm", "Theorem ") + ", in n", elements.part_settings(inputs, claim, parts[0])
    return [elements.calibrations_panel(title, list(shown.items()), parameter_label("n"), lines, setting)]


elements.real_epsilon_figure(__name__, "su2023.real_epsilon")
