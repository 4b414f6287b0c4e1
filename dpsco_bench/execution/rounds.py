"""Observers of rounds: what a theorem says about the rounds of a run, turned into extras of its result rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpsco_bench.problems.objective import Objective
from dpsco_bench.registry import Registry

NO_ROUNDS = "none"
"""Name of the observer of a part that wants none, whatever its algorithms name."""


class RoundObserver:
    """Sees the rounds of one block of replicates; one object per block.

    It may know what the algorithm must not, such as the optimum, and it hands nothing back.
    """

    def __call__(self, objective: Objective, **state: Any) -> None:
        """See the state of a round: arrays by name, ``(R, ...)``, as the algorithm shows them."""

    def finish(self, objective: Objective, output: Any) -> Mapping[str, Any]:
        """See the output ``(R, d)``, and give what the rounds came to: extras, as of `Info`."""
        return {}


OBSERVERS: Registry[type[RoundObserver]] = Registry("rounds", "observers")


def round_observer(name: str) -> Callable[[type[RoundObserver]], type[RoundObserver]]:
    """Register a class as the observer of that name (used as a decorator)."""
    return lambda cls: OBSERVERS.add(name, cls, cls.__module__)


def get_round_observer(name: str) -> RoundObserver | None:
    """Make an observer by name; None for an empty name and `NO_ROUNDS`. Raises InputError for an unknown one."""
    return None if name in ("", NO_ROUNDS) else OBSERVERS.get(name)()
