"""Maximise ``<y, x> - (kappa/2) ||x||_s^2`` over an l_p ball, 1 < p < s <= 2, or s = 2 < p < inf.

This is the exact mirror step of the smooth norms (p < s) and, with s = 2 and kappa = 1, the Euclidean projection.
Outside the ball the maximiser is ``x = radius u/||u||_p`` with ``||u||_p = ||u||_s^(2 - s)`` and

    ``rho u_j^(s - 1) + mu u_j^(p - 1) = |y_j|/max|y|``,  ``rho = kappa radius/max|y|``,

one root in mu > 0. In these units u and mu are of moderate size however large y is.
"""

from __future__ import annotations

from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.norms import largest, lp_norm, nonzero

Array = Any
ITERATIONS = 60
"""Most steps of either Newton iteration; four to eight are made."""
LEAST = 1e-30
"""Multipliers below this change nothing in entries of size one."""


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
    """``rho u^(s - 1) + mu u^(p - 1) = level`` entry by entry, and the norm that the right mu gives u.

    The level ``(..., d)`` is in [0, 1], ``rho (..., 1)`` > 0.
    """

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
        d = self.level.shape[-1]
        shrunk = d ** (2.0 / self.s - 1.0 - 1.0 / self.p)
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
