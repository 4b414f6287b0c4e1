"""What consecutive cells of a job have in common: data sets and minima are made once, not once per method."""

from __future__ import annotations

from typing import Any

from dpsco_bench.execution.cell import Cell
from dpsco_bench.problems.base import Data

KEPT_BYTES = 2**28


class Reuse:
    """Data sets and minima of the cells that were run before, by the objective that they belong to.

    Cells that differ only in method, calibration or noise have the same objective; drawing a large data set and
    minimising over it again would cost more than many a run. Nothing depends on whether something was kept.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._data: dict[str, Data] = {}
        self._minima: dict[str, Any] = {}

    def data(self, cell: Cell, data_set: int) -> Data:
        """`Cell.draw_data`, of the last draws one that was the same."""
        key = cell.objective_key(data_set)
        found = self._data.pop(key, None)
        if found is None:
            found = cell.draw_data(self._seed, data_set)
        while self._data and sum(map(_bytes, self._data.values())) + _bytes(found) > KEPT_BYTES:
            del self._data[next(iter(self._data))]
        self._data[key] = found
        return found

    def minimum(self, cell: Cell, data_set: int) -> Any:
        """The minimum that an earlier cell stored, or None."""
        return self._minima.get(cell.objective_key(data_set))

    def keep_minimum(self, cell: Cell, data_set: int, minimum: Any) -> None:
        """Store a minimum; None stores nothing."""
        if minimum is not None:
            self._minima[cell.objective_key(data_set)] = minimum


def _bytes(data: Data) -> int:
    return sum(getattr(array, "nbytes", 0) for array in (data.features, data.labels))
