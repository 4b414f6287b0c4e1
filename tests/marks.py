"""Marks of tests."""

from collections.abc import Iterable
from typing import Any

import pytest


def rest_at_night(cases: Iterable[Any], *by_day: int, several: bool = False) -> list[Any]:
    """Cases of a test, of which those in the named places run in `make test` and the others at night.

    For tests whose cases look at one thing in many places, each for seconds. With ``several`` a case is a tuple, the
    values of as many names.
    """
    return [
        case if place in by_day else pytest.param(*(case if several else [case]), marks=pytest.mark.long)
        for place, case in enumerate(cases)
    ]
