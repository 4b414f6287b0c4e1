"""Ranges of the accountants' arguments, roots, and the least noise for a target epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsco_bench.errors import InputError

COUNTS = ("steps", "population", "size", "dimension", "batches", "n")
MAX_EVALUATIONS = 100
_LONGEST_STEP = 1.5


def require(**values: float) -> None:
    """Refuse a value out of its range, by its name: ``delta``, ``rate``, `COUNTS`; others are >= 0 or infinite."""
    for key, value in values.items():
        if key == "delta":
            valid, allowed = 0.0 < value < 1.0, "in (0, 1)"
        elif key == "rate":
            valid, allowed = 0.0 < value <= 1.0, "in (0, 1]"
        elif key in COUNTS:
            valid, allowed = 1 <= value < math.inf and value == int(value), "an integer >= 1"
        else:
            valid, allowed = value >= 0.0, "a number >= 0"
        if not valid:
            raise InputError(key, value, allowed)


def require_target(epsilon: float, delta: float) -> None:
    """Refuse an ``epsilon`` that is not positive and finite, and a ``delta`` outside (0, 1)."""
    if not 0.0 < epsilon < math.inf:
        raise InputError("epsilon", epsilon, "a finite number > 0")
    require(delta=delta)


def root(function: Callable[[float], float], low: float, high: float, xtol: float, rtol: float = 8.9e-16) -> float:
    """Root of a function that changes its sign between two points, by Brent's method."""
    from scipy.optimize import brentq  # takes longer to import than judging or drawing a claim

    return float(brentq(function, low, high, xtol=xtol, rtol=rtol))


def least_noise(
    epsilon_of: Callable[[float], float], target: float, start: float, tolerance: float, floor: float = 1e-300
) -> float:
    """Least noise whose epsilon is at most ``target`` > 0, by a bracketed secant in logarithms from ``start`` > 0.

    ``epsilon_of`` is non-increasing, 0 and infinity included. At the noise that is returned it was evaluated and found
    to be at most ``target``; to first order it is too large by at most a fraction ``tolerance``.
    """
    x, slope = math.log(start), -1.5
    low, high = -math.inf, math.inf  # logarithms of too little and of enough noise
    previous: tuple[float, float] | None = None
    for _ in range(MAX_EVALUATIONS):
        noise = max(floor, math.exp(x))
        epsilon = epsilon_of(noise)
        y = math.log(epsilon / target) if epsilon > 0.0 else -math.inf
        if previous is not None and previous[0] != x:
            secant = (y - previous[1]) / (x - previous[0])
            slope = secant if -math.inf < secant < 0.0 else slope
        band = tolerance * min(1.0, -slope)
        if y <= 0.0:
            high = x
            if -y <= band or noise <= floor:
                return noise
        else:
            low = x
        if high - low <= tolerance:
            return math.exp(high)
        previous = (x, y)
        step = max(-_LONGEST_STEP, min(_LONGEST_STEP, -(y + 0.5 * band) / slope))
        within = low < x + step < high or not math.isfinite(low + high)  # else the middle of the bracket
        x = max(math.log(floor) - 1e-12, x + step if within else 0.5 * (low + high))
    raise ArithmeticError(f"epsilon = {target} is not met within {MAX_EVALUATIONS} steps from noise {start}")
