"""Approximate minimisers of perturbed objectives over a convex set, with a certificate of how good they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, row_norm
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.problems.objective import Objective

Array = Any
Map = Callable[[Array], Array]
MOST_EXTENSIONS = 20
"""Times that the planned number of steps is made before a solver gives up."""
ROUNDING = 64.0 * 2.0**-52
"""A gradient mapping below this share of the terms that balance in it is rounding."""


@dataclass(frozen=True)
class Certified:
    """Points ``(R, d)``, upper bounds ``gap (R,)`` on how far above the minimum they are, and what that took.

    Attributes
    ----------
    mapping : array (R,), norms of the gradient mapping that the bounds are computed from
    rounded : array (R,) of bool
        Where rounding ends above the accuracy that was asked for, so that the certificate is not to be trusted so far.
    """

    points: Array
    gap: Array
    mapping: Array
    steps: int
    rounded: Array


def planned_steps(smoothness: float, convexity: float, headroom: float) -> int:
    """Count the steps of `minimise` after which the certificate has shrunk by a factor ``headroom``.

    The accelerated method contracts the gap by ``1 - sqrt(m/S)`` a step, and the certificate of a point is at most
    ``S/m`` times its gap.
    """
    rate = math.sqrt(smoothness / convexity)
    return max(1, math.ceil(rate * math.log(max(math.e, headroom * smoothness / convexity))))


def minimise(
    gradient: Map,
    project: Map,
    start: Array,
    *,
    smoothness: float,
    convexity: float,
    accuracy: float,
    steps: int,
    size: Array | float = 1.0,
) -> Certified:
    """Accelerated projected gradient (Nesterov, constant momentum), the best point of every row, with a certificate.

    A step ``w+ = P(y - grad J(y)/S)`` with ``g = S (y - w+)`` proves
    ``J(w+) - min J <= ||g||^2 (1/(2m) - 1/(2S))``. Differences of J, which rounding drowns, are not looked at. Raises
    NumericalFailure when the certificate is not reached in `MOST_EXTENSIONS` times as many steps.

    Parameters
    ----------
    gradient, project, start
        ``grad J``, the Euclidean projection on the set, and the first points ``(R, d)``, all in float64.
    accuracy : float, alpha: what the certificate must reach, unless rounding stops it before (see `Certified.rounded`)
    size : array (R,) or float, norm of the terms that balance in grad J, for what counts as rounding
    """
    xp, ratio = array_namespace(start), math.sqrt(convexity / smoothness)
    momentum, factor = (1.0 - ratio) / (1.0 + ratio), max(0.0, 0.5 / convexity - 0.5 / smoothness)
    floor, wanted = ROUNDING * (size + 0.0 * start[:, 0]), xp.full_like(start[:, 0], _mapping(accuracy, factor))
    enough = xp.maximum(floor, wanted)
    w = y = best = start
    least, done = xp.full_like(start[:, 0], math.inf), 0
    while done < steps or bool(xp.any(least > enough)):
        if done >= MOST_EXTENSIONS * steps:
            worst = float(xp.max(factor * least * least))
            raise NumericalFailure(f"certificate {worst:.1e} after {done} steps, wanted {accuracy:.1e}")
        moved = project(y - gradient(y) / smoothness)
        mapping = smoothness * row_norm(y - moved)[:, 0]
        better = (mapping < least) & (least > enough) if done >= steps else mapping < least  # the others stay
        best, least = xp.where(better[:, None], moved, best), xp.where(better, mapping, least)
        y, w, done = moved + momentum * (moved - w), moved, done + 1
    return Certified(best, factor * least * least, least, done, floor > wanted)


def _mapping(accuracy: float, factor: float) -> float:
    """Norm of the gradient mapping at which the certificate is ``accuracy``."""
    return math.sqrt(accuracy / factor) if factor > 0.0 else math.inf


def isotropic_minimiser(objective: Objective, curvature: float, terms: Array, weight: float) -> Array:
    """Exact minimisers of ``F(x) + (weight/2) ||x||^2 + <terms, x>`` over the domain, where F has Hessian ``a I``.

    Costs n evaluations: the gradient at the origin says all.

    Parameters
    ----------
    terms : array (R, d), in float64
    """
    objective.count(objective.n)
    at_origin = objective.exact_gradient(objective.xp.zeros_like(terms))
    whole = curvature + objective.problem.constants.regularisation + weight
    return objective.project(-(at_origin + terms) / whole)


def minimise_over_set(problem: Any, data: Any, domain: Any, tolerance: float = 1e-13, most: int = 20000) -> np.ndarray:
    """Minimiser ``(d,)`` of the problem's risk over a set, without strong convexity: accelerated steps with restarts.

    Stopped by the Frank-Wolfe gap ``<grad F(x), x> + h(-grad F(x)) >= F(x) - min F``, h the support function. Raises
    NumericalFailure when the gap does not reach the tolerance.
    """
    c = problem.constants
    x = y = domain.project(np.zeros((1, problem.dimension)))
    t, gap = 1.0, math.inf
    for _ in range(most):
        slope = problem.mean_gradient(y, data) + c.regularisation * y
        moved = domain.project(y - slope / c.total_smoothness)
        if float(np.sum((y - moved) * (moved - x))) > 0.0:  # the momentum points uphill
            t, y = 1.0, x
            continue
        t_next = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
        y, x, t = moved + (t - 1.0) / t_next * (moved - x), moved, t_next
        gradient = problem.mean_gradient(x, data) + c.regularisation * x
        gap = float(np.sum(gradient * x) + domain.support(-gradient)[0, 0])
        if gap <= tolerance:
            return x[0]
    raise NumericalFailure(f"optimum of {problem.name}: gap {gap:.1e} after {most} steps")
