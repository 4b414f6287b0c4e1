"""Cells that differ in a free signal strength only: run at once, with the same draws at every signal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, ClassVar

from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.samplers.draws import KeyedDraws

Array = Any
Entry = tuple[Cell, CalibratedCell]

_SCHEDULE_ONLY = ("initial_gap", "initial_distance")
"""Constants that schedules alone look at: where the schedules are equal, these may differ."""


class SharedNoise(Mechanism):
    """A mechanism whose draws for R replicates serve the rows of every signal, ``(S R, ...)``, signal-major."""

    answers_steps: ClassVar[bool] = True

    def __init__(self, signals: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._signals = self.copies = signals

    def choose(self, name: str, high: int) -> Array:
        """As `Mechanism.choose`, shape ``(S R,)``."""
        return self.xp.tile(super().choose(name, high), (self._signals,))

    def permutation(self, name: str, size: int) -> Array:
        """As `Mechanism.permutation`, shape ``(S R, size)``."""
        return self.xp.tile(super().permutation(name, size), (self._signals, 1))

    def _lazy_minimum(self, query: NoisyMinimumQuery, value: Array, step: int) -> Array:
        signals, size, answers = self._signals, self._replicates, []
        self._signals = 1  # a signal at a time: the same draws answer other scores
        try:
            for first in range(0, signals * size, size):
                answers.append(super()._lazy_minimum(query, value[first : first + size, :], step))
        finally:
            self._signals = signals
        return self.xp.concatenate(answers) if hasattr(self.xp, "concatenate") else self.xp.concat(answers)

    def _noise(self, query: Query, step: int, dim: int) -> Array | None:
        noise = super()._noise(query, step, dim)
        return None if noise is None else self.xp.tile(noise, (self._signals, 1))

    def _randomness(self, query: DrawQuery, step: int, copies: int = 1) -> tuple[float, KeyedDraws] | None:
        return super()._randomness(query, step, self._signals)

    def _batch_arrays(self, query: Query, step: int) -> tuple[Array, Array, Array]:
        indices, weights, sizes = super()._batch_arrays(query, step)
        several = (self._signals, 1)
        return self.xp.tile(indices, several), self.xp.tile(weights, several), self.xp.tile(sizes, several[:1])


def signal_groups(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Split a job's (cell, calibration) pairs into runs of neighbours that may be run at once.

    Such cells differ in their problem's signal only, and have the same plan, noise and constants.
    """
    group: list[Entry] = []
    for entry in entries:
        if group and _kind(entry) != _kind(group[0]):
            yield group
            group = []
        group.append(entry)
        if entry[0].signal is None:
            yield group
            group = []
    if group:
        yield group


def _kind(entry: Entry) -> str:
    cell, calibrated = entry
    option = problem_class(cell.problem).signal_option
    common = {key: value for key, value in cell.to_json().items() if key not in ("cell", "signal", "problem_options")}
    options = {key: value for key, value in cell.problem_options.items() if key != option}
    constants = {key: value for key, value in asdict(calibrated.constants).items() if key not in _SCHEDULE_ONLY}
    same = [calibrated.variant, calibrated.charged, calibrated.scales, calibrated.warnings]
    return dumps_canonical([common, options, constants, same])
