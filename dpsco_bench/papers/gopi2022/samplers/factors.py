"""Coordinates of a product of one-dimensional log-concave densities on [-1, 1], by rejection under tangents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.papers.gopi2022.bisection import ends
from dpsco_bench.papers.gopi2022.samplers.truncated import truncated_exponential
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
LEVELS = (6.0, 2.5, 1.0, 0.3, 0.05)
"""Tangents touch where the log density is so far below its maximum, on both sides, and at the maximum."""
_BISECTIONS = 52
MOST_ROUNDS = 200
"""A round accepts nine in ten; so many failures are an error of the envelope, not chance."""


@dataclass(frozen=True)
class Factors:
    """Densities ``exp(v_j x_j - lam |x_j|^q - eta |x_j|^p)``, j = 1..d, for each of N rows.

    A tangent of a concave function lies above it wherever it touches, and it may be used on any interval: where
    tangents touch and pieces end only decides how much is accepted.

    Attributes
    ----------
    v : array (N, d), tilts of either sign
    lam, eta : array (N,), >= 0, not both 0
    q, p : float, in [1, 2]
    """

    v: Array
    lam: Array
    eta: Array
    q: float
    p: float

    def log_density(self, rows: Array, x: Array) -> Array:
        """At ``x (m, d)`` of rows ``(m,)``, where the tilts are taken for positive."""
        size = np.abs(x)
        penalty = self.lam[rows, None] * size**self.q + self.eta[rows, None] * size**self.p
        return np.asarray(np.abs(self.v)[rows] * x - penalty)

    @cached_property
    def _envelope(self) -> tuple[Array, ...]:
        """Touching points, log densities and slopes there, ends and running masses of their pieces, ``(N, d, K)``."""
        touch = self._touching_points()
        size = np.abs(touch)
        lam, eta, tilt = self.lam[:, None, None], self.eta[:, None, None], np.abs(self.v)[:, :, None]
        value = tilt * touch - lam * size**self.q - eta * size**self.p
        pull = lam * self.q * size ** (self.q - 1.0) + eta * self.p * size ** (self.p - 1.0)
        slope = tilt - np.sign(touch) * pull
        drop = slope[..., :-1] - slope[..., 1:]
        flat = drop <= 1e-12 * (np.abs(slope[..., :-1]) + np.abs(slope[..., 1:]))  # equal tangents: any end will do
        offset = value - slope * touch
        crossing = (offset[..., 1:] - offset[..., :-1]) / np.where(flat, 1.0, drop)
        middle = 0.5 * (touch[..., 1:] + touch[..., :-1])
        ends = np.where(flat, middle, np.clip(crossing, touch[..., :-1], touch[..., 1:]))
        edge = np.ones((*touch.shape[:2], 1))
        start, end = np.concatenate([-edge, ends], axis=2), np.concatenate([ends, edge], axis=2)
        higher = value + np.maximum(slope * (start - touch), slope * (end - touch))
        fall = np.abs(slope) * (end - start)
        share = np.where(fall > 1e-9, -np.expm1(-fall) / np.where(fall > 0.0, fall, 1.0), 1.0 - 0.5 * fall)
        top = value.max(axis=2, keepdims=True)
        return touch, value, slope, start, end, np.cumsum(np.exp(higher - top) * (end - start) * share, axis=2)

    def _touching_points(self) -> Array:
        """Increasing, ``(N, d, K)``."""
        tilt, lam, eta = np.abs(self.v), self.lam[:, None], self.eta[:, None]

        def value(x: Array) -> Array:
            size = np.abs(x)
            return np.asarray(tilt * x - lam * size**self.q - eta * size**self.p)

        def rises(x: Array) -> Array:
            return np.asarray(tilt > lam * self.q * x ** (self.q - 1.0) + eta * self.p * x ** (self.p - 1.0))

        zero, one = np.zeros_like(tilt), np.ones_like(tilt)
        mode = ends(rises, zero, one, _BISECTIONS)[0]
        top = value(mode)

        def reach(side: float, k: float) -> Array:
            above = ends(lambda x: value(side * x) > top - k, side * mode, one, _BISECTIONS)[0]
            return side * above

        left, right = [reach(-1.0, k) for k in LEVELS], [reach(1.0, k) for k in reversed(LEVELS)]
        return np.stack([*left, mode, *right], axis=2)

    def propose(self, rows: Array, u: Array) -> tuple[Array, Array]:
        """Uniform numbers ``(m, d, 3)`` of rows ``(m,)`` -> points ``(m, d)`` and which of them are accepted."""
        touch, value, slope, start, end, cumulative = self._envelope
        masses = cumulative[rows]
        piece = np.sum(u[:, :, :1] * masses[:, :, -1:] > masses[:, :, :-1], axis=2)
        at = rows[:, None], np.arange(self.v.shape[1]), piece
        half = 0.5 * (end[at] - start[at])
        x = 0.5 * (end[at] + start[at]) + truncated_exponential(u[:, :, 1], slope[at], half)
        envelope = value[at] + slope[at] * (x - touch[at])
        accepted = np.log(u[:, :, 2]) <= self.log_density(rows, x) - envelope
        return np.where(self.v[rows] < 0.0, -x, x), accepted

    def sample(self, draws: KeyedDraws, name: str, first_step: int, steps: int, asked: Array, rows: Array) -> Array:
        """Draw one point for each step and row, ``(steps, m, d)``.

        Parameters
        ----------
        draws, name, first_step, steps : source and address: attempt a reads stream ``name/a``
        asked, rows : array (m,), rows of ``draws`` that ask, and those of the densities that they ask for
        """
        d, everyone = self.v.shape[1], np.arange(len(rows))
        x, todo = np.empty((steps, len(rows), d)), np.ones((steps, len(rows), d), dtype=bool)
        for attempt in range(MOST_ROUNDS):
            left = everyone[todo.any(axis=(0, 2))]
            u = draws.uniform_steps(f"{name}/{attempt}", first_step, steps, 3 * d, asked[left])
            at, accepted = self.propose(np.tile(rows[left], steps), u.reshape(-1, d, 3))
            done = todo[:, left] & accepted.reshape(steps, -1, d)
            x[:, left] = np.where(done, at.reshape(steps, -1, d), x[:, left])
            todo[:, left] &= ~done
            if not todo.any():
                return x
        raise NumericalFailure(f"lp_exact: a coordinate without an accepted point after {MOST_ROUNDS} rounds")
