"""Random allocation by PLD-accounting 2.0: `python docs/allocation.py` prints the rows that a test and a page compare.

It takes `pip install PLD-accounting==2.0`, in an environment of its own if need be, and some minutes. Each row has the
shift s, the number T of batches, and two values of that library's pair "one of T shifted" against "none" with noise of
deviation 1/s. First is the lower end of epsilon at delta. Second is the upper end e at `delta/(1 + exp(e))`, which each
half of a triangle through the common centre may spend: an exchange costs two of these.
"""

from __future__ import annotations

import math

DELTA, ACCURACY = 1e-5, 0.01
PLACES = ((0.5, 16), (1.0, 16), (1.0, 64))
"""Shift and number of batches of each row."""
Row = tuple[float, int, float, float]


def epsilon_range(shift: float, batches: int, delta: float) -> tuple[float, float]:
    """Lower and upper end of epsilon of the library's pair."""
    from PLD_accounting import gaussian_allocation_epsilon_range  # not among the requirements

    upper, lower = gaussian_allocation_epsilon_range(
        delta=delta, sigma=1.0 / shift, num_steps=batches, epsilon_accuracy=ACCURACY
    )
    return float(lower), float(upper)


def half(shift: float, batches: int) -> float:
    """Upper end e at ``delta/(1 + exp(e))``, by iteration, to a tenth of the library's own accuracy."""
    found = 0.0
    for _ in range(20):
        upper = epsilon_range(shift, batches, DELTA / (1.0 + math.exp(found)))[1]
        if abs(upper - found) < ACCURACY / 10.0:
            return upper
        found = upper
    raise ArithmeticError(f"shift {shift:g}, {batches} batches: the delta of each half does not settle")


def row(shift: float, batches: int) -> Row:
    """Compute the bound at one of `PLACES`, to four decimals."""
    return shift, batches, round(epsilon_range(shift, batches, DELTA)[0], 4), round(half(shift, batches), 4)


if __name__ == "__main__":
    for place in PLACES:
        print(row(*place), flush=True)
