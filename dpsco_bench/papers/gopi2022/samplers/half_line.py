"""Normalisers of ``exp(t y - y^q)`` on the half line, by which proposals for l_p balls choose their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dpsco_bench.papers.gopi2022.bisection import ends
from dpsco_bench.papers.gopi2022.laws.nodes import DEPTH, gauss_legendre

Array = np.ndarray
_COUNT, _NODES, _BISECTIONS = 1025, 96, 60
FAR, FARTHEST = 30.0, 1e12
"""Largest mode and largest -t of the table, which is constant beyond."""


@dataclass(frozen=True)
class HalfLine:
    """``L(t) = log int_0^inf exp(t y - y^q) dy`` and ``L'(t)``, the mean of y, for q in (1, 2].

    What they exceed ``max_y t y - y^q`` and its derivative by is smooth, and tabulated. They choose the parameters of
    proposals: their accuracy, about 1e-5, is a matter of speed alone.
    """

    q: float

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """L, L' and the mean of ``y^q`` at ``t``, any shape."""
        nodes, logs, means = self._table
        t = np.minimum(t, self._highest)
        at = np.arcsinh(t)
        mode = self._mode(t)
        mean = np.exp(np.interp(at, nodes, means)) + mode
        # by parts, but for t far below 0, where that cancels and y is nearly exponential
        power = np.where(t < -FAR, math.gamma(self.q + 1.0) * mean**self.q, (1.0 + t * mean) / self.q)
        return np.interp(at, nodes, logs) + (self.q - 1.0) * mode**self.q, mean, power

    @property
    def _highest(self) -> float:
        return float(self.q * FARTHEST ** (self.q - 1.0))

    def _mode(self, t: Array) -> Array:
        return (np.maximum(t, 0.0) / self.q) ** (1.0 / (self.q - 1.0))

    @cached_property
    def _table(self) -> tuple[Array, Array, Array]:
        """``asinh t``, and there L and ``log L'`` without the mode's part."""
        nodes = np.linspace(-np.arcsinh(FARTHEST), np.arcsinh(self._highest), _COUNT)
        t = np.sinh(nodes)
        mode = self._mode(t)
        # y = mode + s: the exponent over that at the mode, without cancellation for small s
        low, high = self._ends(t, mode)
        u, weights = gauss_legendre(_NODES)
        s = low[:, None] + (high - low)[:, None] * u
        mass = weights * np.exp(self._exponent(t[:, None], mode[:, None], s)) * (high - low)[:, None]
        total = mass.sum(axis=1)
        return nodes, np.log(total), np.log(np.maximum((mass * s).sum(axis=1) / total, 1.0 / FARTHEST))

    def _exponent(self, t: Array, mode: Array, s: Array) -> Array:
        """``t y - y^q`` at ``y = mode + s`` over that at the mode."""
        safe = np.where(mode > 0.0, mode, 1.0)
        ratio = np.maximum(s / safe, -1.0)
        with np.errstate(divide="ignore", over="ignore"):
            bend = np.expm1(self.q * np.log1p(ratio)) - self.q * ratio
        return np.where(mode > 0.0, -(safe**self.q) * bend, t * s - np.abs(s) ** self.q)

    def _ends(self, t: Array, mode: Array) -> tuple[Array, Array]:
        """Find where s is worth while: the density is above ``exp(-DEPTH)`` of its maximum."""
        far = 2.0 * mode + DEPTH + 1.0  # there the exponent is below -DEPTH for every q > 1 and t <= 0, and for t > 0
        far = np.where(t > 0.0, far * DEPTH, np.minimum(far, DEPTH / np.maximum(-t, 1e-9)))
        holds: Callable[[Array], Array] = lambda s: self._exponent(t, mode, s) > -DEPTH  # noqa: E731
        below, above = (
            ends(lambda s: holds(-s), 0.0 * mode, mode, _BISECTIONS),
            ends(holds, 0.0 * mode, far, _BISECTIONS),
        )
        return -below[1], above[1]


@lru_cache(maxsize=16)
def half_line(q: float) -> HalfLine:
    """Make the table of one exponent, once."""
    return HalfLine(q)
