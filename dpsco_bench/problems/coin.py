"""Samples of coins +-1, known by how many of them are heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.problems.base import Draws

Array = Any


class CoinSample:
    """``n`` coins of every row, ``R`` replicates at ``S`` signals (signal-major), in a fixed order given their number.

    The number of heads is binomial, by inversion of one uniform a replicate, which all signals share. Given it, heads
    are spread evenly: coins are exchangeable, so that methods that look at all of them, or at random ones, see the law
    of independent coins.

    Parameters
    ----------
    chances : array (S,), probabilities of heads
    """

    def __init__(self, n: int, draws: Draws, chances: np.ndarray) -> None:
        from scipy.stats import binom

        self.n = n
        u = to_numpy(draws.stream("heads").uniform(*draws.box(0, 1, 1)))[0, :, 0]
        self.heads = np.asarray(binom.ppf(u, n, np.asarray(chances)[:, None]), dtype=np.float64).reshape(-1)

    def mean(self, x: Array, first: int = 0, count: int | None = None) -> Array:
        """Mean of ``count`` coins from ``first`` on (of all by default), shape ``(S R, 1)``, as x is."""
        last = self.n if count is None else first + count
        found = self._before(last) - self._before(first)
        return array_namespace(x).asarray((2.0 * found / (last - first) - 1.0)[:, None], dtype=x.dtype)

    def chosen(self, indices: Array) -> np.ndarray:
        """Coins ``indices (S R, W)``, as +-1."""
        i = to_numpy(indices)
        return 2.0 * (self._before(i.T + 1) - self._before(i.T)).T - 1.0

    def _before(self, index: Any) -> Any:
        """Count the heads before an index."""
        return np.floor(index * self.heads / self.n)
