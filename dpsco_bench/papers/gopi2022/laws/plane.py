"""Privacy of one draw from below: neighbouring data sets whose records lie in the plane of two coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.interpolate import CubicSpline

from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.gopi2022.bisection import ends
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.neighbours import TiltedPairs
from dpsco_bench.papers.gopi2022.laws.nodes import DEPTH, bracket, double_exponential, gauss_legendre
from dpsco_bench.papers.gopi2022.laws.panels import PER_PANEL

Array = np.ndarray
_ACROSS, _PANELS, _HALVINGS, _STEPS = 101, 24, 12, 40
_KNOTS = 1024
_MODES, _STEPS_BESIDE = (0.4, 0.6, 0.8, 1.0), (0.1, 0.05, 0.025)
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@dataclass(frozen=True)
class PlaneDensity:
    """Density of ``(x_1, x_2)`` under ``exp(-c ||x||_p^2)`` on the unit l_p ball, a function of ``|x_1|^p + |x_2|^p``.

    The coordinates other than these enter through their l_p norm tau alone, of volume element ``tau^(d-3) dtau``.

    Parameters
    ----------
    p : float, in (1, 2]
    d : int, dimension, >= 2
    c : float, curvature, > 0
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
    def _rest(self) -> CubicSpline:
        """Compute the part that is smooth in the power: the log integral over tau less both other terms of `log`."""
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

    def tilts(self, numbers: Array) -> tuple[Array, Array]:
        """Compute the tilts in y, beside the common one; as `AxisNeighbours` does."""
        half = np.full(len(numbers), 0.5 * self.shift)
        return -half, half

    def epsilon(self, delta: float) -> float:
        """Least epsilon at delta of this pair, in both directions."""
        found = TiltedPairs(self, np.zeros(1)).above(0.0, delta)
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

    def log_marginal(self, y: Array) -> Array:
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

    @cached_property
    def panels(self) -> tuple[Array, Array, Array]:
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
        logs = self.log_marginal(y.ravel()).reshape(y.shape)
        return 1.0 - edges[::-1], 1.0 - y[::-1, ::-1], logs[::-1, ::-1]


@lru_cache(maxsize=256)
def planar_epsilon(p: float, d: int, c: float, reach: float, n: int, delta: float) -> float:
    """Largest epsilon of some pairs in the plane: a lower bound over data sets of linear losses, 1-Lipschitz in l_p.

    The replaced record is ``+-(1, -1)``, of dual norm 1, and the mean of the others lies along ``(1, 1)`` or along the
    record itself, such that the mode without boundary has a norm about that of the worst of `_MODES`.

    Parameters
    ----------
    p, d, c : as of `PlaneDensity`
    reach : float, tilt at a mean record of norm 1, > 0
    n : int, records, >= 2
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
