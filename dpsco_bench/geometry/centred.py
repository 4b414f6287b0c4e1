"""Feasible sets around the origin: their base class, and the registry of those that are no l_p balls.

Nearly every problem has an l_p ball or the whole space. Others are found by their names, so that their code counts for
the results of those alone that have them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from dpsco_bench.errors import InputError
from dpsco_bench.registry import Registry

Make = TypeVar("Make", bound=Callable[..., Any])


class CentredSet:
    """Base class of sets around the origin, with a radius in their own norm."""

    radius: float

    @property
    def diameter(self) -> float:
        """``2 R``, its diameter in its own norm."""
        return 2.0 * self.radius

    def check_radius(self) -> None:
        """Raise InputError unless the radius is finite and > 0."""
        if not 0.0 < self.radius < float("inf"):
            raise InputError("radius", self.radius, "a finite number > 0")


@dataclass(frozen=True)
class SetKind:
    """A kind of sets that a name with parameters selects.

    Attributes
    ----------
    usage : str
        The name with its parameters, as errors show it.
    read : callable
        What stands behind the first colon -> parameters; ValueError for what is none.
    make : callable, (parameters, radius) -> set
    """

    usage: str
    read: Callable[[str], Any]
    make: Callable[[Any, float], Any]


SET_KINDS: Registry[SetKind] = Registry("feasible set", "sets", core="geometry")


def set_kind(name: str, parameters: str, read: Callable[[str], Any] = int) -> Callable[[Make], Make]:
    """Register a class or function of (parameters, radius) as a kind of sets (used as a decorator; see `SetKind`)."""

    def register(make: Make) -> Make:
        SET_KINDS.add(name, SetKind(f"{name}:{parameters}", read, make), make.__module__)
        return make

    return register
