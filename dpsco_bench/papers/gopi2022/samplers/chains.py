"""Markov chains: Gibbs on l_p balls, on the host and on a GPU, and hit-and-run on any bounded convex set."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from dpsco_bench.errors import NumericalFailure
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
        return self.total ** (1.0 / self.p)

    def room(self, j: int, radius: Array | float) -> Array:
        """Largest ``|x_j|`` for a norm of at most ``radius``, the other coordinates given."""
        if not np.isfinite(self.p):
            return np.full(len(self.total), radius)
        left = radius**self.p - (self.total - self.powers[:, j])
        return np.maximum(left, 0.0) ** (1.0 / self.p)

    def replace(self, j: int, values: Array) -> None:
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


KERNELS = Path(__file__).with_name("gibbs.cu")
THREADS = 32
STATES = 1 << 22
"""Most numbers of the states that one launch leaves."""


def takes(xp: Any, q: float, p: float) -> bool:
    """Check that the run is on a device and the kernel knows the law: its conditionals are truncated exponentials."""
    return bool(xp.__name__ == "cupy" and q < 2.0 and math.isfinite(p))


def sample_gibbs_there(
    xp: Any,
    draws: KeyedDraws,
    v: np.ndarray,
    c: float,
    q: float,
    p: float,
    radius: float,
    sweeps: int,
    observe: Callable[[np.ndarray], None] = lambda x: None,
) -> np.ndarray:
    """Draw as `sample_gibbs` does from the origin with scale moves, on the host, for a CuPy ``xp``."""
    from dpsco_bench.backend.device import kernel, launch  # which a run on a core does not load
    from dpsco_bench.rng.cuda import key_words

    rows, d = v.shape
    x, tilts, powers = xp.zeros((rows, d)), xp.asarray(v), xp.empty((rows, 2, d))
    keys = (*key_words(draws.stream("gibbs").key), *key_words(draws.stream("scale").key))
    most, state = max(1, STATES // (rows * d)), np.zeros((rows, d))
    for first in range(0, sweeps, most):
        states = xp.empty((min(most, sweeps - first), rows, d))
        sizes = (rows, d, first, len(states), float(c), float(q), float(p), float(radius))
        told = (x, states, powers, tilts, *sizes, *keys, draws.first_replicate, draws.replicates)
        launch(kernel(KERNELS, "gibbs_sweeps"), -(-rows // THREADS), THREADS, *told)
        for state in states.get():
            observe(state)
    return np.array(state)


AT_ONCE, MOST_SHRINKS = 16, 1024


def sample_hit_and_run(
    draws: KeyedDraws,
    log_density: Callable[[Array, Array], Array],
    start: Array,
    outer_radius: float,
    steps: int,
    observe: Callable[[Array], None] = lambda x: None,
) -> Array:
    """Last states ``(rows, d)`` of chains, one per row.

    A direction is uniform on the sphere and a level lies an exponential variate below the present log density. The part
    of the line above the level is an interval, so that uniform candidates, which cut the line off where they fail, end
    with an exactly uniform point of it. Source: Chapter gopi2022, section 2.5.

    Parameters
    ----------
    log_density : callable, (points (m, d), their rows (m,)) -> log densities (m,); -inf outside the set
    start : array (rows, d), inside the set
    observe : callable, shown the state after each step
    """
    x, everyone = np.array(start), np.arange(len(start))
    value = log_density(x, everyone)
    for t in range(steps):
        z = ndtri(draws.uniform("direction", t, x.shape[1]))
        direction = z / np.linalg.norm(z, axis=1, keepdims=True)
        level = value + np.log(draws.uniform("level", t, 1)[:, 0])
        low, high = np.full(len(x), -2.0 * outer_radius), np.full(len(x), 2.0 * outer_radius)
        todo, new = everyone, np.array(x)
        for attempt in range(MOST_SHRINKS):
            if attempt % AT_ONCE == 0:
                u = draws.uniform("candidate", t, attempt + AT_ONCE)
            at = low[todo] + (high[todo] - low[todo]) * u[todo, attempt]
            candidates = x[todo] + at[:, None] * direction[todo]
            found = log_density(candidates, todo)
            accepted = found >= level[todo]
            new[todo[accepted]], value[todo[accepted]] = candidates[accepted], found[accepted]
            todo, at = todo[~accepted], at[~accepted]
            if not todo.size:
                break
            low[todo], high[todo] = np.where(at < 0, at, low[todo]), np.where(at < 0, high[todo], at)
        else:
            raise NumericalFailure(f"hit_and_run: no point of the slice in {MOST_SHRINKS} candidates at step {t}")
        x = new
        observe(x)
    return x
