"""Tables of ``E[1 - x_1]`` of axis laws as a function of their tilt, for averages over the tilts of random data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dpsco_bench.papers.gopi2022.laws.nodes import gauss_legendre
from dpsco_bench.papers.gopi2022.laws.panels import PER_PANEL, axis_panels

ACCURACY = 1e-7
_FIRST = 25
_MOST = 12


class GapTable:
    """``E[1 - x_1]`` under ``exp(kap x_1 - c ||x||_p^2)`` for ``|kap| <= reach``, by Hermite interpolation.

    Its derivative in kap is minus the variance, which the same integral gives. Intervals of ``asinh(kap)`` are halved
    until the value in the middle is within `ACCURACY`.
    """

    def __init__(self, p: float, d: int, c: float, reach: float) -> None:
        from scipy.interpolate import CubicHermiteSpline

        self._known: dict[float, tuple[float, float]] = {}
        edges, gaps, log_marginal = axis_panels(p, d, c)
        _, weights = gauss_legendre(PER_PANEL)
        self._gaps = gaps.ravel()
        with np.errstate(divide="ignore"):  # the smallest panels next to -1 are empty to rounding
            self._log_mass = (log_marginal + np.log(np.diff(edges)[:, None] * weights)).ravel()
        ends = list(np.linspace(0.0, np.arcsinh(reach), _FIRST))
        nodes = [ends[0]]
        for low, high in zip(ends[:-1], ends[1:], strict=True):
            nodes += self._refined(float(low), float(high), _MOST)
        values = np.array([self._at(float(u)) for u in nodes])
        self._spline = CubicHermiteSpline(np.array(nodes), values[:, 0], values[:, 1])

    def __call__(self, kap: Any) -> np.ndarray:
        """At tilts ``kap``, an array or number."""
        kap = np.asarray(kap, dtype=np.float64)
        right = self._spline(np.arcsinh(np.abs(kap)))
        return np.where(kap >= 0.0, right, 2.0 - right)

    def _at(self, u: float) -> tuple[float, float]:
        """Value and derivative at ``asinh(kap) = u``."""
        if u not in self._known:
            logs = self._log_mass - np.sinh(u) * self._gaps
            mass = np.exp(logs - logs.max())
            mean = self._gaps @ mass / mass.sum()
            variance = (self._gaps - mean) ** 2 @ mass / mass.sum()
            self._known[u] = float(mean), -float(variance * np.cosh(u))
        return self._known[u]

    def _refined(self, low: float, high: float, depth: int) -> list[float]:
        """Nodes after ``low`` up to ``high``."""
        middle = 0.5 * (low + high)
        (left, rise), (right, fall) = self._at(low), self._at(high)
        guess = 0.5 * (left + right) + 0.125 * (high - low) * (rise - fall)
        if depth == 0 or abs(self._at(middle)[0] - guess) <= ACCURACY:
            return [middle, high]
        return self._refined(low, middle, depth - 1) + self._refined(middle, high, depth - 1)


@lru_cache(maxsize=16)
def gap_table(p: float, d: int, c: float, reach: float) -> GapTable:
    """Make the table of these parameters, once."""
    return GapTable(p, d, c, reach)
