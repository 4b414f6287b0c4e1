"""Symbols in the texts of the bounds of Su, Zhao, Wang 2023."""

from __future__ import annotations

from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.papers.su2023.bounds.theorems import euclidean_diameter, width

glossary(
    "su2023",
    __name__,
    {
        "L": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
        "Delta": Symbol("strong convexity with respect to the gauge of the feasible set", "constants.gauge_convexity"),
        "G": Symbol("Gaussian width of the feasible set", width),
        "diam2": Symbol("its Euclidean diameter", euclidean_diameter),
        "M": Symbol("its diameter in its own norm", "constants.diameter"),
        "s1": Symbol("scale of the noise in the linear term", "scales.linear term"),
        "kappa_q": Symbol(
            "the constant that the noise needs: of the smooth norm beside l_q (erratum E5)", "schedule.kappa"
        ),
        "k": Symbol("min{1/(p - 1), 2 ln d}", printed="kappa"),
        "T": Symbol("steps", "schedule.steps"),
        "||x*||_p": Symbol("d^(1/p - 1/2) ||x_0 - x*||, the l_p distance of a flat optimum from the start"),
        "||x_0 - x*||": Symbol("Euclidean distance of the optimum from the start, a bound", "constants.distance"),
    },
)
