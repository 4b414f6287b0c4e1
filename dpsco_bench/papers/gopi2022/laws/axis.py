"""The law of exp(kap x_1 - c ||x||_p^2) on the unit l_p ball by quadrature, and privacy of one draw from it.

That is the worst pair of neighbouring data sets on an axis, and some pairs in a plane.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.gopi2022.laws.quadrature import DEPTH, bracket, double_exponential, ends, gauss_legendre

Array = np.ndarray
_OUTER, _INNER = 161, 101
_BISECTIONS = 30


@dataclass(frozen=True)
class AxisLaw:
    """Density proportional to ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, seen along the first axis.

    The coordinates other than the first enter through ``tau = ||x_2..d||_p`` alone, whose volume element is
    ``tau^(d-2) dtau``. Distances from the ends of the axis are integrated themselves, so that ``E[1 - x_1]`` keeps its
    digits however close to 1 the law is. Source: Gopi, Lee, Liu, Shen, Tian 2022, Corollary 2.

    Parameters
    ----------
    p : float, in [1, 2] (the density has to be log-concave)
    d : int, dimension, >= 1
    kap, c : float, tilt, of either sign, and curvature >= 0
    """

    p: float
    d: int
    kap: float
    c: float

    def mean_gap(self) -> float:
        """``E[1 - x_1]``, without cancellation."""
        gap, mass, _ = self._nodes
        near = float(np.sum(gap * mass))
        return near if self.kap >= 0 else 2.0 - near

    def mean(self) -> float:
        return 1.0 - self.mean_gap()

    def variance(self) -> float:
        gap, mass, _ = self._nodes
        return float(np.sum((gap - np.sum(gap * mass)) ** 2 * mass))

    def log_normaliser(self) -> float:
        """Logarithm of the integral of ``exp(kap x_1 - c ||x||_p^2)`` over (x_1, tau); the rest is the same for all."""
        return self._nodes[2] + abs(self.kap)

    def tail(self, x: float) -> float:
        """``P(x_1 > x)``."""
        if not -1.0 < x < 1.0:
            return float(x <= -1.0)
        # of the gap 1 - x_1; below -x for the opposite tilt
        ends = bracket(self._log_profile, *((0.0, 1.0 - x) if self.kap >= 0 else (1.0 + x, 2.0)))
        return float(np.exp(min(0.0, self._integrate(*ends)[2] - self._nodes[2])))

    def quantiles(self, m: int) -> np.ndarray:
        """Quantiles of ``x_1`` at levels ``0, 1/m .. 1``, increasing; good to a few 1e-3, for envelopes and grids."""
        gap, mass, _ = self._nodes
        order = np.argsort(gap)
        below = np.cumsum(mass[order]) - 0.5 * mass[order]
        gaps = np.interp(np.linspace(0.0, 1.0, m + 1), below, gap[order])
        return np.sort(1.0 - gaps if self.kap >= 0 else gaps - 1.0)

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Distances ``1 - x_1`` (for ``|kap|``), their probabilities, and the log normaliser over ``exp(|kap|)``."""
        return self._integrate(*bracket(self._log_profile, 0.0, 2.0))

    def _integrate(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Nodes ``1 - x_1`` in (low, high), their shares of the mass, and the logarithm of that mass."""
        gaps, logs = [], []
        lower, upper, weights = double_exponential(_OUTER)
        if low < 1.0:  # x_1 > 0, by the distance from +1
            end = min(high, 1.0)
            gap = low + (end - low) * lower
            gaps.append(gap)
            logs.append(np.log((end - low) * weights) + self.log_marginal(gap, gap))
        if high > 1.0:  # x_1 < 0, by the distance from -1
            start = max(low, 1.0)
            depth = (2.0 - high) + (high - start) * upper
            gaps.append(2.0 - depth)
            logs.append(np.log((high - start) * weights) + self.log_marginal(depth, 2.0 - depth))
        gap, log_mass = np.concatenate(gaps), np.concatenate(logs)
        top = np.max(log_mass)
        mass = np.exp(log_mass - top)
        return gap, mass / np.sum(mass), float(top + np.log(np.sum(mass)))

    def _log_profile(self, gap: np.ndarray) -> np.ndarray:
        """Largest value of the joint log density over tau: where this is tiny, so is the marginal."""
        tilt, axis, reach = self._slice(np.minimum(gap, 2.0 - gap), gap)
        if self.d == 1:
            return tilt
        with np.errstate(divide="ignore", invalid="ignore"):
            return tilt + self._log_integrand(axis, self._mode(axis, reach))

    def log_marginal(self, depth: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """Compute the log density of x_1 over ``exp(|kap|)`` at ``depth = 1 - |x_1|``, ``gap = 1 - x_1``, ``(N,)``."""
        tilt, axis, reach = self._slice(depth, gap)
        if self.d == 1:
            return tilt
        with np.errstate(divide="ignore", invalid="ignore"):  # an empty slice has measure zero
            return tilt + self.log_inner(axis, reach)

    def _slice(self, depth: np.ndarray, gap: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log density of the axis itself (all of it for d = 1), ``|x_1|^p``, and the largest tau."""
        log_x = np.log1p(-np.minimum(depth, 1.0), where=depth < 1.0, out=np.full_like(depth, -np.inf))
        tilt, axis = -abs(self.kap) * gap, np.exp(self.p * log_x)
        if self.d == 1:
            tilt = tilt - self.c * np.exp(2.0 * log_x)
        return tilt, axis, (-np.expm1(self.p * log_x)) ** (1.0 / self.p)

    def _mode(self, axis: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Find where the integrand over tau is largest."""

        def rises(tau: Array) -> Array:
            power = tau**self.p
            return np.asarray(2.0 * self.c * (axis + power) ** (2.0 / self.p - 1.0) * power < self.d - 2)

        return ends(rises, np.zeros_like(reach), reach, _BISECTIONS)[0]

    def log_inner(self, axis: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Log of the integral of ``tau^(d-2) exp(-c (|x|^p + tau^p)^(2/p))`` over ``tau < reach``; arrays (N,)."""
        mode = self._mode(axis, reach)
        top = self._log_integrand(axis, mode)
        floor = top - DEPTH
        low = ends(lambda tau: self._log_integrand(axis, tau) < floor, np.zeros_like(reach), mode, _BISECTIONS)[0]
        high = ends(lambda tau: self._log_integrand(axis, tau) > floor, mode, reach, _BISECTIONS)[0]
        lower, _, weights = double_exponential(_INNER)
        tau = low[:, None] + (high - low)[:, None] * lower
        values = np.exp(self._log_integrand(axis[:, None], tau) - top[:, None]) @ weights
        return np.where(high > low, top + np.log(values) + np.log(high - low), -np.inf)

    def _log_integrand(self, axis: np.ndarray, tau: np.ndarray) -> np.ndarray:
        volume = (self.d - 2) * np.log(tau) if self.d > 2 else 0.0
        return volume - self.c * (axis + tau**self.p) ** (2.0 / self.p)


PER_PANEL = 16  # nodes of a panel
_SMALLEST, _KINK = 60, 20
"""Panels are halved so often towards the ends of the axis, where the density starts as a power, and towards 0."""


@lru_cache(maxsize=16)
def axis_panels(p: float, d: int, c: float) -> tuple[Array, Array, Array]:
    """Panels in the gap ``1 - x_1`` for densities ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, any ``kap``.

    Their edges ``(P + 1,)`` from 0 to 2; gaps at the Gauss-Legendre nodes of each, and the log density of x_1 there at
    ``kap = 0``, up to a constant, ``(P, PER_PANEL)``.
    """
    width = min(0.5, 1.0 / math.sqrt(2.0 * c)) if c > 0 else 0.5
    powers = 0.5 ** np.arange(_SMALLEST + 1.0)
    uniform = np.linspace(0.0, 1.0, 1 + math.ceil(1.0 / width))
    half = np.unique(np.concatenate([uniform, powers, 1.0 - powers[1 : _KINK + 1]]))
    nodes, _ = gauss_legendre(PER_PANEL)
    depth = half[:-1, None] + np.diff(half)[:, None] * nodes
    log_marginal = AxisLaw(p, d, 0.0, c).log_marginal(depth.ravel(), depth.ravel()).reshape(depth.shape)
    edges = np.concatenate([half, 2.0 - half[-2::-1]])
    gaps = np.concatenate([depth, 2.0 - depth[::-1, ::-1]])
    return edges, gaps, np.concatenate([log_marginal, log_marginal[::-1, ::-1]])


ACCURACY = 1e-7
_FIRST, _MOST = 25, 12  # knots at first, and how often their distance is halved at most


@lru_cache(maxsize=16)
def gap_table(p: float, d: int, c: float, reach: float) -> Callable[[Any], Array]:
    """Tabulate ``E[1 - x_1]`` under ``exp(kap x_1 - c ||x||_p^2)``, a function of tilts ``|kap| <= reach``.

    Hermite interpolation: the derivative in kap is minus the variance. Intervals of ``u = asinh(kap)`` are halved until
    the value in the middle is within `ACCURACY`.
    """
    from scipy.interpolate import CubicHermiteSpline

    edges, panels, log_marginal = axis_panels(p, d, c)
    gaps, (_, weights) = panels.ravel(), gauss_legendre(PER_PANEL)
    with np.errstate(divide="ignore"):  # the smallest panels next to -1 are empty to rounding
        log_mass = (log_marginal + np.log(np.diff(edges)[:, None] * weights)).ravel()

    @cache
    def at(u: float) -> tuple[float, float]:
        """Value and derivative."""
        logs = log_mass - np.sinh(u) * gaps
        mass = np.exp(logs - logs.max())
        mean = gaps @ mass / mass.sum()
        variance = (gaps - mean) ** 2 @ mass / mass.sum()
        return float(mean), -float(variance * np.cosh(u))

    def refined(low: float, high: float, depth: int) -> list[float]:  # nodes after low up to high
        middle = 0.5 * (low + high)
        (left, rise), (right, fall) = at(low), at(high)
        guess = 0.5 * (left + right) + 0.125 * (high - low) * (rise - fall)
        if depth == 0 or abs(at(middle)[0] - guess) <= ACCURACY:
            return [middle, high]
        return refined(low, middle, depth - 1) + refined(middle, high, depth - 1)

    nodes = [0.0]
    for low, high in pairwise(np.linspace(0.0, np.arcsinh(reach), _FIRST).tolist()):
        nodes += refined(low, high, _MOST)
    spline = CubicHermiteSpline(np.array(nodes), *np.array([at(u) for u in nodes]).T)

    def table(kap: Any) -> Array:
        right = spline(np.arcsinh(np.abs(kap)))
        return np.where(np.asarray(kap) >= 0.0, right, 2.0 - right)

    return table


LARGEST = 200.0  # epsilon that is looked for


def pair_delta(first: AxisLaw, second: AxisLaw, epsilon: float) -> float:
    """``max_A P(A) - e^epsilon Q(A)`` of laws that differ in their tilt alone: the best event is a tail of x_1."""
    shift = first.kap - second.kap
    threshold = (epsilon + first.log_normaliser() - second.log_normaliser()) / shift
    if shift < 0:  # the same seen from the other side
        first, second, threshold = replace(first, kap=-first.kap), replace(second, kap=-second.kap), -threshold
    return first.tail(threshold) - math.exp(epsilon) * second.tail(threshold)


def pair_epsilon(first: AxisLaw, second: AxisLaw, delta: float) -> float:
    """Least epsilon for which both `pair_delta` are at most delta; accurate to 1e-10."""
    from scipy.optimize import brentq

    def excess(epsilon: float) -> float:
        return max(pair_delta(first, second, epsilon), pair_delta(second, first, epsilon)) - delta

    return 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, LARGEST, xtol=1e-10))


_AT_ONCE = 256  # pairs of data sets
MOST_PAIRS = 1 << 14
"""All of so many pairs about the centre are examined, and as many of the others; then all next to the worst one."""
CLOSE = 1e-9


@dataclass(frozen=True)
class AxisNeighbours:
    """Laws ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, ``kap = reach a``, for n records on ``+-e_1``.

    The mean record a is one of ``-1, -1 + 2/n .. 1``, and replacing one record moves it to the next one at most. All
    tilts share the marginal of ``x_1`` without tilt, so that one table of it gives every law. The log ratio of two of
    them is linear in x_1, hence the best event is a tail. p, d and c are those of `AxisLaw`; ``reach``, the tilt at the
    mean record e_1, is above 0. Source: Gopi, Lee, Liu, Shen, Tian 2022, Theorem 2 for the bound that this is compared
    with.
    """

    p: float
    d: int
    c: float
    reach: float
    n: int

    def epsilon(self, delta: float) -> float:
        """Least epsilon for which no pair of neighbours has a larger delta; to `CLOSE`, relative above 1."""
        pairs = (self.n + 1) // 2  # of mean records whose middle is >= 0; the others mirror them
        step = -(-pairs // MOST_PAIRS)
        central = np.arange(min(pairs, MOST_PAIRS))
        worst, at = self._worst(np.append(central, np.arange(len(central), pairs, step)), delta)
        if at >= len(central):
            worst, _ = self._worst(np.arange(at - step, min(pairs, at + step + 1)), delta, worst)
        return worst

    def _worst(self, numbers: Array, delta: float, known: float = 0.0) -> tuple[float, int]:
        """Largest epsilon, at least ``known``, of pairs by number, and its pair; pair 0 is next to the centre."""
        at = 0
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            panels, shift = axis_panels(self.p, self.d, self.c), 2.0 * self.reach / self.n
            if found := worst_pair(panels, self.tilts(some), shift, delta, known):
                known, at = found[0], int(some[found[1]])
        return known, at

    def centre_epsilon(self, delta: float) -> float:
        """Compute the epsilon of the pair about the centre of the ball alone: a lower bound, without a table."""
        low, high = self.tilts(np.zeros(1))
        first, second = (AxisLaw(self.p, self.d, float(tilt[0]), self.c) for tilt in (low, high))
        return pair_epsilon(first, second, delta)

    def tilts(self, numbers: Array) -> tuple[Array, Array]:
        """Smaller and larger tilt of pairs by number."""
        low = (2.0 * numbers - self.n % 2) / self.n
        return self.reach * low, self.reach * (low + 2.0 / self.n)


def worst_pair(
    panels: tuple[Array, Array, Array], tilts: tuple[Array, Array], shift: float, delta: float, known: float = 0.0
) -> tuple[float, int] | None:
    """Find the largest epsilon at delta among pairs of laws that differ in their tilt alone, and the pair that has it.

    Takes `axis_panels`, each pair's smaller and larger tilt, ``(N,)``, both increasing, and their difference. Returns
    None if no epsilon is above ``known``.
    """
    edges, gaps, log_marginal = panels
    ends = np.array([tilts[0][0], tilts[1][-1]])
    profile = np.max(log_marginal - ends[:, None, None] * gaps, axis=2)
    kept = np.flatnonzero((profile > profile.max(axis=1, keepdims=True) - DEPTH).any(axis=0))
    edges, part = edges[kept[0] : kept[-1] + 2], slice(kept[0], kept[-1] + 1)
    small, large = (_Tilted(edges, gaps[part], log_marginal[part], tilt) for tilt in tilts)
    change = large.log_mass - small.log_mass

    def above(epsilon: float, rows: Array) -> Array:
        """Keep the pairs of ``rows`` whose epsilon is larger."""
        near, far = -(epsilon + change[rows]) / shift, (epsilon - change[rows]) / shift
        first = large.below(rows, near) - math.exp(epsilon) * small.below(rows, near)
        return rows[np.maximum(first, small.above(rows, far) - math.exp(epsilon) * large.above(rows, far)) > delta]

    rows, low, high = above(known, np.arange(len(change))), known, max(1.0, 2.0 * known)
    if not rows.size:
        return None
    while (worse := above(high, rows)).size:
        rows, low, high = worse, high, 2.0 * high
        if high > LARGEST:
            return math.inf, rows[0]
    while high - low > CLOSE * max(1.0, high):
        middle = 0.5 * (low + high)
        if (worse := above(middle, rows)).size:
            rows, low = worse, middle
        else:
            high = middle
    return high, rows[0]


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
        panel, gap = self._panel(gap)
        return (self._left[rows, panel] + self._integral(rows, panel, self._edges[panel], gap)) / self._left[rows, -1]

    def above(self, rows: Array, gap: Array) -> Array:
        panel, gap = self._panel(gap)
        found = self._right[rows, panel + 1] + self._integral(rows, panel, gap, self._edges[panel + 1])
        return found / self._left[rows, -1]

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


_ACROSS, _PANELS, _HALVINGS, _STEPS = 101, 24, 12, 40
_KNOTS = 1024
_MODES, _STEPS_BESIDE = (0.4, 0.6, 0.8, 1.0), (0.1, 0.05, 0.025)
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@dataclass(frozen=True)
class PlaneDensity:
    """Density of ``(x_1, x_2)`` under ``exp(-c ||x||_p^2)`` on the unit l_p ball, a function of ``|x_1|^p + |x_2|^p``.

    The coordinates other than these enter through their l_p norm tau alone, of volume element ``tau^(d-3) dtau``. The
    norm has p in (1, 2], the dimension d is at least 2 and the curvature c above 0.
    """

    p: float
    d: int
    c: float

    def log(self, x: Array, y: Array) -> Array:
        """Log density at two coordinates, up to a constant; -inf outside of the ball."""
        power = np.abs(x) ** self.p + np.abs(y) ** self.p
        inside = np.minimum(power, 1.0 - 1e-15)
        edge = np.log1p(-inside) * ((self.d - 2) / self.p)
        return np.where(power < 1.0, edge + self._rest(inside) - self.c * inside ** (2.0 / self.p), -np.inf)

    @cached_property
    def _rest(self) -> Any:
        """Compute the part that is smooth in the power: the log integral over tau less both other terms of `log`."""
        from scipy.interpolate import CubicSpline

        power = 0.5 * (1.0 - np.cos(np.linspace(0.0, np.pi, _KNOTS)))
        if self.d == 2:
            return CubicSpline(power, np.zeros(_KNOTS))
        power[-1] = 1.0 - 1e-9
        law = AxisLaw(self.p, self.d - 1, 0.0, self.c)
        logs = law.log_inner(power, (1.0 - power) ** (1.0 / self.p))
        rest = logs + self.c * power ** (2.0 / self.p) - np.log1p(-power) * ((self.d - 2) / self.p)
        return CubicSpline(power, rest)


@dataclass(frozen=True)
class PlanarPair:
    """Two laws ``exp(<tilt +- change/2, x> - c ||x||_p^2)`` on the unit l_p ball.

    Their log ratio is linear in ``y = <change, x>/||change||_q``, so that the best event is a tail of it. Points of the
    plane are ``y a + z b``, with a the point of norm 1 at which y is 1 and b orthogonal to the change.

    Parameters
    ----------
    plane : PlaneDensity
    tilt, change : pair of float, ``k`` times the mean record between both data sets, and times its difference
    """

    plane: PlaneDensity
    tilt: tuple[float, float]
    change: tuple[float, float]

    @property
    def shift(self) -> float:
        """Difference of the tilts in y: the dual norm of the change."""
        return float(np.linalg.norm(self.change, ord=dual_exponent(self.plane.p)))

    def epsilon(self, delta: float) -> float:
        """Least epsilon at delta of this pair, in both directions."""
        half = np.array([0.5 * self.shift])
        found = worst_pair(self._panels(), (-half, half), self.shift, delta)
        return found[0] if found else 0.0

    @cached_property
    def _basis(self) -> tuple[Array, Array]:
        direction = np.array(self.change) / self.shift
        return np.sign(direction) * np.abs(direction) ** (dual_exponent(self.plane.p) - 1.0), direction[::-1] * [-1, 1]

    def _log(self, y: Array, z: Array) -> Array:
        a, b = self._basis
        first, second = y * a[0] + z * b[0], y * a[1] + z * b[1]
        return np.asarray(self.tilt[0] * first + self.tilt[1] * second + self.plane.log(first, second))

    def _slices(self, y: Array) -> tuple[Array, Array, Array]:
        """Find, on lines of constant y, the largest log density and where it is within `DEPTH` of that; arrays (N,)."""
        nothing, far = np.zeros_like(y), np.full_like(y, 4.0)
        low = -ends(lambda z: self._log(y, -z) > -np.inf, nothing, far, _STEPS)[0]
        high = ends(lambda z: self._log(y, z) > -np.inf, nothing, far, _STEPS)[0]
        left, right = low, high
        for _ in range(_STEPS):
            first, second = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
            rises = self._log(y, first) < self._log(y, second)
            left, right = np.where(rises, first, left), np.where(rises, right, second)
        mode = 0.5 * (left + right)
        top = np.maximum(self._log(y, mode), -1e300)  # an empty slice has measure zero
        start = ends(lambda z: self._log(y, z) < top - DEPTH, low, mode, _STEPS)[0]
        end = ends(lambda z: self._log(y, z) > top - DEPTH, mode, high, _STEPS)[0]
        return top, start, end

    def _log_marginal(self, y: Array) -> Array:
        """Log density of y, up to a constant; arrays (N,)."""
        top, start, end = self._slices(y)
        a, b = self._basis
        with np.errstate(divide="ignore", invalid="ignore"):
            kinks = [np.nan_to_num(-y * a[i] / b[i], nan=0.0, posinf=9.0, neginf=-9.0) for i in (0, 1)]
        cuts = np.sort(np.clip(np.array([start, *kinks, end]), start, end), axis=0)
        lower, _, weights = double_exponential(_ACROSS)
        total = np.zeros_like(y)
        for left, right in zip(cuts[:-1], cuts[1:], strict=True):
            z = left[:, None] + (right - left)[:, None] * lower
            total += np.exp(self._log(y[:, None], z) - top[:, None]) @ weights * (right - left)
        return np.where(total > 0.0, top + np.log(np.maximum(total, 1e-300)), -np.inf)

    def _panels(self) -> tuple[Array, Array, Array]:
        """Panels in the gap ``1 - y``, as of `axis_panels`, over the range where either law has its mass."""
        half = 0.5 * self.shift
        start, end = bracket(lambda y: self._slices(y)[0] - half * y, -1.0, 1.0)
        low, high = bracket(lambda y: self._slices(y)[0] + half * y, -1.0, 1.0)
        low, high = min(start, low), max(end, high)
        powers = 0.5 ** np.arange(1.0, _HALVINGS + 1.0)
        special = np.concatenate([[0.0], powers, -powers, 1.0 - powers, powers - 1.0])
        inner = special[(special > low) & (special < high)]
        edges = np.unique(np.concatenate([np.linspace(low, high, _PANELS + 1), inner]))
        nodes, _ = gauss_legendre(PER_PANEL)
        y = edges[:-1, None] + np.diff(edges)[:, None] * nodes
        logs = self._log_marginal(y.ravel()).reshape(y.shape)
        return 1.0 - edges[::-1], 1.0 - y[::-1, ::-1], logs[::-1, ::-1]


@lru_cache(maxsize=256)
def planar_epsilon(p: float, d: int, c: float, reach: float, n: int, delta: float) -> float:
    """Search pairs in the plane for the largest epsilon: a lower bound for linear losses that are 1-Lipschitz in l_p.

    The replaced record is ``+-(1, -1)``, of dual norm 1. The mean of the others lies along ``(1, 1)`` or along the
    record itself; the search is over the norm of the mode that it has without boundary, from `_MODES` on. p, d and c
    are as in `PlaneDensity`, ``reach`` > 0 is the tilt at a mean record of norm 1, and n >= 2 counts the records.
    """
    plane = PlaneDensity(p, d, c)
    unit = 2.0 ** (-1.0 / dual_exponent(p))

    def epsilon(sign: float, mode: float) -> float:
        tilt = unit * min(2.0 * c * mode, reach * (1.0 - 1.0 / n))
        change = 2.0 * reach * unit / n
        return PlanarPair(plane, (tilt, sign * tilt), (change, -change)).epsilon(delta)

    found = {(sign, mode): epsilon(sign, mode) for sign in (1.0, -1.0) for mode in _MODES}
    for step in _STEPS_BESIDE:
        sign, best = max(found, key=found.__getitem__)
        found |= {(sign, mode): epsilon(sign, mode) for mode in (best - step, best + step)}
    return max(found.values())
