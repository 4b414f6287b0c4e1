"""What the paper's noise is worth, for claimed epsilons of its range."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.report.axes import log_y
from dpsco_bench.report.drawing import COLOURS, FAINT, Panel
from dpsco_bench.report.own_figures import paper_figure

DELTA = 1e-5


@paper_figure(
    "example2026.real_epsilon",
    "The printed noise gives about twice the claimed ε",
    "Computed with the exact accountant of the Gaussian mechanism; nothing of a profile is needed.",
)
def real_epsilon(inputs):
    """Real against claimed epsilon."""
    claimed = np.geomspace(0.1, 4.0, 30)
    real = [gdp_epsilon(2 * epsilon / sqrt(2 * log(1.25 / DELTA)), DELTA) for epsilon in claimed]

    def draw(axes):
        axes.plot(claimed, real, color=COLOURS["paper"])
        axes.plot(claimed, claimed, color=FAINT, linestyle=(0, (4, 2)))
        axes.set_xscale("log")
        axes.set_xlabel("claimed ε")
        log_y(axes, [*real, *claimed], "real ε")

    worst = max(r / c for r, c in zip(real, claimed, strict=True))
    return [Panel(f"The real ε is up to {worst:.2f} times the claimed one", draw, f"δ = {DELTA:g}")]
