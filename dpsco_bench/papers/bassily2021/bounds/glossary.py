"""Symbols in the texts of the bounds of Bassily, Guzman, Nandi 2021."""

from __future__ import annotations

from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.papers.bassily2021.bounds.law import largest_excess

glossary(
    "bassily2021",
    __name__,
    {
        "L0": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
        "L1": Symbol("smoothness in the problem's norm", "constants.smoothness"),
        "M": Symbol("diameter of the feasible set in the problem's norm", "constants.diameter"),
        "K": Symbol("vertices of the polytope", "schedule.vertices"),
        "kappa_q": Symbol(
            "constant of the smooth norm beside l_q, the provable one (erratum E5)", "schedule.kappa", printed="kappa"
        ),
        "T": Symbol("steps", "schedule.steps"),
        "sigma": Symbol("scale of the released noise", "scales.release"),
        "b_N": Symbol("scale of the Laplace noise on the vertices' scores", "scales.vertex"),
        "h_K": Symbol(
            "sup_u u (1 - P_+ + P_-), P_+ and P_- the chances that the scores -u + Lap(1) and u + Lap(1) win among K",
            lambda c: largest_excess(int(c.schedule["vertices"])),
        ),
    },
)
