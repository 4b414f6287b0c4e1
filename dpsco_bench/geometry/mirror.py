"""Mirror maps of balls: steps in a Bregman divergence and in the ball's own norm, exact and for all replicates.

``||.||_C`` is the Minkowski norm of the ball C, that is its norm over its radius. Each geometry has a
distance-generating function w that is 1-strongly convex in ``||.||_C``, and two exact minimisations over C:

- `bregman_step`: ``argmin_u D_w(u, z) + <direction, u>``;
- `norm_step`: ``argmin_y coefficient ||y - x||_C^2 + <direction, y - x>``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpsco_bench.backend.namespace import array_namespace, cumulative_sum
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import mean_largest_square
from dpsco_bench.geometry.norms import (
    checked_exponent,
    first_largest,
    l1_norm,
    largest,
    lp_norm,
    nonzero,
    penalised_step,
    project_l2,
    square_gradient,
)

Array = Any
ITERATIONS = 60
"""Most steps of a bracketed Newton iteration; about six are made."""


def ball_geometry(ball: Any) -> L1Geometry | L2Geometry:
    """Build the geometry of an l1 or l2 ball. Raises InputError for another set."""
    if ball.name not in ("l1_ball", "l2_ball"):
        raise InputError("domain", ball.name, "l1_ball or l2_ball here")
    return L1Geometry(ball.radius) if ball.name == "l1_ball" else L2Geometry(ball.radius)


@dataclass(frozen=True)
class L2Geometry:
    """The l2 ball with ``w(x) = ||x||_2^2 / (2 radius^2)``: both steps are projected gradient steps."""

    radius: float

    def bregman_radius(self, d: int) -> float:
        return 0.5

    def squared_width(self, d: int) -> float:
        return self.radius**2 * d

    def bregman_step(self, z: Array, direction: Array) -> Array:
        return project_l2(z - self.radius**2 * direction, self.radius)

    def norm_step(self, x: Array, direction: Array, coefficient: float) -> Array:
        return project_l2(x - (0.5 * self.radius**2 / coefficient) * direction, self.radius)


@dataclass(frozen=True)
class L1Geometry:
    """The l1 ball with ``w(x) = (s/2) ||x||_q^2``, ``q = 2 ln d/(2 ln d - 1)`` and ``s = e (2 ln d - 1)/radius^2``.

    For d below 3: q = 2 and ``s = d/radius^2``.
    """

    radius: float

    @staticmethod
    def dual_exponent(d: int) -> float:
        """``p = q/(q - 1)``: ``2 ln d``, or 2 for d below 3."""
        return 2.0 * math.log(d) if d >= 3 else 2.0

    def curvature(self, d: int) -> float:
        p = self.dual_exponent(d)
        return (math.e * (p - 1.0) if d >= 3 else float(d)) / self.radius**2

    def bregman_radius(self, d: int) -> float:
        return 0.5 * self.curvature(d) * self.radius**2

    def squared_width(self, d: int) -> float:
        return self.radius**2 * mean_largest_square(d)

    def bregman_step(self, z: Array, direction: Array) -> Array:
        """``grad w*(soft(theta, lam))`` with ``theta = grad w(z) - direction``, lam >= 0 least feasible."""
        xp = array_namespace(z)
        d = z.shape[-1]
        p, s = self.dual_exponent(d), self.curvature(d)
        theta = square_gradient(z, p / (p - 1.0), s) - direction
        deficit = largest(theta) - xp.abs(theta)
        height = shrunk_height(deficit, largest(theta), p, s, self.radius)
        rest = height - deficit
        return xp.sign(theta) * square_gradient(xp.where(rest > 0, rest, xp.zeros_like(rest)), p, 1.0 / s)

    def norm_step(self, x: Array, direction: Array, coefficient: float) -> Array:
        """Exact greedy: one coordinate moves against its gradient, and others give mass to it while that pays.

        The coordinate i of the largest ``|direction|`` moves alone as far as the norm and C allow (its `room`). Then
        support coordinates j give their mass to i in decreasing ``rho_j = (|g_i| + sign(x_j) g_j)/2``, until
        ``a (room + 2 moved) >= rho_j`` with ``a = 2 coefficient/radius^2``.
        """
        xp = array_namespace(x)
        a = 2.0 * coefficient / self.radius**2
        chosen = first_largest(direction)
        steepest = largest(direction)
        heading = -xp.sum(xp.where(chosen, xp.sign(direction), xp.zeros_like(x)), axis=-1, keepdims=True)
        mass = xp.abs(x)
        own = xp.sum(xp.where(chosen, x, xp.zeros_like(x)), axis=-1, keepdims=True) * heading
        slack = self.radius - l1_norm(x)
        slack = xp.where(slack > 0, slack, xp.zeros_like(slack))
        room = slack + 2.0 * xp.where(own < 0, -own, xp.zeros_like(own))
        alone = xp.minimum(steepest / a, room)
        gain = 0.5 * (steepest + xp.sign(x) * direction)
        given = _water_filling(xp.where(chosen, xp.zeros_like(mass), mass), gain / a, room)
        given = xp.where(steepest / a > room, given, xp.zeros_like(given))
        moved = x - xp.sign(x) * given
        return moved + xp.where(chosen, heading * (alone + l1_norm(given)), xp.zeros_like(x))


def shrunk_height(deficit: Array, top: Array, p: float, s: float, radius: float) -> Array:
    """Compute the height left of theta's largest entry once the least threshold fits its image into the l1 ball.

    The image of theta is the gradient of ``||.||_p^2/(2 s)`` at ``sign(theta) (|theta| - lam)_+``. Its l1 norm grows
    with ``tau = max|theta| - lam`` and lies between ``tau/s`` and ``d^(2/p) tau/s``, which brackets the root. Returns
    array (..., 1), tau: all of ``top`` where that is feasible, else the root. ``deficit (..., d)`` is
    ``max|theta| - |theta|``, ``top (..., 1)`` is ``max|theta|``.
    """
    xp = array_namespace(deficit)
    d = deficit.shape[-1]
    positive = xp.where(top > 0, top, xp.ones_like(top))
    high = xp.minimum(positive, xp.full_like(top, s * radius))
    low = xp.minimum(high, xp.full_like(top, s * radius / d ** (2.0 / p)))
    whole = _log_norm(deficit, positive, p, s)[0] <= math.log(radius)
    height, enough = high, 4.0 * float(xp.finfo(deficit.dtype).eps)
    for _ in range(ITERATIONS):
        log_norm, slope = _log_norm(deficit, height, p, s)
        excess = log_norm - math.log(radius)
        low, high = xp.where(excess <= 0, height, low), xp.where(excess > 0, height, high)
        done = whole | (xp.abs(excess) <= enough) | (high - low <= enough * high)
        if bool(xp.all(done)):
            break
        newton = height * xp.exp(-excess / slope)
        bracketed = xp.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        height = xp.where(done, height, bracketed)  # a replicate does not depend on the others' iterations
    return xp.where(whole, top, height)


def _log_norm(deficit: Array, height: Array, p: float, s: float) -> tuple[Array, Array]:
    """Logarithm of the l1 norm of ``grad w*`` at entries ``(height - deficit)_+``, and its slope in ``ln(height)``."""
    xp = array_namespace(deficit)
    ratio = 1.0 - xp.minimum(deficit, height) / height
    powers = xp.where(ratio > 0, ratio ** (p - 2.0), xp.zeros_like(ratio))
    counts, first, second = (
        xp.sum(term, axis=-1, keepdims=True) for term in (powers, powers * ratio, powers * ratio * ratio)
    )
    log_norm = xp.log(height / s) + (2.0 / p - 1.0) * xp.log(second) + xp.log(first)
    return log_norm, (2.0 - p) * first / second + (p - 1.0) * counts / first


def _water_filling(mass: Array, level: Array, room: Array) -> Array:
    """Mass given by each coordinate, highest level first, until ``room + 2 given in all`` reaches its level."""
    xp = array_namespace(mass)
    order = xp.argsort(-level, axis=-1)
    available = xp.take_along_axis(mass, order, axis=-1)
    before = cumulative_sum(available) - available
    wanted = 0.5 * (xp.take_along_axis(level, order, axis=-1) - room) - before
    taken = xp.minimum(xp.where(wanted > 0, wanted, xp.zeros_like(wanted)), available)
    return xp.take_along_axis(taken, xp.argsort(order, axis=-1), axis=-1)


@dataclass(frozen=True)
class SmoothMirror:
    """The mirror map ``Phi = (kappa/2) ||.||_s^2``, ``s = r/(r - 1)``, which is 1-strongly convex in the l_p norm.

    The norm has r, the exponent of the dual norm, ``dual``, which is s in (1, 2], and kappa (see `norms.SmoothNorm`).
    Source: Bassily, Guzman, Nandi 2021, Algorithm 2; Su, Zhao, Wang 2023, Algorithms 3, 4 and 7.
    """

    norm: Any

    def gradient(self, x: Array) -> Array:
        """``grad Phi(x) = kappa ||x||_s^(2 - s) |x|^(s - 1) sign x`` of ``x (..., d)``; 0 at 0."""
        return square_gradient(x, self.norm.dual, self.norm.kappa)

    def inverse(self, y: Array) -> Array:
        """``grad Phi*(y) = ||y||_r^(2 - r) |y|^(r - 1) sign y/kappa`` of ``y (..., d)``; 0 at 0."""
        return square_gradient(y, self.norm.r, 1.0 / self.norm.kappa)

    def step(self, y: Array, p: float, radius: float) -> Array:
        """``argmax <y, x> - Phi(x)`` over ``||x||_p <= radius``, exactly, for finite ``y (..., d)`` and radius > 0.

        With ``y = grad Phi(x_t) - step g`` this is the mirror descent step from x_t along g. Raises InputError for p
        outside [1, s].
        """
        s, kappa = self.norm.dual, self.norm.kappa
        if not 1.0 <= checked_exponent(p) <= s:
            raise InputError("p", p, f"in [1, {s:g}], the exponent of the mirror map")
        if p == 1:
            return self._onto_l1(y, radius)
        free = self.inverse(y)
        if p < s:
            return penalised_step(y, free, p, s, kappa, radius)
        xp, length = array_namespace(y), lp_norm(free, p)  # the ball is a level set of Phi
        return xp.where(length > radius, free * (radius / nonzero(length)), free)

    def _onto_l1(self, y: Array, radius: float) -> Array:
        """``grad Phi*`` of y with the least threshold that fits into the l1 ball taken off its entries."""
        xp, top = array_namespace(y), largest(y)
        deficit = top - xp.abs(y)
        height = shrunk_height(deficit, top, self.norm.r, self.norm.kappa, radius)
        rest = xp.where(height < top, height - deficit, xp.abs(y))
        return xp.sign(y) * self.inverse(xp.where(rest > 0, rest, xp.zeros_like(rest)))
