"""Ranges of the accountants' arguments, checked in one place."""

from __future__ import annotations

import math

from dpsco_bench.errors import InputError


def require_target(epsilon: float, delta: float) -> None:
    """Refuse an ``epsilon`` that is not positive and finite, and a ``delta`` outside (0, 1)."""
    if not 0.0 < epsilon < math.inf:
        raise InputError("epsilon", epsilon, "a finite number > 0")
    require_delta(delta)


def require_delta(delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise InputError("delta", delta, "in (0, 1)")


def require_rate(rate: float) -> None:
    """Refuse a sampling rate outside (0, 1]."""
    if not 0.0 < rate <= 1.0:
        raise InputError("rate", rate, "in (0, 1]")


def require_count(key: str, value: int) -> None:
    """Refuse a count that is not an integer of at least one."""
    if not 1 <= value < math.inf or value != int(value):
        raise InputError(key, value, "an integer >= 1")


def require_nonnegative(key: str, value: float) -> None:
    """Refuse negative numbers and NaN; infinity passes."""
    if not value >= 0.0:
        raise InputError(key, value, "a number >= 0")
