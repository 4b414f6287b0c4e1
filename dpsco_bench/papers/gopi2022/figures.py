"""Further panels of some claims: what a paper's study draws beside slopes and ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from scipy.optimize import brentq

from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.papers.gopi2022.tables import projected_queries
from dpsco_bench.plain import Options
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.report.axes import Plot
from dpsco_bench.report.drawing import COLOURS, FAINT, MARKERS, TEXT_COLOURS, Panel
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.numbers import count, is_number, number
from dpsco_bench.report.own_figures import claim_panels
from dpsco_bench.report.wording import axis_labels, symbols
from dpsco_bench.samplers.evidence import LARGEST_RHAT

axis_labels(
    __name__,
    "gopi2022",
    {
        "epsilon_pair": "exact ε of a pair of data sets",
        "tail_ratio": "tail / bound of the tail",
        "queries_per_call": "value queries per call",
        "relaxation_queries": "value queries to relax",
    },
)

BLACK = "#1a1a1a"
GUIDE: Options = dict(color=FAINT, linewidth=0.8, linestyle=(0, (3.5, 2)))
SMALL: Options = dict(size=6.5, va="center")
LABEL_HEIGHT = 0.16
"""Share of half the height of an axis."""
LEFTMOST = 1.0015
"""R-hat below which a label to the left would cross the axis."""
SHIFTED = 0.03
"""Horizontal distance of two calibrations that would cover each other, in decades."""


@claim_panels("gopi2022.bound")
def _cold_ratios(results: ClaimResults) -> list[Panel]:
    """Risk over bound against ``a = k G R/d`` of all cells of the grid."""
    series = []
    for kind, faces in (("erm-axis", "none"), ("erm-radial", None)):
        for calibration in ("paper", "accounted"):
            found = (results.evidence(part, calibration) for part in (kind, f"{kind}-diameter"))
            cells = [cell for part in found for cell in part if cell.risks.size]
            if cells:
                cold = [Temperature.of(c.schedule).at(c.scales["draw"])[0] / c.d for c in (e.context for e in cells)]
                ratios = [float(e.final.mean()) / get_bound("gopi2022.thm3").value(e.context) for e in cells]
                series.append((calibration, faces, np.array([cold, ratios]).T))
    if not series:
        return []

    def draw(axes: Axes) -> None:
        for calibration, faces, found in series:
            shift = 10 ** (SHIFTED * (1 if calibration == "paper" else -1))
            colour = COLOURS[calibration]
            look: Options = dict(markersize=2.6, markeredgewidth=0.6, markerfacecolor=faces or colour)
            axes.plot(found[:, 0] * shift, found[:, 1], MARKERS[calibration], color=colour, **look)
        axes.set_xscale("log")
        axes.set_xlabel("a = k G R/d (right: the draw is cold)")
        axes.set_ylim(0.0, 1.06)
        axes.set_ylabel("excess risk / bound of Theorem 3")
        axes.axhline(1.0, color=FAINT, linewidth=0.8, linestyle=(0, (4, 2)))
        axes.axhline(0.5, color=FAINT, linewidth=0.7, linestyle=(0, (1, 2)))
        for y, text in ((1.0, "bound"), (0.5, "½")):
            axes.text(1.03, y, text, transform=axes.get_yaxis_transform(), color=FAINT, **SMALL)
        for y, calibration in ((0.8, "paper"), (0.7, "accounted")):
            colour, text = COLOURS[calibration], TEXT_COLOURS[calibration]
            axes.plot(1.05, y, MARKERS[calibration], color=colour, transform=axes.transAxes, clip_on=False)
            axes.text(1.09, y, calibration, transform=axes.transAxes, color=text, **SMALL)

    worst = max(float(found[:, 1].max()) for *_, found in series)
    size = sum(len(found) for *_, found in series)
    line = "filled: radius, whose cold draws tend to ½; open: axis; all n, d, p and ε of the grid"
    return [Panel(f"No cell of {size} uses more than {worst:.3f} of the bound", draw, line)]


@claim_panels("gopi2022.thm3.privacy")
def _curves(results: ClaimResults) -> list[Panel]:
    """Epsilon of the law against the claim for S = G and S = 2G."""
    delta = 1e-5
    claims = np.geomspace(0.05, 12.0, 60).tolist()
    laws = {factor: [_law_epsilon(factor, e, delta) for e in claims] for factor in (1.0, 2.0)}

    def draw(axes: Axes) -> None:
        plot = Plot(axes)
        for factor, colour, text in ((2.0, COLOURS["paper"], "S = 2G"), (1.0, "#009E73", "S = G")):
            plot.line(claims, laws[factor], text, colour)
        plot.line(claims, claims, "claim", FAINT, **GUIDE)
        axes.fill_between(claims, claims, 100.0, color="#D55E00", alpha=0.06, linewidth=0)
        axes.text(0.055, 14.0, "above the claim", color=TEXT_COLOURS["accounted"], **SMALL)
        plot.finish((0.05, 0.2, 1.0, 4.0, 12.0), "claimed ε", "bound on ε of the target law")

    # claims above which the law's epsilon exceeds them
    below, above = (brentq(lambda e, S=S: _law_epsilon(S, e, delta) - e, 1e-4, 50.0, rtol=1e-6) for S in (1.0, 2.0))
    line = f"t = ε/√(2 ln(1/(2δ))), δ = {number(delta)}; S = G only up to ε = {number(below, 2)} (E1, E2)"
    title = f"With S = 2G the bound on the law is above every claim from ε = {number(above, 2)} on"
    return [Panel(title, draw, line)]


def _law_epsilon(factor: float, epsilon: float, delta: float) -> float:
    """Epsilon of the target law with ``S = factor G`` at the paper's temperature for a claimed epsilon."""
    return gdp_epsilon(factor * epsilon / math.sqrt(2 * math.log(0.5 / delta)), delta)


@claim_panels("gopi2022.prop9")
def _projections(results: ClaimResults) -> list[Panel]:
    """Projected number of value queries against n."""
    ns = [int(n) for n in np.unique(np.geomspace(10, 3000, 11).round())]

    def draw(axes: Axes) -> None:
        plot, look = Plot(axes), {"marker": MARKERS["accounted"], "markersize": 3}
        plot.line(ns, [projected_queries(n) for n in ns], "queries per draw", COLOURS["accounted"], **look)
        plot.line(ns, ns, "N = n", FAINT, **GUIDE)
        plot.finish((10, 30, 100, 300, 1000, 3000), "records n", "value queries N")

    few, many = (projected_queries(n) for n in (20, 1000))
    title = f"A draw that proves (1, 10⁻⁶) takes {count(few)} value queries at n = 20, {count(many)} at n = 1000"
    return [Panel(title, draw, "cube, d = 4, accounted; N = 4 e T of the alternating sampler")]


@claim_panels("gopi2022.cor2.erm")
def _slopes(results: ClaimResults) -> list[Panel]:
    """Measured slopes against those of the bounds."""
    found = [
        (row.bound_slope, row.slope, row.calibration, row.parameter)
        for row in results.rows
        if row.rules.measures_slope and is_number(row.slope)
    ]
    if not found:
        return []

    def draw(axes: Axes) -> None:
        ends = [min(f[0] for f in found) - 0.2, max(f[0] for f in found) + 0.2]
        axes.plot(ends, ends, **GUIDE)
        for bound, slope, calibration, _ in found:
            axes.plot(bound, slope, MARKERS[calibration], color=COLOURS[calibration], markersize=4, alpha=0.75)
        for parameter in dict.fromkeys(f[3] for f in found):
            at = next((f[0], f[1]) for f in found if f[3] == parameter)
            beside, side = ((-9, 7), "center") if parameter == "epsilon" else ((6, -8), "left")
            look: Options = dict(textcoords="offset points", size=7, color=BLACK, ha=side, va="center")
            axes.annotate(symbols(parameter), at, beside, **look)
        axes.set_xlabel("slope of the bound")
        axes.set_ylabel("measured slope")
        axes.set_aspect("equal", adjustable="datalim")

    most = max(abs(slope - bound) for bound, slope, *_ in found)
    line = "a point per sweep, letters: its parameter; circles: paper noise, squares: accounted"
    return [Panel(f"Measured slopes are within {number(most, 2)} of those of the bounds", draw, line)]


def _named_points(axes: Axes, points: Sequence[tuple[float, float, float]], reach: float) -> None:
    """Points (R-hat, z, n) with n beside them: left of all but the last, and farther up where labels would meet."""
    last = max(p[0] for p in points)
    free = {-1: -reach, 1: -reach}
    for rhat, z, n in sorted(points, key=lambda point: point[1]):
        side = -1 if LEFTMOST < rhat < last else 1
        at = max(z, free[side])
        free[side] = at + LABEL_HEIGHT * reach
        axes.plot(rhat, z, "o", color=COLOURS["paper"], markersize=4)
        leader = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
        look: Options = dict(textcoords=("offset points", "data"), color=BLACK, ha="right" if side < 0 else "left")
        axes.annotate(f"n = {n:g}", (rhat, z), (7 * side, at), arrowprops=leader if at > z else None, **look, **SMALL)


@claim_panels("gopi2022.cor3.erm", "gopi2022.cor5.1")
def _chains(results: ClaimResults) -> list[Panel]:
    """Distance of chains from quadrature in standard errors, beside R-hat."""
    points = []
    for part in results.parts.values():
        if not part.rules.knows_the_law or part.quantity != "chain_risk":
            continue
        for calibration in part.calibrations:
            for cell in results.evidence(part.id, calibration):
                if "rhat" in cell.extras:
                    risks = cell.extras["chain_risk"].ravel()
                    exact = get_bound(part.bound).value(cell.context)
                    error = risks.std(ddof=1) / math.sqrt(risks.size)
                    points.append((float(cell.extras["rhat"].max()), (risks.mean() - exact) / error, cell.value))
    if not points:
        return []

    def draw(axes: Axes) -> None:
        axes.axhspan(-3.0, 3.0, color="#009E73", alpha=0.1, linewidth=0)
        axes.axvline(LARGEST_RHAT, **GUIDE)
        reach = max(4.0, 1.2 * max(abs(p[1]) for p in points))
        _named_points(axes, points, reach)
        axes.set_ylim(-reach, reach)
        axes.set_xlim(0.9985, max(1.0125, 1.002 * max(p[0] for p in points)))
        axes.set_xlabel("R-hat (dashed: the gate)")
        axes.set_ylabel("(chains - quadrature) / s.e.")

    worst = max(abs(p[1]) for p in points)
    return [Panel(f"Chains are at most {worst:.2g} standard errors from the law that quadrature knows", draw)]
