"""Symbols in the texts of the bounds of Wang, Ye, Xu 2017."""

from __future__ import annotations

from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.papers.wang2017.bounds.tables import squared_width, width

glossary(
    "wang2017",
    __name__,
    {
        "G": Symbol("Lipschitz constant of a record's loss", "constants.lipschitz"),
        "L": Symbol("smoothness of a record's loss, without the regulariser", "constants.smoothness"),
        "Lc": Symbol("smoothness in the norm of the feasible set", "schedule.norm_smoothness"),
        "mu": Symbol("strong convexity", "constants.strong_convexity"),
        "lambda": Symbol("weight of the regulariser", "constants.regularisation"),
        "kappa": Symbol("L/mu, the condition number"),
        "D0": Symbol("a-priori bound on the excess risk of the start", "constants.initial_gap"),
        "R0": Symbol("measured excess risk of the start", "start_risk"),
        "||x_0 - x*||": Symbol("distance of the optimum from the start, a bound", "constants.distance"),
        "T": Symbol("epochs of a method that has them, else steps", "schedule.epochs or schedule.steps"),
        "m": Symbol("inner steps of an epoch", "schedule.inner_steps"),
        "A": Symbol("contraction of an epoch", "schedule.contraction"),
        "sigma": Symbol("standard deviation of a step's noise, per coordinate", "scales.inner or scales.gradient"),
        "B": Symbol("bound on the Bregman divergence from the start", "schedule.bregman_radius"),
        "W": Symbol("E sup_{w in C} <b, w>^2 of a standard normal b, C the feasible set", squared_width),
        "G_C": Symbol("E sup_{w in C} <b, w>, the Gaussian width of the feasible set", width),
        "diam": Symbol("diameter of the feasible set in its own norm", "constants.diameter"),
    },
)
