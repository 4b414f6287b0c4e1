"""The law of exp(kap x_1 - c ||x||_p^2) on the unit l_p ball, by quadrature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.papers.gopi2022.bisection import ends
from dpsco_bench.papers.gopi2022.laws.nodes import DEPTH, bracket, double_exponential

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
