"""Setup of the methods on l_p balls: the order p of their ball and the step towards a vertex."""

from __future__ import annotations

from math import isclose
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Constants

Array = Any


def ball_order(c: Constants, low: float, high: float, source: str) -> float:
    """Read the p of an l_p ball as domain, with losses that are Lipschitz in the same norm.

    Raises InputError for another set or another p.

    Parameters
    ----------
    c : Constants, their `domain` names the ball, their `norm` the norm of the Lipschitz constant
    low, high : float, range of p that the theorem covers, ends included
    """
    p = getattr(c.ball, "p", None)
    if p is None:
        raise InputError("domain", c.domain, "an l_p ball", source)
    if not isclose(p, c.norm):
        raise InputError("norm", c.norm, f"{p:g}, the norm of the ball {c.domain}", source)
    if not low <= p <= high:
        raise InputError("p", p, f"in [{low:g}, {high:g}]", source)
    return p


def towards(x: Array, vertex: Array, step: float) -> Array:
    """``(1 - step) x + step vertex``: a Frank-Wolfe step on iterates ``(R, d)``."""
    return (1 - step) * x + step * vertex
