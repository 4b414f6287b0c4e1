"""Records ``m + a Rad/sqrt(d)`` about a mean in a direction of each replicate, drawn as they are looked at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.problems.base import Draws
from dpsco_bench.problems.forms import Kinds, Signs

BLOCK_VALUES = 1 << 18
"""Record entries, over all rows, that are drawn at once."""


class DirectionSample:
    """Records of ``S R`` rows (signal-major): all signals share the direction and the signs of a replicate.

    Parameters
    ----------
    strengths : array (S,), length of the mean at each signal
    exponent : float, norm in which directions are unit vectors, in [1, inf]: normals are divided by it

    Attributes
    ----------
    directions : array (R, d), u of each replicate
    means : array (S R, d), strength times u
    """

    def __init__(
        self, n: int, d: int, draws: Draws, strengths: np.ndarray, spread: float, exponent: float = 2.0
    ) -> None:
        self.n, self.d, self.draws, self.spread = n, d, draws, spread
        self.signals = len(strengths)
        normals = to_numpy(draws.stream("direction").normal(*draws.box(0, 1, d)))[0].astype(np.float64)
        self.directions = normals / np.linalg.norm(normals, ord=exponent, axis=-1, keepdims=True)
        self.means = (np.asarray(strengths)[:, None, None] * self.directions).reshape(-1, d)
        self._first, self._block = 0, np.empty((0, *self.means.shape))
        self._all: np.ndarray | None = None

    def record(self, index: int) -> np.ndarray:
        """Record ``index`` of every row, shape ``(S R, d)``; consecutive ones come from one draw."""
        if self.spread == 0.0:
            return self.means
        if not self._first <= index < self._first + len(self._block):
            count = min(self.n - index, max(1, BLOCK_VALUES // self.means.size))
            self._first, self._block = index, self._from_signs(self._signs(index, count))
        return self._block[index - self._first]

    def records(self, first: int, count: int) -> np.ndarray:
        """Draw records ``first .. first + count - 1`` of every row, shape ``(S R, count, d)``."""
        return self._from_signs(self._signs(first, count)).swapaxes(0, 1)

    def chosen(self, indices: Any) -> np.ndarray:
        """Draw records ``indices (S R, W)`` of every row, shape ``(S R, W, d)``."""
        rows = np.arange(len(self.means)) % len(self.directions)
        signs = self._all_signs()[rows[:, None], to_numpy(indices)]
        return self.means[:, None, :] + self._size * signs

    def kinds(self) -> Kinds | Signs:
        """See `Problem.form_kinds`: without a spread a row has one record."""
        if self.spread == 0.0:
            return Kinds(self.means, None, np.arange(len(self.means))[:, None])
        return Signs(self.means, self._all_signs(), self._size)

    def _all_signs(self) -> np.ndarray:
        """Signs of all records, shape ``(R, n, d)``."""
        if self._all is None:
            self._all = np.ascontiguousarray(self._signs(0, self.n).swapaxes(0, 1).astype(np.int8))
        return self._all

    @property
    def _size(self) -> float:
        return self.spread / math.sqrt(self.d)

    def _signs(self, first: int, count: int) -> np.ndarray:
        """Rademacher signs of records from ``first`` on, shape ``(count, R, d)``."""
        u = to_numpy(self.draws.stream("signs").uniform(*self.draws.box(first, count, self.d)))
        return 2.0 * (u < 0.5) - 1.0

    def _from_signs(self, signs: np.ndarray) -> np.ndarray:
        """Shape ``(count, S R, d)``."""
        return self.means + np.tile(self._size * signs, (1, self.signals, 1))
