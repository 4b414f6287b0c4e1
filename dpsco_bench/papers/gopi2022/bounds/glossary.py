"""Symbols in the texts of the bounds of Gopi, Lee, Liu, Shen, Tian 2022."""

from __future__ import annotations

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.papers.gopi2022.bounds.law import axis_gap, mean_radius
from dpsco_bench.papers.gopi2022.bounds.theorems import columns
from dpsco_bench.privacy.temperature import Temperature


def _temperature(c: BoundContext) -> float:
    return Temperature.of(c.schedule).at(c.scales["draw"])[0]


def _weight(c: BoundContext) -> float:
    return Temperature.of(c.schedule).at(c.scales["draw"])[1]


glossary(
    "gopi2022",
    __name__,
    {
        "G": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
        "D": Symbol("diameter of the feasible set in the problem's norm", "constants.diameter"),
        "S": Symbol(
            "Lipschitz constant of a difference of losses that the schedule has: G under `paper`, the proven one under "
            "`accounted`",
            "schedule.loss_range",
        ),
        "S_true": Symbol("the proven one (erratum E1)", "constants.loss_difference"),
        "t": Symbol(
            "Gaussian-DP parameter of the schedule: eps/sqrt(2 Lam) under `paper`, exact under `accounted`",
            lambda c: Temperature.of(c.schedule).parameter(c.scales["draw"]),
        ),
        "Lam": Symbol("ln(1/(2 delta))"),
        "Theta": Symbol("range of the regulariser", "schedule.theta"),
        "k": Symbol("inverse temperature: the target law is exp(-k (F + mu r)), r the regulariser", _temperature),
        "mu": Symbol("weight of the regulariser; strong convexity of the losses in Theorems 5 and 6", _weight),
        "d2": Symbol("number of columns of matrices, d of vectors", columns),
        "T": Symbol("steps of the alternating sampler", "schedule.sweeps"),
        "gap": Symbol("E[1 - x_1], x of the target law for F = -x_1", axis_gap),
        "radius": Symbol("E ||x||, x of the target law for F = ||x||", mean_radius),
    },
)
