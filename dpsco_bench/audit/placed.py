"""Cells whose runs are made in another way for an audit by hand: on moved records, or one by one.

On moved records a canary stands in the place of which data leak. One by one, runs share no random numbers of their own.
"""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm, RunFunction, get_algorithm
from dpsco_bench.audit.asked import Asking, AskingReplay
from dpsco_bench.audit.neighbours import moved
from dpsco_bench.audit.replay import ForcedReplay, Probe, Recorder
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.problems.objective import Objective

Array = np.ndarray


@dataclass(frozen=True)
class Placed(Cell):
    """A cell whose algorithm sees the records 0 and ``place`` exchanged; ``apart``: it is called for each run alone."""

    place: int = 0
    apart: bool = False

    @classmethod
    def of(cls, cell: Cell, place: int = 0, apart: bool = False) -> Placed:
        """The cell with another place."""
        return cls(**{f.name: getattr(cell, f.name) for f in fields(Cell)}, place=place, apart=apart)

    @cached_property
    def algorithm_entry(self) -> Algorithm:
        """The algorithm from the registry; on moved data, where no other place is tried."""
        entry = get_algorithm(self.algorithm)
        run = entry.run_function
        if run is None:
            return entry
        if self.apart:
            run = _one_by_one(run)
        if self.place:
            run = _moving(run, self.place)
        return replace(entry, run_function=run, order_invariant=entry.order_invariant or self.place > 0)


def _moving(run: RunFunction, place: int) -> RunFunction:
    def moving(objective: Objective, plan: Any, mechanism: Any) -> Any:
        inner = Objective(objective.problem, moved(objective.host_data, place), objective.replicates)
        return run(inner, plan, mechanism)

    return moving


class Rows(Recorder):
    """Some runs of a recorded block, in any order and number of copies."""

    def __init__(self, recorded: Recorder, rows: Array | Sequence[int]) -> None:
        self._mechanism: Any = recorded
        self._rows = np.asarray(rows)
        self.transcript = {where: np.asarray(answer)[self._rows] for where, answer in recorded.transcript.items()}
        self.public = {name: np.asarray(chosen)[self._rows] for name, chosen in recorded.public.items()}
        asked = recorded.asked if isinstance(recorded, Asking | Rows) else {}
        self.asked: dict[tuple[str, str], Array] = {name: size[self._rows] for name, size in asked.items()}

    def choose(self, name: str, high: int) -> Array:
        return np.asarray(self._mechanism.choose(name, high))[self._rows]

    def permutation(self, name: str, size: int) -> Array:
        return np.asarray(self._mechanism.permutation(name, size))[self._rows]


def _one_by_one(run: RunFunction) -> RunFunction:
    """A run that is called for each replicate alone, with that replicate's noise, choices and forced answers."""

    def apart(objective: Objective, plan: Any, mechanism: Any) -> Any:
        if isinstance(mechanism, Probe):  # which measures one function by all of its replicates
            return run(objective, plan, mechanism)
        sources = [_row_of(mechanism, row) for row in range(objective.replicates)]
        outputs = [run(Objective(objective.problem, objective.host_data, 1), plan, source) for source in sources]
        if isinstance(mechanism, Recorder):
            mechanism.transcript |= _joined([source.transcript for source in sources])
            mechanism.public |= _joined([_filled(source.public, sources) for source in sources])
        if isinstance(mechanism, ForcedReplay):
            mechanism.exposed |= _joined([source.exposed for source in sources])
        if isinstance(mechanism, Asking | AskingReplay):
            mechanism.asked |= _joined([source.asked for source in sources])
        return np.concatenate([np.asarray(output) for output in outputs])

    return apart


def _row_of(source: Any, row: int) -> Any:
    """What a mechanism, a recorder or a forced replay is to one of its replicates."""
    if isinstance(source, Recorder):
        return type(source)(_row_of(source._mechanism, row))
    own = copy.copy(source)
    own._first, own._replicates = source._first + row, 1
    own._blocks, own._spent, own._ranges = {}, defaultdict(set), defaultdict(list)
    own.released, own.sampled = Counter(), Counter()
    if isinstance(source, ForcedReplay):
        own._recorded, own._count, own.exposed = Rows(source._recorded, [row]), 1, {}
    if isinstance(source, AskingReplay):
        own.asked = {}
    assert isinstance(own, Mechanism)
    return own


def _filled(public: dict[Any, Array], sources: Sequence[Recorder]) -> dict[Any, Array]:
    """Choices and orders of one run, these with -1 behind them up to the longest of all runs."""
    filled = {}
    for what, own in public.items():
        longest = max(np.shape(source.public[what])[-1] for source in sources if what in source.public)
        short = longest - np.shape(own)[-1] if np.ndim(own) > 1 else 0
        filled[what] = np.pad(np.asarray(own), [(0, 0), (0, short)], constant_values=-1) if short else own
    return filled


def _joined(parts: Sequence[dict[Any, Array]]) -> dict[Any, Array]:
    """Arrays of single runs as those of a block.

    Raises InputError for runs that release or choose different things.
    """
    if any(part.keys() != parts[0].keys() for part in parts):
        raise InputError("releases of a run", "others than those of another run", "the same in every run")
    return {key: np.concatenate([np.asarray(part[key]) for part in parts]) for key in parts[0]}
