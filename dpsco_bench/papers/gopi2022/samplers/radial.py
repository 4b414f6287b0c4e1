"""Exact radii of density ``~ rho^(d-1) exp(-A rho - B rho^2)``, by rejection under tangents of the log density."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.papers.gopi2022.samplers.truncated import truncated_exponential
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
TANGENTS = 33
_DEPTH = 30.0
MOST_ROUNDS = 1000


@dataclass(frozen=True)
class TangentEnvelope:
    """A piecewise exponential envelope of the radial density on ``(0, R]``.

    Tangents of a concave function lie above it wherever they touch; where they touch only decides how much is accepted.
    Source: Chapter gopi2022, section 2.3 (radial_exact).
    """

    d: int
    A: float
    B: float
    R: float

    def log_density(self, rho: Array) -> Array:
        """``(d - 1) log rho - A rho - B rho^2``."""
        volume = (self.d - 1) * np.log(rho) if self.d > 1 else 0.0
        return volume - self.A * rho - self.B * rho * rho

    def slope(self, rho: Array) -> Array:
        return (self.d - 1) / rho - self.A - 2.0 * self.B * rho

    @cached_property
    def _pieces(self) -> tuple[Array, Array, Array]:
        """Find where the tangents touch, and the ends of their pieces ``(TANGENTS + 1,)``."""
        touch = self._touching_points()
        value, slope = self.log_density(touch), self.slope(touch)
        drop = slope[:-1] - slope[1:]
        flat = drop <= 1e-12 * (np.abs(slope[:-1]) + np.abs(slope[1:]))  # equal tangents: any end will do
        crossing = (value[1:] - value[:-1] - slope[1:] * touch[1:] + slope[:-1] * touch[:-1]) / np.where(flat, 1, drop)
        ends = np.where(flat, 0.5 * (touch[1:] + touch[:-1]), np.clip(crossing, touch[:-1], touch[1:]))
        return touch, np.concatenate([[0.0], ends]), np.concatenate([ends, [self.R]])

    def _touching_points(self) -> Array:
        """Choose points from one place where the density is exp(-30) of its maximum to the other side of the mode."""
        mode = self._mode()
        top = self.log_density(np.asarray(mode))
        low, high = mode, mode
        for _ in range(60):  # halve the distance to the ends until the density there is not negligible
            low = 0.5 * low if self.log_density(np.asarray(low)) > top - _DEPTH else low
        step = self.R - mode
        for _ in range(60):
            step = 0.5 * step if self.log_density(np.asarray(mode + step)) < top - _DEPTH else step
        high = min(self.R, mode + 2.0 * step)
        return np.unique(np.concatenate([np.linspace(low, mode, TANGENTS), np.linspace(mode, high, TANGENTS)]))

    def _mode(self) -> float:
        """Zero of the slope, at most R; a small radius where the density falls from 0 on."""
        root = np.sqrt(self.A * self.A + 8.0 * self.B * (self.d - 1))
        if self.d == 1 and self.A >= 0:
            return min(self.R, 1e-3 / max(self.A, np.sqrt(self.B), 1.0 / self.R))
        if self.A >= 0:
            zero = 2.0 * (self.d - 1) / (self.A + root) if root > 0 else self.R
        else:
            zero = (root - self.A) / (4.0 * self.B) if self.B > 0 else self.R
        return float(min(self.R, zero))

    @cached_property
    def _cumulative(self) -> Array:
        """Running sums of the pieces' masses under the envelope."""
        touch, start, end = self._pieces
        slope, height = self.slope(touch), self.log_density(touch)
        higher = height + np.maximum(slope * (start - touch), slope * (end - touch))  # log envelope at its higher end
        fall = np.abs(slope) * (end - start)
        share = np.where(fall > 1e-9, -np.expm1(-fall) / np.where(fall > 0, fall, 1.0), 1.0 - 0.5 * fall)
        return np.cumsum(np.exp(higher - np.max(height)) * (end - start) * share)

    def propose(self, u: Array) -> tuple[Array, Array]:
        """Uniform numbers ``(N, 3)`` -> radii ``(N,)`` and whether they are accepted."""
        touch, start, end = self._pieces
        piece = np.searchsorted(self._cumulative, u[:, 0] * self._cumulative[-1], side="right")
        piece = np.minimum(piece, self._cumulative.size - 1)
        half, slope = 0.5 * (end - start)[piece], self.slope(touch)[piece]
        rho = 0.5 * (start + end)[piece] + truncated_exponential(u[:, 1], slope, half)
        rho = np.maximum(rho, np.finfo(float).tiny)
        envelope = self.log_density(touch[piece]) + slope * (rho - touch[piece])
        return rho, np.log(u[:, 2]) <= self.log_density(rho) - envelope


def sample_radius(draws: KeyedDraws, d: int, A: float, B: float, R: float) -> Array:
    """Radii ``(rows,)`` of density ``~ rho^(d-1) exp(-A rho - B rho^2)`` on ``(0, R]``; see `TangentEnvelope`."""
    envelope = TangentEnvelope(d, A, B, R)
    radii, todo = np.empty(draws.rows), np.ones(draws.rows, dtype=bool)
    for attempt in range(MOST_ROUNDS):
        rho, accepted = envelope.propose(draws.uniform("radius", attempt, 3))
        radii = np.where(todo & accepted, rho, radii)
        todo &= ~accepted
        if not todo.any():
            return radii
    raise NumericalFailure(f"radial_exact: nothing accepted in {MOST_ROUNDS} rounds at d = {d}, A = {A:g}, B = {B:g}")
