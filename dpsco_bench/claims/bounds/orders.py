"""Lower bounds that stand on the leaderboard beside measured risks: orders of the papers' tables, no constants.

None has a known constant, so that none is judged: a constant 1 and no factor sqrt(ln 1/delta) stand in for what the
sources leave open. They hold for the worst case of a class of losses, which an instance of the board need not be.
"""

from __future__ import annotations

import math

from dpsco_bench.claims.bounds.registry import Symbol, paper_bounds
from dpsco_bench.problems.base import Problem, Trait

ORDER_ONLY, NO_BOUND = "order only", "none"  # kinds of lower bounds: none that is used here has a known constant
NONE_STATED = "none is stated in the papers"
SYMBOLS = {
    "L": Symbol("Lipschitz constant", "constants.lipschitz"),
    "mu": Symbol("strong convexity", "constants.strong_convexity"),
    "R": Symbol("M/2, the radius of the feasible set"),
    "M": Symbol("its diameter", "constants.diameter"),
}
LOWER_BOUNDS = {
    "sco_l1": "sqrt(ln d/n), without privacy (Agarwal et al. 2012, in Table 1 of Bassily, Guzman, Nandi 2021, p = 1)",
    "sco_linf": (
        "min{1, sqrt(d/n)}, without privacy (Agarwal et al. 2012, in Table 1 of Bassily, Guzman, Nandi 2021, p = "
        "infinity)"
    ),
    "erm_l2": "L R min{1, sqrt(d)/(eps n)}, of Bassily, Smith, Thakurta 2014, as cited in Wang, Ye, Xu 2017, Table 2",
    "erm_strongly_convex": (
        "(L^2/mu) min{1, d/(eps n)^2}, of Bassily, Smith, Thakurta 2014, as cited in Wang, Ye, Xu 2017, Table 1"
    ),
    "sco_strongly_convex": (
        "(L^2/mu) min{1, max{1/n, d/(eps n)^2}}, up to logarithms (Su, Zhao, Wang 2023, Theorem 5, for the l2 ball)"
    ),
    "sco_p_below_2": (
        "max{1/sqrt n, (p - 1) sqrt(d)/(eps n)}, up to logarithms (Bassily, Guzman, Nandi 2021, Theorem 15)"
    ),
    "sco_l2": (
        "max{1/sqrt n, sqrt(d)/(eps n)}, up to logarithms (Bassily et al. 2014, 2019; Theorem 15 of Bassily, Guzman, "
        "Nandi 2021, which is for p < 2, tends to it)"
    ),
}
paper_bounds("leaderboard", LOWER_BOUNDS, SYMBOLS)


def lower_bound_name(problem: Problem) -> str:
    """Name the formula that every private method on a problem respects, up to constants; empty where none is known."""
    constants, traits = problem.constants, problem.properties
    if Trait.CONVEX not in traits or Trait.LIPSCHITZ not in traits:
        return ""
    p, domain = constants.norm, constants.domain
    if Trait.STRONGLY_CONVEX in traits and constants.strong_convexity > 0:
        name = "sco_strongly_convex" if problem.population else "erm_strongly_convex"
        known = p == 2.0 and domain in ("space", "l2_ball")
    elif not problem.population:
        name, known = "erm_l2", p == 2.0 and domain == "l2_ball"
    else:  # losses with Lipschitz constant 1 on the unit ball of the norm in which they have it
        name = {1.0: "sco_l1", 2.0: "sco_l2", math.inf: "sco_linf"}.get(p, "sco_p_below_2")
        known = (
            (constants.lipschitz, constants.diameter) == (1.0, 2.0) and domain != "space" and (p <= 2 or p == math.inf)
        )
    return f"leaderboard.{name}" if known else ""
