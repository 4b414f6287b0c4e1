"""Gibbs chains for ``exp(<v, x> - c ||x||_q^2)`` on an l_p ball: one coordinate at a time, and a move along the ray."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpsco_bench.papers.gopi2022.samplers.truncated import truncated_exponential, truncated_normal
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
SHRINKS = 32
"""Most candidates of a scale move; then the interval has shrunk to the present point, which is kept."""


def sample_gibbs(
    draws: KeyedDraws,
    v: Array,
    c: float,
    q: float,
    p: float,
    radius: float,
    sweeps: int,
    observe: Callable[[Array], None] = lambda x: None,
    scale_move: bool = True,
    start: Array | None = None,
) -> Array:
    """Last states ``(rows, d)`` of chains, one per row. Source: Chapter gopi2022, section 2.4.

    Parameters
    ----------
    v : array (rows, d), tilts
    c, q : float, curvature > 0 and its norm, in (1, 2]
    p, radius : float, the ball, p in [1, inf]
    observe : callable, shown the state after each sweep
    start : array (rows, d), optional, in the ball; by default the origin
    """
    d = v.shape[1]
    x = np.zeros_like(v) if start is None else np.array(start)
    for sweep in range(sweeps):
        u = draws.uniform("gibbs", sweep, 2 * d + 1)
        _sweep(x, u[:, :d], -np.log(u[:, d : 2 * d]) / c, v, c, q, p, radius)
        if scale_move:
            x *= _scales(draws, sweep, x, np.log(u[:, 2 * d]), v, c, q, p, radius)[:, None]
        observe(x)
    return x


def _sweep(x: Array, u: Array, slack: Array, v: Array, c: float, q: float, p: float, radius: float) -> None:
    """Draw every coordinate from its conditional law, in place; ``slack`` sets the slice on the regulariser."""
    ball = _PowerSum(x, p)
    norm = _PowerSum(x, q) if q != 2.0 else None
    for j in range(x.shape[1]):
        reach = ball.room(j, radius)
        if norm is None:
            x[:, j] = truncated_normal(u[:, j], v[:, j] / (2.0 * c), math.sqrt(0.5 / c), reach)
        else:
            level = np.sqrt(norm.norm() ** 2 + slack[:, j])
            x[:, j] = truncated_exponential(u[:, j], v[:, j], np.minimum(reach, norm.room(j, level)))
            norm.replace(j, x[:, j])
        ball.replace(j, x[:, j])


class _PowerSum:
    """``sum_j |x_j|^p`` of each row, kept up to date; for infinite p there is nothing to keep."""

    def __init__(self, x: Array, p: float) -> None:
        self.p = p
        self.powers = np.abs(x) ** p if np.isfinite(p) else np.zeros_like(x)
        self.total = self.powers.sum(axis=1)

    def norm(self) -> Array:
        """Compute the l_p norm."""
        return self.total ** (1.0 / self.p)

    def room(self, j: int, radius: Array | float) -> Array:
        """Largest ``|x_j|`` for a norm of at most ``radius``, the other coordinates given."""
        if not np.isfinite(self.p):
            return np.full(len(self.total), radius)
        left = radius**self.p - (self.total - self.powers[:, j])
        return np.maximum(left, 0.0) ** (1.0 / self.p)

    def replace(self, j: int, values: Array) -> None:
        """Put new values in place of coordinate j."""
        if np.isfinite(self.p):
            new = np.abs(values) ** self.p
            self.total = np.maximum(self.total - self.powers[:, j], 0.0) + new
            self.powers[:, j] = new


def _scales(
    draws: KeyedDraws, sweep: int, x: Array, log_u: Array, v: Array, c: float, q: float, p: float, radius: float
) -> Array:
    """Factors ``(rows,)`` of the move ``x <- s x``, by slice sampling with shrinkage from s = 1."""
    slope, curvature = np.sum(v * x, axis=1), c * np.linalg.norm(x, ord=q, axis=1) ** 2
    length = np.linalg.norm(x, ord=p, axis=1)
    low, high = np.zeros(len(x)), radius / np.where(length > 0, length, 1.0)
    scale, todo = np.ones(len(x)), length > 0
    level = slope - curvature + log_u
    u = draws.uniform("scale", sweep, SHRINKS)
    for attempt in range(SHRINKS):
        candidate = low + (high - low) * u[:, attempt]
        value = (x.shape[1] - 1) * np.log(candidate) + candidate * slope - candidate**2 * curvature
        accepted = todo & (value >= level)
        scale = np.where(accepted, candidate, scale)
        todo &= ~accepted
        if not todo.any():
            break
        low, high = np.where(candidate < 1.0, candidate, low), np.where(candidate < 1.0, high, candidate)
    return np.minimum(scale, radius / np.where(length > 0, length, 1.0))
