"""What the methods on l_p balls share: the order p of their ball, the step towards a vertex, refusals."""

from __future__ import annotations

from math import isclose
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Constants

Array = Any


def ball_order(c: Constants, low: float, high: float, source: str) -> float:
    """The p of an l_p ball as domain, with losses that are Lipschitz in the same norm.

    Parameters
    ----------
    c : Constants
        Their `domain` names the ball, their `norm` the norm of the Lipschitz constant.
    low, high : float
        Range of p that the theorem covers, ends included.
    source : str
        Named in errors.

    Raises
    ------
    InputError
        For another set or another p.
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


def checked_positive(key: str, value: float | None, source: str) -> float | None:
    """Return an option that replaces a number of the theorem, None for the theorem's.

    Raises
    ------
    InputError
        If it is not above 0.
    """
    if value is not None and value <= 0:
        raise InputError(key, value, "> 0", source)
    return value


def checked_count_option(key: str, value: int | None, source: str, top: int | None = None) -> int | None:
    """Return an option that replaces a count of the theorem, None for the theorem's.

    Raises
    ------
    InputError
        If it is below 1 or above ``top``.
    """
    if value is not None and not (value >= 1 and (top is None or value <= top)):
        raise InputError(key, value, f"an integer in 1..{top}" if top else "an integer >= 1", source)
    return value
