"""Bisection along many lines at once, for the place where a condition ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


def ends(holds: Callable[[Array], Array], low: Array, high: Array, steps: int) -> tuple[Array, Array]:
    """Bracket the end of a condition that holds from ``low`` on; elementwise, arrays ``(N,)``.

    Returns the last point at which it was seen to hold, and the first at which it was not; ``high`` twice where it
    holds there still.
    """
    everywhere, last = holds(high), high
    for _ in range(steps):
        middle = 0.5 * (low + high)
        inside = holds(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(everywhere, last, low), np.where(everywhere, last, high)
