"""Lower bounds that stand on the leaderboard beside measured risks: orders of the papers' tables, no constants.

None has a known constant, so that none is judged: a constant 1 and no factor sqrt(ln 1/delta) stand in for what the
sources leave open. They hold for the worst case of a class of losses, which an instance of the board need not be.
"""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.claims.bounds.registry import bound


@bound(
    "leaderboard.sco_l1",
    "sqrt(ln d/n), without privacy (Agarwal et al. 2012, in Table 1 of Bassily, Guzman, Nandi 2021, p = 1)",
)
def _sco_l1(c: BoundContext) -> float:
    return sqrt(log(c.d) / c.n)


@bound(
    "leaderboard.sco_linf",
    (
        "min{1, sqrt(d/n)}, without privacy (Agarwal et al. 2012, in Table 1 of Bassily, Guzman, Nandi 2021, p = "
        "infinity)"
    ),
)
def _sco_linf(c: BoundContext) -> float:
    return min(1.0, sqrt(c.d / c.n))


@bound(
    "leaderboard.erm_l2",
    "L R min{1, sqrt(d)/(eps n)}, of Bassily, Smith, Thakurta 2014, as cited in Wang, Ye, Xu 2017, Table 2",
)
def _erm_convex(c: BoundContext) -> float:
    return c.constants.lipschitz * c.constants.diameter / 2 * min(1.0, sqrt(c.d) / (c.n * c.epsilon))


@bound(
    "leaderboard.erm_strongly_convex",
    "(L^2/mu) min{1, d/(eps n)^2}, of Bassily, Smith, Thakurta 2014, as cited in Wang, Ye, Xu 2017, Table 1",
)
def _erm_strongly_convex(c: BoundContext) -> float:
    scale = c.constants.lipschitz**2 / c.constants.strong_convexity
    return scale * min(1.0, c.d / (c.n * c.epsilon) ** 2)


@bound(
    "leaderboard.sco_strongly_convex",
    "(L^2/mu) min{1, max{1/n, d/(eps n)^2}}, up to logarithms (Su, Zhao, Wang 2023, Theorem 5, for the l2 ball)",
)
def _sco_strongly_convex(c: BoundContext) -> float:
    scale = c.constants.lipschitz**2 / c.constants.strong_convexity
    return scale * min(1.0, max(1.0 / c.n, c.d / (c.n * c.epsilon) ** 2))


@bound(
    "leaderboard.sco_p_below_2",
    "max{1/sqrt n, (p - 1) sqrt(d)/(eps n)}, up to logarithms (Bassily, Guzman, Nandi 2021, Theorem 15)",
)
def _sco_p_below_2(c: BoundContext) -> float:
    return max(1.0 / sqrt(c.n), (c.constants.norm - 1.0) * sqrt(c.d) / (c.epsilon * c.n))


@bound(
    "leaderboard.sco_l2",
    (
        "max{1/sqrt n, sqrt(d)/(eps n)}, up to logarithms (Bassily et al. 2014, 2019; Theorem 15 of Bassily, Guzman, "
        "Nandi 2021, which is for p < 2, tends to it)"
    ),
)
def _sco_l2(c: BoundContext) -> float:
    return max(1.0 / sqrt(c.n), sqrt(c.d) / (c.epsilon * c.n))


glossary(
    "leaderboard",
    __name__,
    {
        "L": Symbol("Lipschitz constant", "constants.lipschitz"),
        "mu": Symbol("strong convexity", "constants.strong_convexity"),
        "R": Symbol("M/2, the radius of the feasible set"),
        "M": Symbol("its diameter", "constants.diameter"),
    },
)
