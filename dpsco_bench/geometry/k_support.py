"""The k-support norm, whose unit ball is the convex hull of the k-sparse vectors of Euclidean length one.

Its square is the least ``sum_j w_j^2/theta_j`` over ``theta in [0, 1]^d`` with ``sum theta <= k``.

Source: Argyriou, Foygel, Srebro 2012; Su, Zhao, Wang 2023 use its ball.
"""

from __future__ import annotations

from typing import Any

from dpsco_bench.backend.namespace import array_namespace, cast, cumulative_sum
from dpsco_bench.geometry.lp import project_l2
from dpsco_bench.geometry.norms import largest, nonzero

Array = Any
ITERATIONS = 60
"""Most steps of a bracketed Newton iteration; about five are made."""


def k_support_norm(x: Array, k: int) -> Array:
    """Compute the k-support norm of finite ``x (..., d)``, shape ``(..., 1)``: l1 for k = 1, l2 for k = d.

    ``sqrt(sum_{j <= i} a_j^2 + (sum_{j > i} a_j)^2/(k - i))`` of the sorted absolute values a, least over the i < k for
    which ``(k - i) a_(i+1) <= sum_{j > i} a_j``.
    """
    xp = array_namespace(x)
    top = largest(x)
    rising = xp.sort(xp.abs(x) / nonzero(top), axis=-1)
    falling = xp.flip(rising, axis=-1)[..., :k]
    tails = xp.flip(cumulative_sum(rising), axis=-1)[..., :k]
    heads = cumulative_sum(falling * falling) - falling * falling
    spread = cast(xp.arange(k, 0, -1), x.dtype)
    squares = xp.where(spread * falling <= tails, heads + tails * tails / spread, xp.full_like(tails, float("inf")))
    return top * xp.sqrt(xp.min(squares, axis=-1, keepdims=True))


def k_largest(x: Array, k: int) -> Array:
    """Mask ``(..., d)`` of the k largest absolute values, of ties the lowest coordinates."""
    xp = array_namespace(x)
    d, a = x.shape[-1], xp.abs(x)
    kth = xp.sort(a, axis=-1)[..., d - k : d - k + 1]
    above, level = a > kth, cast(a == kth, xp.int64)
    return above | ((level > 0) & (cumulative_sum(level) + xp.sum(cast(above, xp.int64), axis=-1, keepdims=True) <= k))


def project_k_support(x: Array, k: int, radius: float) -> Array:
    """Nearest point of the k-support ball to finite ``x (..., d)``, k in 1..d; points of the ball are unchanged.

    The projection is ``w = x theta/(theta + mu)`` with ``theta = clip(nu |x| - mu, 0, 1)`` of sum k. Here a is ``|x|``
    over its largest entry, ``rho`` the radius over it, ``c = rho gamma = rho/nu`` in these units and ``theta = clip((a
    - a_(k))/c + sigma, 0, 1)`` with sigma in [0, 1], so that no digits are lost to large entries. The squared norm of w
    grows with gamma, which lies between ``a_(k)/sqrt k`` and ``1/sqrt k``.
    """
    xp = array_namespace(x)
    eps = float(xp.finfo(x.dtype).eps)
    inside = k_support_norm(x, k) <= radius
    if bool(xp.all(inside)):
        return x
    top = nonzero(largest(x))
    a = xp.abs(x) / top
    kth = xp.sort(a, axis=-1)[..., x.shape[-1] - k : x.shape[-1] - k + 1]
    sparse = kth < eps**2  # k numbers hold everything: the norm is Euclidean
    kth = xp.where(sparse, xp.ones_like(kth), kth)
    # so large a point lies in the limit of large points already
    rho = xp.maximum(radius / xp.maximum(top, xp.full_like(top, radius / x.shape[-1])), xp.full_like(top, eps**3))
    shape = _Shape(a, kth, rho, k)
    projected = xp.sign(x) * (radius * shape.solution(inside | sparse))
    return xp.where(inside, x, xp.where(sparse, project_l2(x, radius), projected))


class _Shape:
    """The projection, up to signs and the radius, as a function of gamma.

    Of ``a (..., d)``, the absolute values over the largest, ``kth (..., 1)``, the k-th largest of them, and ``rho (...,
    1)``, the radius over the largest.
    """

    def __init__(self, a: Array, kth: Array, rho: Array, k: int) -> None:
        self.a, self.kth, self.rho, self.k = a, kth, rho, k

    def solution(self, known: Array) -> Array:
        """Compute the point of norm one ``(..., d)``; anything in replicates that are ``known (..., 1)``."""
        xp = array_namespace(self.a)
        low, high = self.kth * self.k**-0.5, xp.full_like(self.kth, self.k**-0.5)
        gamma, done, enough = high, known, 4.0 * float(xp.finfo(self.a.dtype).eps)
        for _ in range(ITERATIONS):
            u, log_square, slope = self._at(gamma)
            low, high = xp.where(log_square <= 0, gamma, low), xp.where(log_square >= 0, gamma, high)
            done = done | (xp.abs(log_square) <= enough) | (high - low <= enough * high)
            if bool(xp.all(done)):
                break
            newton = gamma * xp.exp(-log_square / slope)
            middle = xp.sqrt(low * high)
            gamma = xp.where(done, gamma, xp.where((newton > low) & (newton < high), newton, middle))
        return u

    def _at(self, gamma: Array) -> tuple[Array, Array, Array]:
        """Compute the point, the logarithm of its squared norm, and the slope of that in ``ln gamma``."""
        xp = array_namespace(gamma)
        c = self.rho * gamma
        unit = xp.ones_like(self.a)
        offsets = xp.minimum(xp.maximum((self.a - self.kth) / c, -unit), unit)
        sigma = _level(offsets, self.k)
        theta = offsets + sigma
        full, none = theta >= 1, theta <= 0
        reach = self.kth + (1.0 - sigma) * c
        u = gamma * xp.where(full, self.a / reach, xp.where(none, xp.zeros_like(theta), theta))
        middle = cast(~(full | none), theta.dtype)
        partial = xp.sum(middle * theta, axis=-1, keepdims=True)
        filled = xp.sum(cast(full, theta.dtype) * self.a * self.a, axis=-1, keepdims=True) / (reach * reach)
        drift = xp.sum(middle * offsets, axis=-1, keepdims=True) / nonzero(xp.sum(middle, axis=-1, keepdims=True))
        change = (1.0 - sigma - drift) * c / reach  # of ln(reach); sigma changes by drift
        square = nonzero(partial + filled)
        return u, xp.log(gamma * gamma * square), 2.0 - 2.0 * filled * change / square


def _level(offsets: Array, k: int) -> Array:
    """Sigma in [0, 1], ``(..., 1)``, with ``sum_j clip(offsets_j + sigma, 0, 1) = k``; offsets in [-1, 1].

    The sum is piecewise linear in sigma. Every entry bends it once: where it starts to grow or reaches one.
    """
    xp = array_namespace(offsets)
    grows = offsets > 0
    bends = xp.where(grows, 1.0 - offsets, -offsets)
    start = xp.sum(xp.where(grows, offsets, xp.zeros_like(offsets)), axis=-1, keepdims=True)
    first_slope = xp.sum(cast(grows, offsets.dtype), axis=-1, keepdims=True)
    order = xp.argsort(bends, axis=-1)
    bends = xp.take_along_axis(bends, order, axis=-1)
    change = xp.take_along_axis(1.0 - 2.0 * cast(grows, offsets.dtype), order, axis=-1)
    before = first_slope + cumulative_sum(change) - change
    first = xp.arange(offsets.shape[-1]) == 0
    gaps = bends - xp.where(first, xp.zeros_like(bends), xp.roll(bends, 1, axis=-1))
    sums = start + cumulative_sum(before * gaps)
    index = xp.sum(cast(sums < k, xp.int64), axis=-1, keepdims=True) - 1  # the k-th entry bends at 0, below k
    here, total, slope = (xp.take_along_axis(part, index, axis=-1) for part in (bends, sums, before + change))
    sigma = here + (k - total) / nonzero(slope)
    return xp.minimum(xp.maximum(sigma, xp.zeros_like(sigma)), xp.ones_like(sigma))
