"""Lower bounds that stand on the leaderboard beside measured risks; all without their constants, hence not judged."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.claims.bounds.context import Bound, BoundContext


def _erm_convex(c: BoundContext) -> float:
    return c.constants.lipschitz * c.constants.diameter / 2 * min(1.0, sqrt(c.d) / (c.n * c.epsilon))


def _erm_strongly_convex(c: BoundContext) -> float:
    scale = c.constants.lipschitz**2 / c.constants.strong_convexity
    return scale * min(1.0, c.d / (c.n * c.epsilon) ** 2)


BOUNDS = (
    Bound(
        "leaderboard.erm_l2",
        "L R min{1, sqrt(d)/(n eps)}, order only (Bassily, Smith, Thakurta 2014, section 5)",
        _erm_convex,
    ),
    Bound(
        "leaderboard.erm_strongly_convex",
        "(L^2/mu) min{1, d/(n eps)^2}, order only (Bassily, Smith, Thakurta 2014, section 5)",
        _erm_strongly_convex,
    ),
)
