"""The law of exp(kap x_1 - c ||x||_p^2) on the unit l_p ball by quadrature, and privacy of one draw from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.papers.gopi2022.laws.quadrature import DEPTH, bracket, double_exponential, ends, gauss_legendre

Array = np.ndarray
_OUTER, _INNER = 161, 101
_BISECTIONS = 30


@dataclass(frozen=True)
class AxisLaw:
    """Density proportional to ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, seen along the first axis.

    The coordinates other than the first enter through ``tau = ||x_2..d||_p`` alone, whose volume element is
    ``tau^(d-2) dtau``. Distances from the ends of the axis are integrated themselves, so that ``E[1 - x_1]`` keeps its
    digits however close to 1 the law is. Raises InputError for arguments out of range. Source: Gopi, Lee, Liu, Shen,
    Tian 2022, Corollary 2.

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

    def __post_init__(self) -> None:
        checked_count("d", self.d)
        if not 1.0 <= self.p <= 2.0:
            raise InputError("p", self.p, "in [1, 2]")
        if not np.isfinite(self.kap):
            raise InputError("kap", self.kap, "a finite number")
        if not 0.0 <= self.c < np.inf:
            raise InputError("c", self.c, "a finite number >= 0")

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

    def log_marginal(self, depth: np.ndarray) -> np.ndarray:
        """Log density of x_1 without its tilt, up to a constant, at ``depth = 1 - |x_1|`` in (0, 1]; arrays (N,)."""
        return self._log_marginal(depth, np.zeros_like(depth))

    def tail(self, x: float) -> float:
        """``P(x_1 > x)``."""
        if not -1.0 < x < 1.0:
            return float(x <= -1.0)
        if self.kap < 0:  # below -x for the opposite tilt
            return self._share(1.0 + x, 2.0)
        return self._share(0.0, 1.0 - x)

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

    def _share(self, low: float, high: float) -> float:
        """Probability that ``1 - x_1`` is in (low, high), for ``|kap|``."""
        ends = bracket(self._log_profile, low, high)
        return float(np.exp(min(0.0, self._integrate(*ends)[2] - self._nodes[2])))

    def _integrate(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Nodes ``1 - x_1`` in (low, high), their shares of the mass, and the logarithm of that mass."""
        gaps, logs = [], []
        lower, upper, weights = double_exponential(_OUTER)
        if low < 1.0:  # x_1 > 0, by the distance from +1
            end = min(high, 1.0)
            gap = low + (end - low) * lower
            gaps.append(gap)
            logs.append(np.log((end - low) * weights) + self._log_marginal(gap, gap))
        if high > 1.0:  # x_1 < 0, by the distance from -1
            start = max(low, 1.0)
            depth = (2.0 - high) + (high - start) * upper
            gaps.append(2.0 - depth)
            logs.append(np.log((high - start) * weights) + self._log_marginal(depth, 2.0 - depth))
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

    def _log_marginal(self, depth: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """Log density of x_1 over ``exp(|kap|)``; ``depth = 1 - |x_1|`` and ``gap = 1 - x_1`` are given exactly."""
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
        return ends(lambda tau: self._rises(axis, tau), np.zeros_like(reach), reach, _BISECTIONS)[0]

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

    def _rises(self, axis: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Check that the integrand still rises at tau."""
        power = tau**self.p
        return 2.0 * self.c * (axis + power) ** (2.0 / self.p - 1.0) * power < self.d - 2


PER_PANEL = 16
_SMALLEST, _KINK = 60, 20
"""Panels are halved so often towards the ends of the axis, where the density starts as a power, and towards 0."""


def axis_panels(p: float, d: int, c: float) -> tuple[Array, Array, Array]:
    """Panels in the gap ``1 - x_1`` for densities ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, any ``kap``.

    Returns
    -------
    edges : array ``(P + 1,)``, increasing from 0 to 2
    gaps : array ``(P, PER_PANEL)``, at the Gauss-Legendre nodes of each panel
    log_marginal : array ``(P, PER_PANEL)``, log density of x_1 at ``kap = 0``, up to a constant
    """
    width = min(0.5, 1.0 / math.sqrt(2.0 * c)) if c > 0 else 0.5
    powers = 0.5 ** np.arange(_SMALLEST + 1.0)
    uniform = np.linspace(0.0, 1.0, 1 + math.ceil(1.0 / width))
    half = np.unique(np.concatenate([uniform, powers, 1.0 - powers[1 : _KINK + 1]]))
    nodes, _ = gauss_legendre(PER_PANEL)
    depth = half[:-1, None] + np.diff(half)[:, None] * nodes
    log_marginal = AxisLaw(p, d, 0.0, c).log_marginal(depth.ravel()).reshape(depth.shape)
    edges = np.concatenate([half, 2.0 - half[-2::-1]])
    gaps = np.concatenate([depth, 2.0 - depth[::-1, ::-1]])
    return edges, gaps, np.concatenate([log_marginal, log_marginal[::-1, ::-1]])


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


LARGEST = 200.0


def pair_delta(first: AxisLaw, second: AxisLaw, epsilon: float) -> float:
    """``max_A P(A) - e^epsilon Q(A)``, where the laws differ in their tilt alone: same p, d and c.

    The log ratio of the densities is linear in x_1, so that the best event is a tail.
    """
    shift = first.kap - second.kap
    threshold = (epsilon + first.log_normaliser() - second.log_normaliser()) / shift
    if shift > 0:
        return first.tail(threshold) - math.exp(epsilon) * second.tail(threshold)
    return _mirrored(first).tail(-threshold) - math.exp(epsilon) * _mirrored(second).tail(-threshold)


def pair_epsilon(first: AxisLaw, second: AxisLaw, delta: float) -> float:
    """Least epsilon for which both `pair_delta` are at most delta; accurate to 1e-10."""
    from scipy.optimize import brentq

    def excess(epsilon: float) -> float:
        return max(pair_delta(first, second, epsilon), pair_delta(second, first, epsilon)) - delta

    return 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, LARGEST, xtol=1e-10))


def _mirrored(law: AxisLaw) -> AxisLaw:
    return AxisLaw(law.p, law.d, -law.kap, law.c)
