"""Observers of rounds: what a theorem says about the rounds of a run, turned into extras of its result rows."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.problems.objective import Objective

NO_ROUNDS = "none"
"""Name of the observer of a part that wants none, whatever its algorithms name."""
_FOLDER = Path(__file__).with_name("observers")


class RoundObserver:
    """Sees the rounds of one block of replicates; one object per block.

    An observer lies in ``execution/observers/<name>.py``, as its class ``Observer``. It may know what the algorithm
    must not, such as the optimum, and it hands nothing back.
    """

    def __call__(self, objective: Objective, **state: Any) -> None:
        """See the state of a round: arrays by name, ``(R, ...)``, as the algorithm shows them."""

    def finish(self, objective: Objective, output: Any) -> None:
        """See the output ``(R, d)``, and note what the rounds gave (`Objective.note`)."""


def observer_module(name: str) -> str:
    """Name of the module of an observer.

    Raises
    ------
    InputError
        For an unknown name.
    """
    known = sorted(path.stem for path in _FOLDER.glob("*.py") if path.stem != "__init__")
    if name not in known:
        raise InputError("rounds", name, "one of " + ", ".join([NO_ROUNDS, *known]))
    return f"dpsco_bench.execution.observers.{name}"


def get_round_observer(name: str) -> RoundObserver | None:
    """A fresh observer by name; None for an empty name, and for `NO_ROUNDS`.

    Raises
    ------
    InputError
        For an unknown name.
    """
    if name in ("", NO_ROUNDS):
        return None
    observer: RoundObserver = importlib.import_module(observer_module(name)).Observer()
    return observer
