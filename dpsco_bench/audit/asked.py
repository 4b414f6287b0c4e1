"""Forced runs that also say what was asked for in public: ranges of choices and sizes of orders.

Whoever sees a choice learns of its range. So a run that asks for another range than the recorded one is another run,
whatever it returns: its data do not lead to the recorded output.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.audit.replay import ForcedReplay, Recorder
from dpsco_bench.audit.transcript import Setting, Side, explains
from dpsco_bench.privacy.records import RandomAllocation

Array = np.ndarray
CHOICE, ORDER = "choice", "order"


class Asking(Recorder):
    """A recorder that keeps what was asked for.

    Attributes
    ----------
    asked : dict of (kind, name) to array (R,)
        Range of a choice, or size of an order, in each of the runs.
    """

    def __init__(self, mechanism: Any) -> None:
        super().__init__(mechanism)
        self.asked: dict[tuple[str, str], Array] = {}

    def choose(self, name: str, high: int) -> Array:
        chosen = super().choose(name, high)
        self.asked[CHOICE, name] = np.full(len(chosen), high)
        return chosen

    def permutation(self, name: str, size: int) -> Array:
        order = super().permutation(name, size)
        self.asked[ORDER, name] = np.full(len(order), size)
        return order


class AskingReplay(ForcedReplay):
    """A forced replay that keeps what is asked for, and answers as recorded where that is what the recorded run asked.

    Attributes
    ----------
    asked : as of `Asking`
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.asked: dict[tuple[str, str], Array] = {}

    def choose(self, name: str, high: int) -> Array:
        """The recorded choice, cut at another range; 0 where none was made."""
        self.asked[CHOICE, name] = np.full(self._count, high)
        found = self._recorded.public.get((CHOICE, name), np.zeros(self._count, dtype=np.int64))
        return np.minimum(found, high - 1)

    def permutation(self, name: str, size: int) -> Array:
        """The recorded order; that of the numbers where none of this size was recorded, or as of a hidden order."""
        self.asked[ORDER, name] = np.full(self._count, size)
        found = self._recorded.public.get((ORDER, name))
        hidden = any(isinstance(query.records, RandomAllocation) for query in self.plan.queries)
        if hidden:
            return super().permutation(name, size)
        if found is None or np.any(self._recorded.asked[ORDER, name] != size):
            return np.tile(np.arange(size), (self._count, 1))
        return found[:, :size]  # behind it nothing, or what longer orders of other runs leave free

    def alike(self) -> Array:
        """In which runs the same was asked for as in the recorded one, ``(R,)`` of bool."""
        recorded = self._recorded.asked
        if self.asked.keys() != recorded.keys():
            return np.zeros(self._count, dtype=bool)
        same = [np.asarray(size) == recorded[what] for what, size in self.asked.items()]
        return np.all([np.ones(self._count, dtype=bool), *same], axis=0)


def leads(setting: Setting, data: Any, recorded: Any, output: Array) -> tuple[Array, Array]:
    """Force recorded runs on one data set, with the differing record out of every hidden batch and in every one.

    Parameters
    ----------
    recorded : Asking, or `placed.Rows` of one
    output : array (R, d)

    Returns
    -------
    array (R,) of bool, whether one of the two asks for what was asked for and returns the output
    array (R,) of bool, whether one of the two asks for what was asked for
    """
    found, same = np.zeros((2, len(output)), dtype=bool)
    for drawn in (False, True)[: 1 + setting.hides_batches]:
        replay = AskingReplay(setting.plan, setting.scales, recorded, len(output), setting.record, drawn)
        side = Side(data, {}, {}, (setting.execute(data, replay, len(output)),))
        alike = replay.alike()
        found |= explains(side, output) & alike
        same |= alike
    return found, same
