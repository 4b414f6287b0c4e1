"""Privacy of one draw from an axis law: the worst pair of neighbouring data sets, by one quadrature in x_1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.nodes import DEPTH, gauss_legendre
from dpsco_bench.papers.gopi2022.laws.panels import PER_PANEL, axis_panels
from dpsco_bench.papers.gopi2022.laws.privacy_curve import LARGEST, pair_epsilon

Array = np.ndarray
_AT_ONCE = 256
MOST_PAIRS = 1 << 14
"""So many pairs about the centre are all looked at, and as many of the others; then all next to the worst of these."""
ACCURACY = 1e-9


@dataclass(frozen=True)
class AxisNeighbours:
    """Laws ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, ``kap = reach a``, for n records on ``+-e_1``.

    The mean record a is one of ``-1, -1 + 2/n .. 1``, and replacing one record moves it to the next one at most. All
    tilts share the marginal of ``x_1`` without tilt, so that one table of it gives every law. The log ratio of two of
    them is linear in x_1, hence the best event is a tail. Source: Gopi, Lee, Liu, Shen, Tian 2022, Theorem 2 for the
    bound that this is compared with.

    Parameters
    ----------
    p : float, in [1, 2]
    d : int, dimension, >= 1
    c : float, curvature, >= 0
    reach : float, tilt at the mean record e_1, > 0
    n : int, records, >= 1
    """

    p: float
    d: int
    c: float
    reach: float
    n: int

    def __post_init__(self) -> None:
        checked_count("n", self.n)
        if not 0.0 < self.reach < math.inf:
            raise InputError("reach", self.reach, "a finite number > 0")

    @property
    def shift(self) -> float:
        """Difference of the tilts of neighbours."""
        return 2.0 * self.reach / self.n

    def epsilon(self, delta: float) -> float:
        """Least epsilon for which no pair of neighbours has a larger delta; to `ACCURACY`, relative above 1."""
        pairs = (self.n + 1) // 2  # of mean records whose middle is >= 0; the others mirror them
        step = -(-pairs // MOST_PAIRS)
        central = np.arange(min(pairs, MOST_PAIRS))
        worst, at = self._worst(np.append(central, np.arange(len(central), pairs, step)), delta)
        if at >= len(central):
            worst, _ = self._worst(np.arange(at - step, min(pairs, at + step + 1)), delta, worst)
        return worst

    def _worst(self, numbers: Array, delta: float, known: float = 0.0) -> tuple[float, int]:
        """Largest epsilon of pairs by number, at least the one that is known, and its pair.

        Pair 0 is the one about the centre (next to it for even n), the last one ends at 1.
        """
        at = 0
        for start in range(0, len(numbers), _AT_ONCE):
            found = TiltedPairs(self, numbers[start : start + _AT_ONCE]).above(known, delta)
            known, at = found or (known, at)
        return known, at

    def centre_epsilon(self, delta: float) -> float:
        """Compute it for the pair about the centre of the ball alone, hence a lower bound; without a table."""
        low, high = self.tilts(np.zeros(1))
        first, second = (AxisLaw(self.p, self.d, float(tilt[0]), self.c) for tilt in (low, high))
        return pair_epsilon(first, second, delta)

    def tilts(self, numbers: Array) -> tuple[Array, Array]:
        """Smaller and larger tilt of pairs by number."""
        low = (2.0 * numbers - self.n % 2) / self.n
        return self.reach * low, self.reach * (low + 2.0 / self.n)

    @cached_property
    def panels(self) -> tuple[Array, Array, Array]:
        """`axis_panels` of these laws."""
        return axis_panels(self.p, self.d, self.c)


class Tilts(Protocol):
    """Laws on a line that differ in their tilt alone: `AxisNeighbours`, or the pair of a plane."""

    @property
    def shift(self) -> float: ...

    @property
    def panels(self) -> tuple[Array, Array, Array]: ...

    def tilts(self, numbers: Array) -> tuple[Array, Array]: ...


class TiltedPairs:
    """Some pairs of neighbouring laws, on the panels where they have their mass."""

    def __init__(self, laws: Tilts, numbers: Array) -> None:
        self._numbers, self._shift = numbers, laws.shift
        low, high = laws.tilts(numbers)
        edges, gaps, log_marginal = laws.panels
        ends = np.array([low[0], high[-1]])
        profile = np.max(log_marginal - ends[:, None, None] * gaps, axis=2)
        kept = np.flatnonzero((profile > profile.max(axis=1, keepdims=True) - DEPTH).any(axis=0))
        part = slice(kept[0], kept[-1] + 1)
        self._edges = edges[kept[0] : kept[-1] + 2]
        self._log_marginal = log_marginal[part]
        self._laws = [_Tilted(self._edges, gaps[part], self._log_marginal, tilt) for tilt in (low, high)]
        self._change = self._laws[1].log_mass - self._laws[0].log_mass

    def above(self, known: float, delta: float) -> tuple[float, int] | None:
        """Largest least epsilon of these pairs and the number of its pair, None if it is at most ``known``."""
        rows, low = np.arange(len(self._numbers)), known
        high = max(1.0, 2.0 * known)
        if not (worse := self._deltas(rows, low) > delta).any():
            return None
        rows = rows[worse]
        while (worse := self._deltas(rows, high) > delta).any():
            rows, low, high = rows[worse], high, 2.0 * high
            if high > LARGEST:
                return math.inf, int(self._numbers[rows[0]])
        while high - low > ACCURACY * max(1.0, high):
            middle = 0.5 * (low + high)
            if (worse := self._deltas(rows, middle) > delta).any():
                rows, low = rows[worse], middle
            else:
                high = middle
        return high, int(self._numbers[rows[0]])

    def _deltas(self, rows: Array, epsilon: float) -> Array:
        """Larger of both deltas of pairs ``rows`` at epsilon."""
        small, large = self._laws
        near = -(epsilon + self._change[rows]) / self._shift
        first = large.below(rows, near) - math.exp(epsilon) * small.below(rows, near)
        far = (epsilon - self._change[rows]) / self._shift
        return np.maximum(first, small.above(rows, far) - math.exp(epsilon) * large.above(rows, far))


class _Tilted:
    """Laws of the gap of density ``exp(log_marginal - tilt gap)``, one per row."""

    def __init__(self, edges: Array, gaps: Array, log_marginal: Array, tilts: Array) -> None:
        self._edges, self._log_marginal, self._tilts = edges, log_marginal, tilts
        _, weights = gauss_legendre(PER_PANEL)
        logs = log_marginal - tilts[:, None, None] * gaps
        self._top = logs.max(axis=(1, 2))
        masses = np.exp(logs - self._top[:, None, None]) @ weights * np.diff(edges)
        nothing = np.zeros((len(tilts), 1))
        self._left = np.concatenate([nothing, np.cumsum(masses, axis=1)], axis=1)
        self._right = np.concatenate([np.cumsum(masses[:, ::-1], axis=1)[:, ::-1], nothing], axis=1)
        self.log_mass = self._top + np.log(self._left[:, -1])

    def below(self, rows: Array, gap: Array) -> Array:
        """Probability of a smaller gap."""
        panel, gap = self._panel(gap)
        found = self._left[rows, panel] + self._integral(rows, panel, self._edges[panel], gap)
        return np.asarray(found / self._left[rows, -1])

    def above(self, rows: Array, gap: Array) -> Array:
        """Probability of a larger gap."""
        panel, gap = self._panel(gap)
        found = self._right[rows, panel + 1] + self._integral(rows, panel, gap, self._edges[panel + 1])
        return np.asarray(found / self._left[rows, -1])

    def _panel(self, gap: Array) -> tuple[Array, Array]:
        gap = np.clip(gap, self._edges[0], self._edges[-1])
        return np.clip(np.searchsorted(self._edges, gap) - 1, 0, len(self._edges) - 2), gap

    def _integral(self, rows: Array, panel: Array, start: Array, end: Array) -> Array:
        """Over a part of a panel, where the log marginal is interpolated between the panel's nodes."""
        nodes, weights = gauss_legendre(PER_PANEL)
        gap = start[:, None] + (end - start)[:, None] * nodes
        left, width = self._edges[panel], np.diff(self._edges)[panel]
        values = _interpolated(self._log_marginal[panel], (gap - left[:, None]) / width[:, None])
        return np.exp(values - self._tilts[rows, None] * gap - self._top[rows, None]) @ weights * (end - start)


def _interpolated(values: Array, at: Array) -> Array:
    """Polynomials through ``values (N, m)`` at the Gauss-Legendre nodes of (0, 1), at points ``(N, m)``."""
    nodes, weights = gauss_legendre(values.shape[1])
    factors = (-1.0) ** np.arange(len(nodes)) * np.sqrt(nodes * (1.0 - nodes) * weights)
    away = at[:, :, None] - nodes
    exact = away == 0.0
    terms = factors / np.where(exact, 1.0, away)
    terms = np.where(exact.any(axis=2, keepdims=True), exact, terms)
    return np.asarray((terms @ values[:, :, None])[:, :, 0] / terms.sum(axis=2))
