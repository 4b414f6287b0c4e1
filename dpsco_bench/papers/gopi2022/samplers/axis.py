"""Exact draws of ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, by rejection under an envelope of cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.quadrature import bracket
from dpsco_bench.papers.gopi2022.samplers.truncated import cone_lp, first_accepted, truncated_normal
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
UNIFORM_CELLS, FINE_CELLS = 64, 256
"""In each direction: cells over the whole range, and cells where the law has its mass."""
ACCEPTED = 0.5
"""Cells are split until this share of the proposals is accepted. Most laws need no split: they accept 70 to 99 %."""
LARGE = 2.0**-10
"""Cells of more than this times the mass of the law are split first; that falls by `FINER` until enough is accepted."""
FINER = 0.25
MOST_PASSES, MOST_HALVINGS, MOST_CELLS = 10, 64, 2**19
"""Limits at which splitting ends whatever is accepted; laws of up to 1024 dimensions come nowhere near."""


class Cells(NamedTuple):
    """Cells of an envelope, those of its grid first.

    Attributes
    ----------
    sides : array (5, m), least and largest x, least and largest tau, upper bound of the log density
    cumulative : array (m,), running sums of the cells' masses under the envelope
    acceptance : float, probability that a proposal is accepted, as exact as the quadrature of the law
    """

    sides: Array
    cumulative: Array
    acceptance: float


class AxisEnvelope(AxisLaw):
    """The law, and cells in the plane of ``x = x_1`` and ``tau = ||x_2..d||_p`` with constants that bound its density.

    The envelope is valid for any cells; where they lie only decides how much is accepted, so that nothing depends on
    the accuracy of the quantiles and of the quadrature. Source: Chapter gopi2022, section 2.3 (axis_exact).
    """

    def log_density(self, x: Array, tau: Array) -> Array:
        """``kap (x - 1) - c (|x|^p + tau^p)^(2/p) + (d - 2) log tau``; of the pair (x, tau), inside the ball."""
        volume = (self.d - 2) * np.log(tau) if self.d > 2 else 0.0
        return self.kap * (x - 1.0) - self.c * (np.abs(x) ** self.p + tau**self.p) ** (2.0 / self.p) + volume

    @cached_property
    def edges(self) -> tuple[Array, Array]:
        """Edges of the grid of cells in x and in tau, before any is split.

        They are edges for a rounded tilt: draws lie between them, and the last digit of a mean record, which depends on
        the kernel of a matrix product, would move draws in the ninth.
        """
        rounded = AxisLaw(self.p, self.d, float(f"{self.kap:.9g}"), self.c)
        quantiles = np.clip(rounded.quantiles(FINE_CELLS), -1.0, 1.0)

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
    def cells(self) -> Cells:
        """Compute the cells to propose from: the grid, its largest cells split until `ACCEPTED` would be accepted.

        A wide cell that crosses the sphere needs that: it is bounded at a corner outside, which may be e^100 the bulk.
        """
        x, tau = self.edges
        sides = x[:-1, None], x[1:, None], tau[:-1], tau[1:]
        grid = np.stack(np.broadcast_arrays(*sides, self.bounds(*sides))).reshape(5, -1)
        grid, parts = grid[:, grid[4] > -np.inf], np.empty((5, 0))
        cells = self._weighed(grid)
        for finer in range(MOST_PASSES):
            if cells.acceptance >= ACCEPTED or parts.shape[1] > MOST_CELLS:
                break
            largest = LARGE * FINER**finer
            large = self._masses(*grid) > largest
            parts = self._split(np.concatenate([parts, grid[:, large]], axis=1), largest)
            grid = grid[:, ~large]
            cells = self._weighed(np.concatenate([grid, parts], axis=1))
        return cells

    def _weighed(self, sides: Array) -> Cells:
        """Cells with their masses, in units in which they cannot all vanish."""
        left, right, low, high, bound = sides
        top = bound.max()
        cumulative = np.cumsum(np.exp(bound - top) * (right - left) * (high - low))
        return Cells(sides, cumulative, float(np.exp(self._log_mass - top - np.log(cumulative[-1]))))

    @property
    def _log_mass(self) -> float:
        """Logarithm of the mass of the law by quadrature: it says where cells are worth while."""
        return self.log_normaliser() - self.kap

    def _masses(self, left: Array, right: Array, low: Array, high: Array, bound: Array) -> Array:
        """Masses of cells under the envelope over the mass of the law, cut to be finite."""
        return np.exp(np.minimum(bound - self._log_mass, 700.0)) * (right - left) * (high - low)

    def _split(self, cells: Array, largest: float) -> Array:
        """Cells ``(5, m)`` of more than so many times the law's mass are cut into four, again and again."""
        kept, size = [], 0
        for _ in range(MOST_HALVINGS):
            large = self._masses(*cells) > largest
            kept.append(cells[:, ~large])
            cells, size = cells[:, large], size + kept[-1].shape[1]
            if not cells.size or cells.shape[1] + size > MOST_CELLS:
                break
            # quarters, without those that lie outside the ball
            left, right, low, high, _ = cells
            middle, centre = 0.5 * (left + right), 0.5 * (low + high)
            sides = [(*x, *tau) for x in ((left, middle), (middle, right)) for tau in ((low, centre), (centre, high))]
            cells = np.concatenate([np.stack([*part, self.bounds(*part)]) for part in sides], axis=1)
            cells = cells[:, cells[4] > -np.inf]
        return np.concatenate([*kept, cells], axis=1)

    def bounds(self, left: Array, right: Array, low: Array, high: Array) -> Array:
        """Upper bounds of the log density where ``left <= x <= right`` and ``low <= tau <= high``; broadcast.

        The smaller one of two bounds: each term at its best corner of the cell, and the tangent plane at its centre,
        which lies above a concave function and is the sharper one where terms cancel. -inf outside the ball.
        """
        nearest = np.where(left * right < 0, 0.0, np.minimum(np.abs(left), np.abs(right))) ** self.p
        power = nearest + low**self.p
        volume = (self.d - 2) * np.log(high) if self.d > 2 else 0.0
        bound = self.kap * (right - 1.0) - self.c * power ** (2.0 / self.p) + volume
        return np.where(power < 1.0, np.minimum(bound, self._tangent_bounds(left, right, low, high)), -np.inf)

    def _tangent_bounds(self, left: Array, right: Array, low: Array, high: Array) -> Array:
        """Largest value in each cell of the tangent plane of the log density at the cell's centre."""
        x0, tau0 = 0.5 * (right + left), 0.5 * (high + low)
        power = np.abs(x0) ** self.p + tau0**self.p
        pull = 2.0 * self.c * power ** (2.0 / self.p - 1.0)
        slope_x = self.kap - pull * np.sign(x0) * np.abs(x0) ** (self.p - 1.0)
        slope_tau = (self.d - 2) / tau0 - pull * tau0 ** (self.p - 1.0)
        reach = np.abs(slope_x) * (right - left) + np.abs(slope_tau) * (high - low)
        return self.log_density(x0, tau0) + 0.5 * reach

    def propose(self, u: Array) -> tuple[Array, Array]:
        """Turn uniform numbers ``(N, 4)`` into points (x, tau) ``(N, 2)``, and tell which are accepted."""
        sides, cumulative, _ = self.cells
        cell = np.minimum(np.searchsorted(cumulative, u[:, 0] * cumulative[-1], side="right"), cumulative.size - 1)
        left, right, low, high, bound = sides[:, cell]
        at = left + (right - left) * u[:, 1]
        height = low + (high - low) * u[:, 2]
        inside = np.abs(at) ** self.p + height**self.p <= 1.0
        below = np.log(u[:, 3]) <= self.log_density(at, height) - bound
        return np.column_stack([at, height]), inside & below


_envelope = lru_cache(maxsize=16)(AxisEnvelope)


def sample_axis(draws: KeyedDraws, p: float, d: int, kap: Array, c: float) -> Array:
    """Draw one point of the unit l_p ball per row, ``(rows, d)``, of density ``~ exp(kap x_1 - c ||x||_p^2)``.

    For p in [1, 2] and tilts ``kap (rows,)`` of either sign. Raises NumericalFailure if a row has no point.
    """
    sign, kap = np.where(kap < 0, -1.0, 1.0), np.abs(kap)
    if d == 1:
        u = draws.uniform("axis", 0, 1)
        return sign[:, None] * truncated_normal(u, kap[:, None] / (2.0 * c), math.sqrt(0.5 / c), 1.0)
    uniforms = cache(lambda attempt: draws.uniform("axis", attempt, 4))
    found = np.empty((len(kap), 2))
    for tilt in np.unique(kap):
        rows = np.flatnonzero(kap == tilt)
        found[rows] = _accepted(_envelope(p, d, float(tilt), c), uniforms, rows)
    x, tau = found[:, :1], found[:, 1:]
    return np.concatenate([sign[:, None] * x, tau * cone_lp(draws, "cone", 0, p, d - 1)], axis=1)


def _accepted(envelope: AxisEnvelope, uniforms: Callable[[int], Array], rows: Array) -> Array:
    """First accepted points (x, tau) ``(m, 2)`` of ``rows (m,)``; ``uniforms``: attempt -> ``(all rows, 4)``."""
    about = f"axis_exact at p = {envelope.p:g}, d = {envelope.d}, kap = {envelope.kap:g}, c = {envelope.c:g}"
    return first_accepted(lambda t, todo: envelope.propose(uniforms(t)[rows[todo]]), (len(rows), 2), about)[0]


def towards(points: Array, direction: Array) -> Array:
    """Points ``(rows, d)`` reflected so that e_1 becomes ``direction (rows, d)``; rows of direction 0 stay."""
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
