"""Figures of Bassily, Guzman, Nandi 2021: the paper has none, these are ours."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from dpsco_bench.claims.bounds.registry import compiled
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.bassily2021.bounds import FRANK_WOLFE, MIRROR_DESCENT
from dpsco_bench.papers.bassily2021.laws import largest_excess
from dpsco_bench.report import elements
from dpsco_bench.report.axes import Plot, tick_text
from dpsco_bench.report.drawing import COLOURS, FAINT, INK, SHADES, Panel
from dpsco_bench.report.elements import sweep
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import number, span
from dpsco_bench.report.own_figures import paper_figure
from dpsco_bench.report.panels import Series

DIMENSIONS = tuple(2.0**power for power in range(2, 17))
VERTICES = tuple(2**power for power in range(2, 15))
RULES = {"best": "least over r", "sec2": "r = ln d", "two_ln_d": "r = 2 ln d + 1", "q": "r = q"}
"""Rules for the exponent r of the smooth norm -> what stands at their curves."""
BLUE_TO_ORANGE = LinearSegmentedColormap.from_list("methods", ["#0072B2", "#f7f7f7", "#D55E00"])


@paper_figure(
    "bassily2021.kappa_rules",
    "The constant κ_q that is proved, beside the printed one",
    "Closed formulas (Bassily, Guzman, Nandi 2021, Section 2; Su, Zhao, Wang 2023, Section 2).",
)
def kappa_panels(inputs: Inputs) -> Sequence[Panel]:
    """Draw the kappa_q of every rule against d, by closed formulas; nothing of the profile is needed."""
    return [_kappa_panel(p) for p in (1.0, 1.05)]


def _kappa_panel(p: float) -> Panel:
    rules = {rule: colour for rule, colour in zip(RULES, SHADES, strict=False) if p > 1 or rule != "q"}
    printed = {"2 ln d": lambda d: 2 * math.log(d), "e²(ln d − 1)": lambda d: math.e**2 * (math.log(d) - 1)}
    cap = math.inf if p == 1 else 1 / (p - 1)

    def draw(axes: Axes) -> None:
        plot = Plot(axes)
        for rule, colour in rules.items():
            proved = [SmoothNorm(p, int(d), rule).kappa for d in DIMENSIONS]
            plot.line(DIMENSIONS, proved, RULES[rule], colour, linewidth=2.4 if rule == "best" else 1.0)
        for dashes, (name, formula) in zip(((0, (4, 2)), (0, (1, 1.5))), printed.items(), strict=True):
            plot.line(DIMENSIONS, [min(cap, formula(d)) for d in DIMENSIONS], name, INK, linestyle=dashes)
        plot.finish(DIMENSIONS, "dimension d", "κ_q")

    capped = "" if p == 1 else f", at most {cap:.3g}"
    ratio = SmoothNorm(p, int(DIMENSIONS[-1]), "best").kappa / min(cap, printed["2 ln d"](DIMENSIONS[-1]))
    title = f"p = {p:g}: the best that is proved is {number(ratio, 2)} times 2 ln d at d = {tick_text(DIMENSIONS[-1])}"
    return Panel(title, draw, f"coloured: proved, by the rule for r; dashed, dotted: as printed{capped} (E5)")


@paper_figure(
    "bassily2021.saturation",
    "Frank-Wolfe on the cross-polytope: from which n on it leaves its start, by the noise",
    "Measured, claim bassily2021.thm4, part saturation.",
)
def saturation_panels(inputs: Inputs) -> Sequence[Panel]:
    found = {c: sweep(inputs, "bassily2021.thm4", "saturation", c) for c in ("paper", "accounted")}
    shown = [(calibration, sizes) for calibration, sizes in found.items() if sizes is not None]
    if not shown:
        return []
    line = elements.part_settings(inputs, "bassily2021.thm4", "saturation")
    scales = [span(cell.calibrated.scales["vertex"] for cell in sizes.cells) for _, sizes in shown]
    told = "; ".join(f"{calibration} {scale}" for (calibration, _), scale in zip(shown, scales, strict=True))
    return [
        elements.calibrations_panel(f"Laplace scale of the last step: {told}", shown, "number of records n", line=line)
    ]


@paper_figure(
    "bassily2021.vertices",
    "The risk of noisy Frank-Wolfe against the number of vertices, and its exact law",
    "Exact law, and claim bassily2021.thm4, part lnk.",
)
def vertices_panels(inputs: Inputs) -> Sequence[Panel]:
    """Draw the exact law of the noise-dominated regime against K, with the measured values."""
    claim = inputs.find("bassily2021.thm4")
    row = next((r for r in claim.rows if r.part == "lnk_law" and r.values), None) if claim else None

    def draw(axes: Axes) -> None:
        plot = Plot(axes)
        plot.line(VERTICES, [largest_excess(K) for K in VERTICES], "h(K)", INK, linewidth=1.1)
        plot.line(VERTICES, [math.log(K) for K in VERTICES], "ln K", FAINT, linestyle=(0, (4, 2)))
        if row is not None:
            K = 2 * np.array(row.values, dtype=float)
            unit = np.array([largest_excess(int(k)) for k in K]) / np.array(row.bound, dtype=float)
            mean, half = np.array(row.mean) * unit, 2 * np.nan_to_num(np.array(row.stderr, dtype=float)) * unit
            points = Series(K, mean, mean - half, mean + half, np.zeros(len(K)), np.zeros(len(K)))
            elements.draw_sweep(plot, points, COLOURS["paper"], "o")
        plot.finish(VERTICES, "number of vertices K", "excess risk / b_N")

    law, logarithm = (f(VERTICES[-1]) / f(VERTICES[0]) for f in (largest_excess, math.log))
    ends = f"From K = {VERTICES[0]} to {tick_text(VERTICES[-1])}"
    title = f"{ends} the law h grows {number(law, 2)} times, ln K {number(logarithm, 2)} times"
    return [Panel(title, draw, "h(K) = sup_u u (1 − P₊ + P₋); b_N: last Laplace scale; points: measured, ± 2 s.e.")]


@paper_figure(
    "bassily2021.smd_sfw_map",
    "Mirror descent against Frank-Wolfe over (n, d)",
    "Measured, claim bassily2021.smd_sfw.",
    lambda inputs: map_message(ratios(inputs)),
)
def map_panels(inputs: Inputs) -> Sequence[Panel]:
    """Divide Frank-Wolfe's risk by mirror descent's, cell by cell."""
    found = ratios(inputs)
    if not found:
        return []
    dimensions, sizes = (sorted(set(values)) for values in zip(*found, strict=True))
    grid = np.array([[math.log2(found[d, n][0]) if (d, n) in found else math.nan for n in sizes] for d in dimensions])
    reach = max(1.0, float(np.nanmax(np.abs(grid))))

    def draw(axes: Axes) -> None:
        axes.pcolormesh(grid, cmap=BLUE_TO_ORANGE, vmin=-reach, vmax=reach, edgecolors="white", linewidth=1.0)
        for (d, n), both in found.items():
            x, y, (measured, bounds) = sizes.index(n) + 0.5, dimensions.index(d), (number(ratio, 2) for ratio in both)
            axes.text(x, y + 0.6, measured, ha="center", va="center", size=8, color=INK)
            axes.text(x, y + 0.25, bounds, ha="center", va="center", size=5.5)
        axes.set_xticks(np.arange(len(sizes)) + 0.5, [tick_text(n) for n in sizes])
        axes.set_yticks(np.arange(len(dimensions)) + 0.5, [tick_text(d) for d in dimensions])
        axes.tick_params(length=0)
        axes.grid(False)
        axes.set_xlabel("number of records n")
        axes.set_ylabel("dimension d")

    line = "p = 1.5, ε = 1; orange, above 1: mirror descent has less"
    return [Panel("Risk of noisy_sfw over that of noisy_smd; small: of their bounds", draw, line)]


def ratios(inputs: Inputs) -> dict[tuple[int, int], tuple[float, float]]:
    """Frank-Wolfe's risk over mirror descent's by (d, n), as measured and of their bounds."""
    claim = inputs.find("bassily2021.smd_sfw")
    above, below = (compiled("bassily2021.thm9", text) for text in (FRANK_WOLFE, MIRROR_DESCENT))
    found = {}
    for part in claim.parts if claim else ():
        first, second = (sweep(inputs, "bassily2021.smd_sfw", part, "paper", m) for m in ("noisy_sfw", "noisy_smd"))
        if first and second:
            measured = first.points.mean / second.points.mean
            for one, other, ratio in zip(first.cells, second.cells, measured, strict=True):
                found[one.context.d, int(one.value)] = ratio, above(one.printed) / below(other.printed)
    return found


def map_message(found: dict[tuple[int, int], tuple[float, float]]) -> str:
    if not found:
        return "Mirror descent against Frank-Wolfe: not measured together"
    better = sum(measured > 1 for measured, _ in found.values())
    return f"Mirror descent has less risk than Frank-Wolfe at {better} of {len(found)} sizes"


elements.real_epsilon_figure(__name__, "bassily2021.real_epsilon")
