"""Exact draws of ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, by rejection under an envelope of cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dpsco_bench.errors import InputError, NumericalFailure
from dpsco_bench.laws.axis import AxisLaw
from dpsco_bench.laws.nodes import bracket
from dpsco_bench.samplers.cone import cone_lp
from dpsco_bench.samplers.keyed import KeyedDraws
from dpsco_bench.samplers.truncated import truncated_normal

Array = np.ndarray
UNIFORM_CELLS, FINE_CELLS = 64, 256
"""In each direction: cells over the whole range, and cells where the law has its mass."""
MOST_ROUNDS = 1000
"""A round accepts some 90 per cent; so many failures are an error of the envelope, not chance."""


@dataclass(frozen=True)
class AxisEnvelope:
    """Cells in the plane of ``x = x_1`` and ``tau = ||x_2..d||_p``, each with a constant that bounds the density.

    The envelope is valid for any cells; where they lie only decides how much is accepted, so that nothing depends on
    the accuracy of the quantiles.

    Parameters
    ----------
    p : float
        In [1, 2].
    d : int
        At least 2.
    kap, c : float
        >= 0.

    References
    ----------
    Chapter gopi2022, section 2.3 (axis_exact).
    """

    p: float
    d: int
    kap: float
    c: float

    def log_density(self, x: Array, tau: Array) -> Array:
        """``kap (x - 1) - c (|x|^p + tau^p)^(2/p) + (d - 2) log tau``; of the pair (x, tau), inside the ball."""
        volume = (self.d - 2) * np.log(tau) if self.d > 2 else 0.0
        return self.kap * (x - 1.0) - self.c * (np.abs(x) ** self.p + tau**self.p) ** (2.0 / self.p) + volume

    @cached_property
    def edges(self) -> tuple[Array, Array]:
        """Edges of the cells in x and in tau."""
        quantiles = np.clip(AxisLaw(self.p, self.d, self.kap, self.c).quantiles(FINE_CELLS), -1.0, 1.0)

        def profile(tau: Array) -> Array:
            """Largest log density at each tau, over the quantiles of x, moved into the ball."""
            reach = ((1.0 - np.minimum(tau, 1.0) ** self.p) ** (1.0 / self.p))[:, None]
            with np.errstate(divide="ignore"):
                values = self.log_density(np.clip(quantiles, -reach, reach), tau[:, None])
            return np.asarray(values.max(axis=1))

        low, high = bracket(profile, 0.0, 1.0)
        x = np.concatenate([quantiles, _edges(-1.0, 1.0, quantiles[0], quantiles[-1])])
        return np.unique(x), _edges(0.0, 1.0, low, high)

    @cached_property
    def bounds(self) -> Array:
        """Upper bound of the log density in each cell, ``(x cells, tau cells)``; -inf for cells outside the ball.

        The smaller one of two bounds: each term at its best corner of the cell, and the tangent plane at its centre,
        which lies above a concave function and is the sharper one where terms cancel.
        """
        x, tau = self.edges
        nearest = np.where(x[:-1] * x[1:] < 0, 0.0, np.minimum(np.abs(x[:-1]), np.abs(x[1:]))) ** self.p
        power = nearest[:, None] + tau[:-1] ** self.p
        volume = (self.d - 2) * np.log(tau[1:]) if self.d > 2 else np.zeros(len(tau) - 1)
        bound = self.kap * (x[1:, None] - 1.0) - self.c * power ** (2.0 / self.p) + volume
        return np.where(power < 1.0, np.minimum(bound, self._tangent_bounds()), -np.inf)

    def _tangent_bounds(self) -> Array:
        """Largest value in each cell of the tangent plane of the log density at the cell's centre."""
        x, tau = self.edges
        x0, tau0 = 0.5 * (x[1:] + x[:-1])[:, None], 0.5 * (tau[1:] + tau[:-1])
        power = np.abs(x0) ** self.p + tau0**self.p
        pull = 2.0 * self.c * power ** (2.0 / self.p - 1.0)
        slope_x = self.kap - pull * np.sign(x0) * np.abs(x0) ** (self.p - 1.0)
        slope_tau = (self.d - 2) / tau0 - pull * tau0 ** (self.p - 1.0)
        reach = np.abs(slope_x) * np.diff(x)[:, None] + np.abs(slope_tau) * np.diff(tau)
        return self.log_density(x0, tau0) + 0.5 * reach

    @cached_property
    def _cumulative(self) -> Array:
        """Running sums of the cells' masses under the envelope."""
        x, tau = self.edges
        mass = np.exp(self.bounds - self.bounds.max()) * np.diff(x)[:, None] * np.diff(tau)
        return np.cumsum(mass.ravel())

    def propose(self, u: Array) -> tuple[Array, Array, Array]:
        """Uniform numbers ``(N, 4)`` -> points x, tau ``(N,)`` and whether they are accepted."""
        x, tau = self.edges
        total = self._cumulative[-1]
        cell = np.minimum(np.searchsorted(self._cumulative, u[:, 0] * total, side="right"), self._cumulative.size - 1)
        column, row = np.divmod(cell, len(tau) - 1)
        at = x[column] + (x[column + 1] - x[column]) * u[:, 1]
        height = tau[row] + (tau[row + 1] - tau[row]) * u[:, 2]
        inside = np.abs(at) ** self.p + height**self.p <= 1.0
        below = np.log(u[:, 3]) <= self.log_density(at, height) - self.bounds[column, row]
        return at, height, inside & below


def sample_axis(draws: KeyedDraws, p: float, d: int, kap: Array, c: float) -> Array:
    """One point of the unit l_p ball per row, ``(rows, d)``, of density ``~ exp(kap x_1 - c ||x||_p^2)``.

    Parameters
    ----------
    draws : KeyedDraws
        Source.
    p : float
        In [1, 2].
    d : int
        Dimension.
    kap : array (rows,)
        Tilts, of either sign.
    c : float
        > 0.
    """
    sign, kap = np.where(kap < 0, -1.0, 1.0), np.abs(kap)
    if d == 1:
        u = draws.uniform("axis", 0, 1)
        return sign[:, None] * truncated_normal(u, kap[:, None] / (2.0 * c), math.sqrt(0.5 / c), 1.0)
    x, tau = np.empty(len(kap)), np.empty(len(kap))
    todo = np.ones(len(kap), dtype=bool)
    for attempt in range(MOST_ROUNDS):
        u = draws.uniform("axis", attempt, 4)
        for tilt in np.unique(kap[todo]):
            rows = np.flatnonzero(todo & (kap == tilt))
            at, height, accepted = _envelope(p, d, float(tilt), c).propose(u[rows])
            done = rows[accepted]
            x[done], tau[done], todo[done] = at[accepted], height[accepted], False
        if not todo.any():
            return np.concatenate([(sign * x)[:, None], tau[:, None] * cone_lp(draws, "cone", 0, p, d - 1)], axis=1)
    raise NumericalFailure(f"axis_exact: nothing accepted in {MOST_ROUNDS} rounds at p = {p}, d = {d}, c = {c:g}")


def towards(points: Array, direction: Array) -> Array:
    """Points ``(rows, d)`` reflected so that the first axis becomes ``direction (rows, d)``, of any length > 0.

    The Householder reflection that exchanges e_1 and the direction; rows of direction 0 stay.
    """
    length = np.linalg.norm(direction, axis=1, keepdims=True)
    unit = direction / np.where(length > 0, length, 1.0)
    normal = unit.copy()
    normal[:, 0] -= 1.0
    square = np.sum(normal * normal, axis=1, keepdims=True)
    factor = 2.0 * np.sum(normal * points, axis=1, keepdims=True) / np.where(square > 0, square, 1.0)
    return np.where(length > 0, points - factor * normal, points)


def _edges(first: float, last: float, low: float, high: float) -> Array:
    """Edges of cells on ``[first, last]``: fine ones on ``[low, high]``, outside wider with the distance from there."""
    away = (high - low) * 2.0 ** np.arange(64.0)
    edges = [
        np.linspace(first, last, UNIFORM_CELLS + 1),
        np.linspace(low, high, FINE_CELLS + 1),
        low - away,
        high + away,
    ]
    return np.unique(np.clip(np.concatenate(edges), first, last))


@lru_cache(maxsize=64)
def _envelope(p: float, d: int, kap: float, c: float) -> AxisEnvelope:
    if not (np.isfinite(kap) and 0.0 < c < np.inf):
        raise InputError("kap, c", (kap, c), "finite, c > 0")
    return AxisEnvelope(p, d, kap, c)
