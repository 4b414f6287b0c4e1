"""Families with a free signal strength: a claim takes the largest risk over a grid of it, minimax style."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.problems.base import checked_real
from dpsco_bench.problems.cell_family import CellFamily

Array = Any


class SignalFamily(CellFamily):
    """A family with a signal of strength ``min(cap, signal * unit)``, one or several at once.

    Parameters
    ----------
    d : int
        Dimension.
    signal : float
        > 0, in units of `unit`.
    constants : dict, optional
        As for `Problem`.

    Attributes
    ----------
    cap : float
        The largest strength that makes sense.
    signals : array (S,)
        The signals in force; see `Problem.with_signals` for the order of rows.
    """

    signal_option: ClassVar[str] = "signal"
    cap: ClassVar[float] = 1.0

    def __init__(self, d: int | None = None, signal: float = 1.0, constants: dict[str, float] | None = None) -> None:
        self.signals = np.array([checked_real("signal", signal, positive=True)])
        super().__init__(d, constants)

    @property
    def unit(self) -> float:
        """Strength of signal 1 in the cell of `count`, `epsilon` and `delta`."""
        return 1.0

    @property
    def strengths(self) -> np.ndarray:
        """Strength at each signal, shape ``(S,)``."""
        return np.minimum(self.cap, self.unit * self.signals)

    @property
    def signal_capped(self) -> bool:
        """Whether the cap is reached."""
        return bool((self.unit * self.signals >= self.cap).all())

    @property
    def member(self) -> tuple[float, ...]:
        """The cell and the signals."""
        return (*super().member, *self.signals.tolist())

    def with_signals(self, values: np.ndarray) -> Any:
        """The same member at several signals at once."""
        several = copy.copy(self)
        several.signals = np.asarray(values, dtype=np.float64)
        return several

    def by_row(self, values: np.ndarray, x: Array) -> Array:
        """A number per signal, ``values (S,)``, for the rows of ``x (S R, ...)``: shape ``(S R, 1)``, as x is."""
        xp = array_namespace(x)
        rows = np.repeat(values, x.shape[0] // len(values))
        return xp.asarray(rows[:, None], dtype=x.dtype)
