"""Which lower bound holds for a problem's class of losses: orders that stand beside measured risks."""

from __future__ import annotations

import math

from dpsco_bench.problems.base import Problem, Trait

ORDER_ONLY, NO_BOUND = "order only", "none"
"""What is known of a lower bound: none that is used here has a known constant."""
NONE_STATED = "none is stated in the papers"


def lower_bound_name(problem: Problem) -> str:
    """Name of the formula that every private method on a problem of this class respects, up to constants.

    Returns
    -------
    str
        Empty where none is known: of the papers' lower bounds those for unbounded gradients, for the sample's risk on
        another set than the Euclidean ball, and for other balls and Lipschitz constants than 1 are missing here.
    """
    constants, traits = problem.constants, problem.properties
    if Trait.CONVEX not in traits or Trait.LIPSCHITZ not in traits:
        return ""
    euclidean = constants.norm == 2.0 and constants.domain in ("space", "l2_ball")
    strongly = Trait.STRONGLY_CONVEX in traits and constants.strong_convexity > 0
    if strongly:
        name = "sco_strongly_convex" if problem.population else "erm_strongly_convex"
        return f"leaderboard.{name}" if euclidean else ""
    if not problem.population:
        return "leaderboard.erm_l2" if euclidean and constants.domain == "l2_ball" else ""
    name = _linear(constants.norm) if _is_unit(problem) else ""
    return f"leaderboard.{name}" if name else ""


def _is_unit(problem: Problem) -> bool:
    """Whether losses have Lipschitz constant 1 on the unit ball of the norm in which they have it."""
    constants = problem.constants
    return (constants.lipschitz, constants.diameter) == (1.0, 2.0) and constants.domain != "space"


def _linear(p: float) -> str:
    if p == 1.0:
        return "sco_l1"
    if math.isinf(p):
        return "sco_linf"
    return "sco_l2" if p == 2.0 else "sco_p_below_2" if p < 2.0 else ""
