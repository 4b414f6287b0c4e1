"""Figures of Wang, Ye, Xu 2017: the looks of its methods, and where the noise, not the schedule, makes the risk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.papers.wang2017.algorithms.dp_accmd import least_noise_constant
from dpsco_bench.papers.wang2017.laws.accelerated import Floats, noise_share, reach_of
from dpsco_bench.papers.wang2017.problems.resolved_quadratic_l2 import CURVATURES
from dpsco_bench.report.axes import tick_text
from dpsco_bench.report.drawing import FAINT, INK, Line, Panel
from dpsco_bench.report.elements import Sizes, sweep
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.method_styles import MethodStyle, method_styles
from dpsco_bench.report.numbers import number, span
from dpsco_bench.report.own_figures import paper_figure
from dpsco_bench.report.wording import symbols

EPSILON, DELTA = 1.0, 1e-5
MOST_RECORDS, FEWEST_DIMENSIONS, STEEPEST = 2**20, 16, 2 / 3
"""The corner of the map: L R/G is at most 2/3 where the minimiser lies half-way to the boundary and h = L."""
CLAIMED = f"ε = {EPSILON:g}, δ = {symbols(f'{DELTA:.0e}')}"
STIFFNESS = np.geomspace(1e-4, 1.0, 73)
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
SHADES = ListedColormap(["#0072B2", "#9cc4e2", "#f0b98d", "#D55E00"])
FITTED = 0.5
"""Share of the starting risk above which a cell is not fitted."""
AVERAGE = "of DP-SVRG(++) an average"
"""What DP-SVRG and DP-SVRG++ return, which may lie far below their iterates."""

method_styles(
    __name__,
    "wang2017",
    {
        "dp_svrg_bb": MethodStyle("DP-SVRG, Barzilai-Borwein step", "#D55E00", returns=AVERAGE),
        "dp_svrg": MethodStyle("DP-SVRG, constant step", "#CC79A7", (0, (5, 1.2)), returns=AVERAGE),
        "dp_gd": MethodStyle("DP-GD", "#0072B2"),
        "dp_gd_40": MethodStyle("DP-GD, T = 40", "#56B4E9", (0, (1, 1))),
        "dp_gd_120": MethodStyle("DP-GD, T = 120", "#56B4E9", (0, (3, 1.2))),
        "dp_gd_200": MethodStyle("DP-GD, T = 200", "#56B4E9", (0, (6, 1.2, 1, 1.2))),
        "dp_svrg_pp": MethodStyle("DP-SVRG++", "#D55E00", returns=AVERAGE),
        "dp_gd_1_over_L": MethodStyle("DP-GD, step 1/L", "#56B4E9"),
        "dp_gd_1_over_L_40": MethodStyle("DP-GD, step 1/L, T = 40", "#E69F00", (0, (1, 1))),
        "dp_gd_1_over_L_120": MethodStyle("DP-GD, step 1/L, T = 120", "#E69F00", (0, (3, 1.2))),
        "dp_gd_1_over_L_200": MethodStyle("DP-GD, step 1/L, T = 200", "#E69F00", (0, (6, 1.2, 1, 1.2))),
        "output_perturbation": MethodStyle("output perturbation (end)", "#009E73", end_only=True),
    },
)


@paper_figure(
    "wang2017.noise_share",
    "Where DP-AccMD's noise makes the risk, and where its schedule does",
    "Closed form on quadratics inside an l2 ball, minimiser half-way to its boundary, with the printed number of "
    "steps; points: claim wang2017.thm5.4, parts round_l2-n and resolved_quadratic_l2-n.",
)
def noise_panels(inputs: Inputs) -> Sequence[Panel]:
    """Share of the risk that is left with noise off, over everything that it depends on."""
    return [_map(inputs, "paper", 1.0), _map(inputs, "accounted", least_noise_constant(EPSILON, DELTA))]


@lru_cache(maxsize=4)
def shares(constant: float) -> tuple[Floats, Floats, Floats]:
    """Reaches ``(r,)``; by reach and h/L, the share left with noise off and the risk over the starting one."""
    most = reach_of(MOST_RECORDS, FEWEST_DIMENSIONS, EPSILON, DELTA, STEEPEST)
    reaches = np.geomspace(5.0, most, 73)
    cells = [noise_share(reach, STIFFNESS, constant=constant) for reach in reaches]
    return reaches, np.array([cell.off for cell in cells]), np.array([cell.risk for cell in cells])


def _map(inputs: Inputs, calibration: str, constant: float) -> Panel:
    reaches, off, risk = shares(constant)

    def draw(axes: Axes) -> None:
        axes.contourf(reaches, STIFFNESS, off.T, levels=LEVELS, cmap=SHADES)
        axes.contour(reaches, STIFFNESS, risk.T, levels=[FITTED], colors=INK, linewidths=0.9, linestyles="dashed")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.text(0.1, 0.12, "schedule", transform=axes.transAxes, size=8, color="white", weight="bold")
        axes.text(0.9, 0.86, "noise", transform=axes.transAxes, size=8, color="white", weight="bold", ha="right")
        for found, marker in _measured(inputs, calibration):
            for cell in found.cells:
                low, high = _stiffness(cell.context.schedule["steps"], marker)
                x = _reach(cell)
                axes.plot([x, x], [low, high], "-", color=INK, linewidth=1.2)
                axes.plot(x, sqrt(low * high), marker, color=INK, markersize=3.6)
        axes.set_ylim(STIFFNESS[0], 1.4)
        axes.set_xlabel("(L R/G) n ε / √(d ln(1/δ))")
        axes.set_ylabel("curvature h / L")
        axes.grid(False)

    return Panel(f"{calibration} noise, c = {number(constant)}", draw, _lines(inputs, calibration, constant))


def _stiffness(steps: int, marker: str) -> tuple[float, float]:
    """h/L of a measured cell: 1 of the fixed instance, the family's range else."""
    return (1.0, 1.0) if marker == "o" else (min(1.0, CURVATURES[0] / steps), min(1.0, CURVATURES[1] / steps))


def _reach(cell: CellEvidence) -> float:
    """Of a measured cell, whose gradients' bound is 1."""
    c = cell.context
    return reach_of(c.n, c.d, c.epsilon, c.delta, c.constants.smoothness * 0.5 * c.constants.diameter)


def _measured(inputs: Inputs, calibration: str) -> list[tuple[Sizes, str]]:
    parts = (("round_l2-n", "o"), ("resolved_quadratic_l2-n", "s"))
    found = [(sweep(inputs, "wang2017.thm5.4", part, calibration), marker) for part, marker in parts]
    return [(sizes, marker) for sizes, marker in found if sizes is not None]


def _lines(inputs: Inputs, calibration: str, constant: float) -> list[Line]:
    reaches, off, risk = shares(constant)
    driven = (off < 0.5) & (risk < FITTED)
    first = reaches[driven.any(axis=1)][0]
    steps = noise_share(first, 1.0).steps
    lines = [
        Line("shade: share of the risk left with noise off, edges at " + ", ".join(map(str, LEVELS[1:-1]))),
        Line("blue: the noise makes more than half of the risk"),
        Line("below the dashed line the risk is more than half of the start's"),
        Line(f"above it the noise makes the risk somewhere from {number(first, 2)} on, T = {steps}"),
        Line(f"right end: n = {tick_text(MOST_RECORDS)}, d = {FEWEST_DIMENSIONS}, {CLAIMED}, L R/G = 2/3"),
    ]
    names = {"o": "round_quadratic, h = L", "s": "resolved_quadratic_l2"}
    for found, marker in _measured(inputs, calibration):
        silent = sweep(inputs, "wang2017.thm5.4", "round_l2-n" if marker == "o" else "resolved_quadratic_l2-n", "none")
        if silent is not None:
            ratios = span(silent.points.mean / found.points.mean, lambda value: number(value, 2))
            lines.append(Line(f"{names[marker]}: measured share {ratios}", FAINT, marker))
    return lines
