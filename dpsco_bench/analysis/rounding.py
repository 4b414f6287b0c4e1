"""Bounds as they are shown: rounded so that they stay bounds."""

from __future__ import annotations

import math

from dpsco_bench.privacy.ledger import ROUNDING

MOST_DIGITS = 6
"""Significant digits with which any bound is compared with its claim."""


def outward(value: float, kind: str, digits: int = 3) -> float:
    """Round a bound to some significant digits so that it stays a bound.

    ``lower`` rounds down and ``upper`` up, but for what rounding alone may add; ``exact`` stays.
    """
    if kind not in ("lower", "upper") or value == 0 or not math.isfinite(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - digits)
    slack = 2 * ROUNDING * abs(value / unit)
    return (math.floor(value / unit + slack) if kind == "lower" else math.ceil(value / unit - slack)) * unit


def digits_beside(value: float, kind: str, claimed: float) -> int:
    """Count the digits, from three to six, with which a bound and its claim compare as they do without rounding."""
    for digits in range(3, MOST_DIGITS):
        shown, beside = outward(value, kind, digits), float(f"{claimed:.{digits}g}")
        if (shown <= beside * (1.0 + ROUNDING)) == (value <= claimed * (1.0 + ROUNDING)):
            return digits
    return MOST_DIGITS
