"""Ranges of the options that replace a number of a theorem."""

from __future__ import annotations

from collections.abc import Iterable

from dpsco_bench.errors import InputError


def count_option(key: str, value: int | None, source: str, top: int | None = None, least: int = 1) -> int | None:
    """Return a count as given, None for the theorem's. Raises InputError below ``least`` or above ``top``."""
    if value is not None and (value < least or (top is not None and value > top)):
        raise InputError(key, value, f"an integer in {least}..{top}" if top else f"an integer >= {least}", source)
    return value


def positive_option(key: str, value: float | None, source: str) -> float | None:
    """Return a number as given, None for the theorem's. Raises InputError if it is not above 0."""
    if value is not None and value <= 0:
        raise InputError(key, value, "> 0", source)
    return value


def choice_option(key: str, value: str, allowed: Iterable[str], source: str) -> str:
    """Return a name that is one of those allowed. Raises InputError otherwise."""
    if value not in (names := tuple(allowed)):
        raise InputError(key, value, " or ".join(names), source)
    return value
