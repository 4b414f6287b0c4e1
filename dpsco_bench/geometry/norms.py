"""l_p norms, their smooth stand-ins, and linear minimisation and projection over their balls, at any scale.

Maximise ``<y, x> - (kappa/2) ||x||_s^2`` over an l_p ball, 1 < p < s <= 2, or s = 2 < p < inf.

This is the exact mirror step of the smooth norms (p < s) and, with s = 2 and kappa = 1, the Euclidean projection.
Outside the ball the maximiser is ``x = radius u/||u||_p`` with ``||u||_p = ||u||_s^(2 - s)`` and

    ``rho u_j^(s - 1) + mu u_j^(p - 1) = |y_j|/max|y|``,  ``rho = kappa radius/max|y|``,

one root in mu > 0. In these units u and mu are of moderate size however large y is.

Everything divides by the largest entry before it takes powers, so that squares neither overflow nor underflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, cast, cumulative_sum
from dpsco_bench.errors import InputError, checked_count

Array = Any
ITERATIONS = 60
"""Most steps of either Newton iteration; four to eight are made."""
LEAST = 1e-30
"""Multipliers below this change nothing in entries of size one."""
LEAST_RADIUS, LARGEST_LENGTH = 1e-140, 1e150
"""Beyond these squares may vanish or overflow."""
RULES = ("best", "q", "sec2", "two_ln_d")


def checked_exponent(p: float) -> float:
    """Return p as a float if it lies in [1, inf]. Raises InputError otherwise."""
    if isinstance(p, bool) or not isinstance(p, int | float) or not p >= 1:
        raise InputError("p", p, "a number in [1, inf]")
    return float(p)


def dual_exponent(p: float) -> float:
    """``q = p/(p - 1)``: infinity for p = 1 and 1 for p = infinity."""
    if p == 1:
        return math.inf
    return 1.0 if math.isinf(p) else p / (p - 1.0)


def largest(x: Array) -> Array:
    """Largest absolute value along the last axis, shape ``(..., 1)``."""
    xp = array_namespace(x)
    return xp.max(xp.abs(x), axis=-1, keepdims=True)


def nonzero(x: Array) -> Array:
    """``x`` with ones in place of zeros, to divide by."""
    xp = array_namespace(x)
    return xp.where(x != 0, x, xp.ones_like(x))


def l1_norm(x: Array) -> Array:
    """Sum of absolute values along the last axis, shape ``(..., 1)``."""
    xp = array_namespace(x)
    return xp.sum(xp.abs(x), axis=-1, keepdims=True)


def l2_norm(x: Array) -> Array:
    """Euclidean norm along the last axis, shape ``(..., 1)``; squares neither overflow nor underflow."""
    xp = array_namespace(x)
    top = largest(x)
    scaled = x / nonzero(top)
    return top * xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True))


def lp_norm(x: Array, p: float) -> Array:
    """``||x||_p`` of finite ``x (..., d)`` for p in [1, inf], shape ``(..., 1)``."""
    if p in (1.0, 2.0):
        return l1_norm(x) if p == 1 else l2_norm(x)
    if math.isinf(p):
        return largest(x)
    xp = array_namespace(x)
    top = largest(x)
    ratio = xp.abs(x) / nonzero(top)
    return top * xp.sum(ratio**p, axis=-1, keepdims=True) ** (1.0 / p)


def square_gradient(x: Array, exponent: float, scale: float) -> Array:
    """Gradient of ``(scale/2) ||x||_exponent^2`` at finite ``x (..., d)``, 0 at 0; exponent in (1, inf)."""
    xp = array_namespace(x)
    top = largest(x)
    ratio = xp.abs(x) / nonzero(top)
    powers = ratio ** (exponent - 1.0)
    total = nonzero(xp.sum(powers * ratio, axis=-1, keepdims=True))
    return xp.sign(x) * powers * (scale * top * total ** (2.0 / exponent - 1.0))


def penalised_step(y: Array, free: Array, p: float, s: float, kappa: float, radius: float) -> Array:
    """``argmax <y, x> - (kappa/2) ||x||_s^2`` over ``||x||_p <= radius``, for finite ``y (..., d)``.

    The maximiser over the whole space, ``free``, is returned where it is feasible; 1 < p < s <= 2, or s = 2 < p.
    The inner equations are solved in ``v = u^(min(p, s) - 1)``, in which they are convex, by Newton's method from
    above; the outer one by Newton's method from below, kept in a bracket. Each replicate stops on its own.
    """
    xp = array_namespace(y)
    inside = lp_norm(free, p) <= radius
    if bool(xp.all(inside)):
        return free
    top = nonzero(largest(y))
    least = float(xp.finfo(y.dtype).smallest_normal)
    rho = kappa * radius / xp.maximum(top, xp.full_like(top, kappa * radius / y.shape[-1]))  # at most d outside
    equations = _Equations(xp.abs(y) / top, xp.maximum(rho, xp.full_like(rho, least)), p, s)
    u = equations.solution(inside)
    return xp.where(inside, free, xp.sign(y) * u * (radius / nonzero(lp_norm(u, p))))


class _Equations:
    """``rho u^(s - 1) + mu u^(p - 1) = level`` in [0, 1] by entry, rho > 0, and the norm of u at the right mu."""

    def __init__(self, level: Array, rho: Array, p: float, s: float) -> None:
        self.level, self.rho, self.p, self.s = level, rho, p, s
        self.low = min(p, s) - 1.0
        self.ratio = (max(p, s) - 1.0) / self.low

    def solution(self, known: Array) -> Array:
        """Compute u at the right mu, ``(..., d)``; anything in replicates that are ``known (..., 1)``."""
        xp = array_namespace(self.level)
        low, high = self._bracket()
        tolerance = 4.0 * float(xp.finfo(self.level.dtype).eps)
        mu, v = low, xp.ones_like(self.level)
        done = known
        for _ in range(ITERATIONS):
            v = xp.where(done, v, self._roots(mu, v, done))
            excess, slope = self._excess(mu, v)
            low, high = xp.where(excess >= 0, mu, low), xp.where(excess <= 0, mu, high)
            done = done | (xp.abs(excess) <= tolerance) | (high - low <= tolerance * high)
            if bool(xp.all(done)):
                break
            newton = mu - mu * (excess / nonzero(slope))
            middle = xp.sqrt(low) * xp.sqrt(high)
            mu = xp.where(done, mu, xp.where((newton > low) & (newton < high), newton, middle))
        return v ** (1.0 / self.low)

    def _bracket(self) -> tuple[Array, Array]:
        """Bounds on mu: the largest entry U has level 1 and ``d^(2/s - 1 - 1/p) <= U^(s - 1) <= 1``."""
        xp = array_namespace(self.rho)
        shrunk = self.level.shape[-1] ** (2.0 / self.s - 1.0 - 1.0 / self.p)
        least = xp.full_like(self.rho, LEAST)
        high = (1.0 - self.rho * shrunk) * shrunk ** (-(self.p - 1.0) / (self.s - 1.0))
        low = xp.maximum(1.0 - self.rho, least)
        return low, xp.maximum(high, 2.0 * low)

    def _roots(self, mu: Array, start: Array, done: Array) -> Array:
        """``v = u^low`` of ``outer v^ratio + inner v = level``, from the last one found; the left side is convex."""
        xp = array_namespace(mu)
        outer, inner = (self.rho, mu) if self.p < self.s else (mu, self.rho)
        e = self.ratio
        above = xp.minimum((self.level / outer) ** (1.0 / e), self.level / inner)
        v, bound = xp.minimum(start, above), above
        for _ in range(ITERATIONS):
            power = outer * v ** (e - 1.0)
            newton = (self.level + (e - 1.0) * power * v) / (inner + e * power)
            new = xp.minimum(newton, bound)  # from below, the first step may go far above
            if bool(xp.all(done | (new == v))):
                break
            v = bound = new
        return v

    def _excess(self, mu: Array, v: Array) -> tuple[Array, Array]:
        """``ln(||u||_p/||u||_s^(2 - s))`` and its derivative in ``ln mu``, shapes ``(..., 1)``."""
        xp = array_namespace(v)
        u = v ** (1.0 / self.low)
        top = nonzero(largest(u))
        u = u / top
        by_s, by_p = u ** (self.s - 1.0), u ** (self.p - 1.0)
        # terms of the equation for u/top, so that nothing underflows
        penalty = mu * top ** (self.p - 1.0) * by_p
        smooth = self.rho * top ** (self.s - 1.0) * by_s
        rate = -penalty / nonzero((self.p - 1.0) * penalty + (self.s - 1.0) * smooth)
        sum_p, slope_p = _mean_slope(by_p * u, rate)
        sum_s, slope_s = _mean_slope(by_s * u, rate)
        share = 2.0 - self.s
        excess = xp.log(sum_p) / self.p - share * xp.log(sum_s) / self.s + (1.0 - share) * xp.log(top)
        return excess, slope_p - share * slope_s


def _mean_slope(weights: Array, rate: Array) -> tuple[Array, Array]:
    """Sum of the weights and weighted mean of the rates, shapes ``(..., 1)``."""
    xp = array_namespace(weights)
    total = nonzero(xp.sum(weights, axis=-1, keepdims=True))
    return total, xp.sum(weights * rate, axis=-1, keepdims=True) / total


def first_largest(x: Array) -> Array:
    """Mask ``(..., d)`` of the first coordinate with the largest absolute value."""
    xp = array_namespace(x)
    return xp.arange(x.shape[-1]) == xp.expand_dims(xp.argmax(xp.abs(x), axis=-1), axis=-1)


def minimise_linear_lp(g: Array, p: float, radius: float) -> Array:
    """``argmin <g, v>`` over ``||v||_p <= radius``, for finite ``g (..., d)``, p in [1, inf] and radius > 0.

    ``-radius sign(g) |g|^(q - 1)/||g||_q^(q - 1)``; for p = 1 a vertex, at the first largest ``|g_j|``. Zero for
    ``g = 0``, except the vertex ``-radius e_1`` for p = 1.
    """
    xp = array_namespace(g)
    if p == 1:
        vertex = xp.where(g >= 0, xp.full_like(g, -radius), xp.full_like(g, radius))
        return xp.where(first_largest(g), vertex, xp.zeros_like(g))
    if math.isinf(p):
        return -radius * xp.sign(g)
    q = dual_exponent(p)
    ratio = xp.abs(g) / nonzero(largest(g))
    powers = ratio ** (q - 1.0)
    total = nonzero(xp.sum(powers * ratio, axis=-1, keepdims=True))
    return -radius * xp.sign(g) * powers / total ** (1.0 / p)


def project_lp(x: Array, p: float, radius: float) -> Array:
    """Nearest point of ``||y||_p <= radius`` to finite ``x (..., d)``, radius > 0; points of the ball are unchanged."""
    if p == 1:
        return project_l1(x, radius)
    if p == 2:
        return project_l2(x, radius)
    if math.isinf(p):
        return array_namespace(x).clip(x, -radius, radius)
    return penalised_step(x, x, p, 2.0, 1.0, radius)


def project_l2(x: Array, radius: float) -> Array:
    """Nearest point of ``||y||_2 <= radius`` to finite ``x (..., d)``, radius > 0: shrink what lies outside.

    On the host squares are summed as they are where none can overflow or vanish, which is four times as fast; a device
    is not asked, since the answer would make every step wait for it.
    """
    xp = array_namespace(x)
    if xp is np and x.dtype == np.float64 and radius > LEAST_RADIUS:
        length = np.sqrt(np.einsum("...i,...i->...", x, x)[..., None])
        if length.max(initial=0.0) < LARGEST_LENGTH:
            return x * (radius / np.maximum(length, radius))
    top = largest(x)
    scaled = x / nonzero(top)
    length = xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True))
    return xp.where(top * length > radius, scaled * (radius / nonzero(length)), x)


def project_l1(x: Array, radius: float) -> Array:
    """Nearest point of ``||y||_1 <= radius`` to finite ``x (..., d)``: subtract one threshold from all absolute values.

    Source: Duchi, Shalev-Shwartz, Singer, Chandra 2008, Figure 1.
    """
    xp = array_namespace(x)
    return xp.where(l1_norm(x) > radius, xp.sign(x) * over_threshold(largest(x) - xp.abs(x), radius), x)


def over_threshold(deficit: Array, total: float) -> Array:
    """Take what entries, ``deficit (..., d)`` below the largest, have over the threshold that leaves a sum."""
    xp = array_namespace(deficit)
    ordered = xp.sort(deficit, axis=-1)
    counts = cast(xp.arange(1, deficit.shape[-1] + 1), deficit.dtype)
    height = (total + cumulative_sum(ordered)) / counts  # what is left of the largest entry if k entries stay
    kept = xp.sum(cast(ordered < height, xp.int64), axis=-1, keepdims=True)
    rest = xp.take_along_axis(height, kept - 1, axis=-1) - deficit
    return xp.where(rest > 0, rest, xp.zeros_like(rest))


@dataclass(frozen=True)
class SmoothNorm:
    """The l_r norm, ``2 <= r <= q = p/(p - 1)``, as a smooth stand-in for the l_q norm.

    ``||x + y||_r^2 <= ||x||_r^2 + <grad ||.||_r^2(x), y> + kappa_plus ||y||_r^2`` and
    ``||x||_q^2 <= ||x||_r^2 <= (kappa/kappa_plus) ||x||_q^2``. Raises InputError for a value outside these ranges, or
    an unknown rule. Source: Bassily, Guzman, Nandi 2021, Section 2; Su, Zhao, Wang 2023, Section 2.

    Attributes
    ----------
    p : float, in [1, 2]
    d : int, dimension, >= 1
    rule : str
        How r is chosen. ``best`` minimises kappa over 2, q and the stationary point
        ``ln d + sqrt(ln^2 d - 2 ln d)``; ``q`` takes q (refused for p = 1); ``sec2`` is ``max(2, min(q, ln d))``
        (Bassily et al., Section 2) and ``two_ln_d`` is ``max(2, min(q, 2 ln d + 1))`` (Su et al., Section 2).
    """

    p: float
    d: int
    rule: str = "best"

    def __post_init__(self) -> None:
        if isinstance(self.p, bool) or not 1.0 <= self.p <= 2.0:
            raise InputError("p", self.p, "a number in [1, 2]", "the smooth norms")
        object.__setattr__(self, "p", float(self.p))
        object.__setattr__(self, "d", checked_count("d", self.d))
        if self.rule not in RULES:
            raise InputError("norm_rule", self.rule, "one of " + ", ".join(RULES))
        if self.rule == "q" and self.p == 1:
            raise InputError("p", self.p, "a number in (1, 2] for the rule q")

    @property
    def q(self) -> float:
        """Exponent of the dual norm, infinity for p = 1."""
        return dual_exponent(self.p)

    @property
    def r(self) -> float:
        """Exponent of the smooth norm, finite and >= 2."""
        log_d = math.log(self.d)
        if self.rule == "q":
            return self.q
        if self.rule == "sec2":
            return max(2.0, min(self.q, log_d))
        if self.rule == "two_ln_d":
            return max(2.0, min(self.q, 2.0 * log_d + 1.0))
        stationary = log_d + math.sqrt(log_d * (log_d - 2.0)) if log_d >= 2.0 else math.inf
        return min((r for r in (2.0, self.q, stationary) if r <= self.q and math.isfinite(r)), key=self._constant)

    @property
    def kappa_plus(self) -> float:
        """``r - 1``, the smoothness of the squared l_r norm."""
        return self.r - 1.0

    @property
    def kappa(self) -> float:
        """``(r - 1) d^(2(1/r - 1/q))``, its smoothness with respect to the l_q norm."""
        return self._constant(self.r)

    @property
    def dual(self) -> float:
        """``s = r/(r - 1)``, the exponent of the mirror map; p itself where r = q."""
        return self.p if self.r == self.q else self.r / (self.r - 1.0)

    def _constant(self, r: float) -> float:
        return (r - 1.0) * self.d ** (2.0 * (1.0 / r - 1.0 / self.q)) if r < self.q else r - 1.0
