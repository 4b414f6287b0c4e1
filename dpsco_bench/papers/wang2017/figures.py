"""Figures of Wang, Ye, Xu 2017: the looks of its methods, and where the noise, not the schedule, makes the risk.

That is known by the law of accelerated mirror descent (variant acsa of DP-AccMD) on quadratics inside an l2 ball. While
no projection is active, Algorithm 3 on ``F(x) = (h/2) ||x - x*||^2`` is linear, and every coordinate
``(y - x*, z - x*)`` moves by the same 2 x 2 matrices. With ``w = ||x||^2/(2 R^2)`` and ``Lc = L (2R)^2`` a step of z
has the length ``R^2 (k+2)/(4 Lc) = (k+2)/(16 L)``: the radius cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike, NDArray

from dpsco_bench.papers.wang2017.algorithms.mirror_descent import least_noise_constant
from dpsco_bench.papers.wang2017.problems.quadratics import CURVATURES
from dpsco_bench.report.axes import tick_text
from dpsco_bench.report.drawing import FAINT, INK, Panel
from dpsco_bench.report.elements import sweep
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import number
from dpsco_bench.report.own_figures import MethodStyle, method_styles, paper_figure
from dpsco_bench.report.wording import symbols

EPSILON, DELTA = 1.0, 1e-5
MOST_RECORDS, FEWEST_DIMENSIONS, STEEPEST = 2**20, 16, 2 / 3
"""The corner of the map: L R/G is at most 2/3 where the minimiser lies half-way to the boundary and h = L."""
CLAIMED = f"ε = {EPSILON:g}, δ = {symbols(f'{DELTA:.0e}')}"
STIFFNESS = np.geomspace(1e-4, 1.0, 73)
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
TINTS = ("#00559a", "#8fbbdd", "#f3c79f", "#e0701a")
SHADES = ListedColormap(list(TINTS))
SIGNAL = 0.5
"""``||x* - x_0||/R``: the minimiser lies half-way to the boundary."""
FITTED = 0.5
"""Share of the starting risk above which a cell is not fitted."""
AVERAGE = "of DP-SVRG(++) an average"
"""Output of DP-SVRG and DP-SVRG++, which may lie far below their iterates."""

ORANGE, PURPLE, BLUE, LIGHT, GREEN = "#d9660f", "#8e3b8e", "#00559a", "#4aa3dd", "#00795c"
"""DP-SVRG, the step that the paper does not have, DP-GD, DP-GD as the paper does not have it, output perturbation."""

method_styles(
    __name__,
    "wang2017",
    {
        "dp_svrg_bb": MethodStyle("DP-SVRG, Barzilai-Borwein step", ORANGE, returns=AVERAGE),
        "dp_svrg": MethodStyle("DP-SVRG, constant step", PURPLE, (0, (5, 1.2)), returns=AVERAGE),
        "dp_gd": MethodStyle("DP-GD", BLUE),
        "dp_gd_by_output": MethodStyle("DP-GD, by its output", GREEN, (0, (2, 1))),
        "dp_gd_40": MethodStyle("DP-GD, T = 40", LIGHT, (0, (1, 1))),
        "dp_gd_120": MethodStyle("DP-GD, T = 120", LIGHT, (0, (3, 1.2))),
        "dp_gd_200": MethodStyle("DP-GD, T = 200", LIGHT, (0, (6, 1.2, 1, 1.2))),
        "dp_svrg_pp": MethodStyle("DP-SVRG++", ORANGE, returns=AVERAGE),
        "dp_gd_1_over_L": MethodStyle("DP-GD, step 1/L", LIGHT),
        "dp_gd_1_over_L_40": MethodStyle("DP-GD, step 1/L, T = 40", LIGHT, (0, (1, 1))),
        "dp_gd_1_over_L_120": MethodStyle("DP-GD, step 1/L, T = 120", LIGHT, (0, (3, 1.2))),
        "dp_gd_1_over_L_200": MethodStyle("DP-GD, step 1/L, T = 200", LIGHT, (0, (6, 1.2, 1, 1.2))),
        "output_perturbation": MethodStyle("output perturbation (end)", GREEN, end_only=True),
    },
)


@paper_figure(
    "wang2017.noise_share",
    "What makes DP-AccMD's risk: its schedule, or its noise",
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
    bias, noise = np.array([risk_parts(reach, STIFFNESS, constant) for reach in reaches]).swapaxes(0, 1)
    return reaches, bias / (bias + noise), bias + noise


def _map(inputs: Inputs, calibration: str, constant: float) -> Panel:
    reaches, off, risk = shares(constant)

    def draw(axes: Axes) -> None:
        axes.contourf(reaches, STIFFNESS, off.T, levels=LEVELS, cmap=SHADES)
        axes.contour(reaches, STIFFNESS, risk.T, levels=[FITTED], colors=INK, linewidths=0.9, linestyles="dashed")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.text(0.1, 0.12, "schedule", transform=axes.transAxes, size=8, color=INK, weight="bold")
        axes.text(0.9, 0.86, "noise", transform=axes.transAxes, size=8, color="white", weight="bold", ha="right")
        for part, marker in (("round_l2-n", "o"), ("resolved_quadratic_l2-n", "s")):
            found = sweep(inputs, "wang2017.thm5.4", part, calibration)
            for cell in found.cells if found else ():
                c = cell.context
                ends = (1.0, 1.0) if marker == "o" else (h / c.schedule["steps"] for h in CURVATURES)
                low, high = (min(1.0, h) for h in ends)  # h/L: 1 of the fixed instance, else the family's range
                x = reach_of(c.n, c.d, c.epsilon, c.delta, c.constants.smoothness * 0.5 * c.constants.diameter)  # G = 1
                axes.plot([x, x], [low, high], "-", color=INK, linewidth=1.2)
                axes.plot(x, sqrt(low * high), marker, color=INK, markersize=3.6)
        for y, text in ((0.9, "share left with"), (0.83, "noise off:")):
            axes.text(1.03, y, text, transform=axes.transAxes, va="center", size=6.0, color=FAINT)
        for place, (colour, low) in enumerate(zip(TINTS, LEVELS, strict=False)):
            y = 0.73 - 0.08 * place
            axes.plot(1.06, y, "s", color=colour, transform=axes.transAxes, clip_on=False, markersize=5)
            axes.text(1.1, y, f"{low:g} to {low + 0.25:g}", transform=axes.transAxes, va="center", size=6.0, color=INK)
        axes.set_ylim(STIFFNESS[0], 1.4)
        axes.set_xlabel("(L R/G) n ε / √(d ln(1/δ))")
        axes.set_ylabel("curvature h / L")
        axes.grid(False)

    driven = (off < 0.5) & (risk < FITTED)
    share = number(100 * driven.mean(), 2)
    noise = "printed" if calibration == "paper" else calibration
    title = f"With {noise} noise, c = {number(constant)}, the noise makes the risk on {share} % of the map"
    line = f"hardly moves below the dashes; to n = {tick_text(MOST_RECORDS)}, d = {FEWEST_DIMENSIONS}; {CLAIMED}"
    return Panel(title, draw, line)


Floats = NDArray[np.float64]


def bias_and_variance(steps: int, curvature: ArrayLike) -> tuple[Floats, Floats]:
    """``E (y_T - x*)/(x_0 - x*)`` and a coordinate's variance over ``(sigma/L)^2``, at h/L ``(c,)`` in (0, 1]."""
    h = np.atleast_1d(np.asarray(curvature, dtype=np.float64))
    y, z = np.ones_like(h), np.ones_like(h)
    yy, yz, zz = np.zeros_like(h), np.zeros_like(h), np.zeros_like(h)
    for k in range(steps):
        a, r = (k + 2) / 16.0, 2.0 / (k + 2)
        u, v = -a * h * (1 - r), 1 - a * h * r  # z <- u y + v z - a b
        z = u * y + v * z
        y = r * z + (1 - r) * y
        moved = u * yy + v * yz  # covariance of y with the z that follows it
        zz = u * moved + v * (u * yz + v * zz) + a**2
        yy, yz = r**2 * zz + 2 * r * (1 - r) * moved + (1 - r) ** 2 * yy, r * zz + (1 - r) * moved
    return y, yy


def risk_parts(reach: float, curvature: ArrayLike, constant: float) -> tuple[Floats, Floats]:
    """Compute the excess risk after the printed ``T = sqrt(Lc sqrt(B) n eps/(G sqrt(l W)))`` steps, in two parts.

    Only the reach, ``(L R/G) n eps/sqrt(d l)``, and the curvature h/L, ``(c,)`` in (0, 1], count: ``T = sqrt(sqrt(8)
    reach)``, and the variance of y_T, summed over its d coordinates, is ``constant T (R/reach)^2`` times the factor of
    `bias_and_variance`. The constant is c in ``sigma^2 = c G^2 T l/(n eps)^2``. Returns the risk with noise off and the
    risk that the noise adds, ``(c,)``, over the excess risk of the start.
    """
    steps = max(1, round(sqrt(sqrt(8.0) * reach)))
    bias, variance = bias_and_variance(steps, curvature)
    return bias**2, constant * steps * variance / (reach * SIGNAL) ** 2


def reach_of(n: float, d: float, epsilon: float, delta: float, slope: float) -> float:
    """``slope n eps/sqrt(d l)`` with ``slope = L R/G``."""
    return slope * n * epsilon / sqrt(d * log(1.0 / delta))
