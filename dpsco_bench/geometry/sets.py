"""Symmetric convex sets other than l_p balls: k-support, group, subspace and Schatten balls.

Source: Su, Zhao, Wang 2023 need Gaussian widths and projections of the first three; k-support norm: Argyriou, Foygel,
Srebro 2012. Its unit ball is the convex hull of the k-sparse vectors of Euclidean length one, and its square the least
``sum_j w_j^2/theta_j`` over ``theta in [0, 1]^d`` with ``sum theta <= k``. Points of Schatten balls are matrices whose
singular values lie in an l_p ball, flattened row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpsco_bench.backend.namespace import array_namespace, cast, cumulative_sum
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.ball import (
    FeasibleSet,
    mean_largest,
    mean_length,
    mean_longest_block,
    set_kind,
    simulated_width,
)
from dpsco_bench.geometry.norms import (
    checked_exponent,
    dual_exponent,
    first_largest,
    l1_norm,
    l2_norm,
    largest,
    lp_norm,
    minimise_linear_lp,
    nonzero,
    project_l1,
    project_l2,
    project_lp,
)

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
    projected = xp.sign(x) * (radius * _Shape(a, kth, rho, k).solution(inside | sparse))
    return xp.where(inside, x, xp.where(sparse, project_l2(x, radius), projected))


class _Shape:
    """The projection, up to signs and the radius, as a function of gamma.

    Of ``a (..., d)``, the absolute values over the largest, ``kth (..., 1)``, the k-th largest of them, and
    ``rho (..., 1)``, the radius over the largest.
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


@dataclass(frozen=True)
class _Sized(FeasibleSet):
    """A set whose name has a whole number: how many coordinates are kept, or form a block."""

    k: int
    radius: float
    kind: ClassVar[str]
    noun: ClassVar[str] = "k"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", checked_count(f"{self.noun} of the {self.kind}", self.k))
        self.check_radius()

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.k}"

    def euclidean_diameter(self, d: int) -> float:
        self.fitting(d)
        return 2.0 * self.radius

    def fitting(self, d: int) -> int:
        """Return k. Raises InputError if it does not fit the dimension."""
        if self.k > d:
            raise InputError(f"{self.noun} of the {self.kind}", self.k, f"at most the dimension {d}")
        return self.k


@set_kind("k_support_ball", "k")
@dataclass(frozen=True)
class KSupportBall(_Sized):
    """R times the convex hull of the k-sparse unit vectors: the l1 ball for k = 1, the l2 ball for k = d."""

    kind = "k_support_ball"

    def norm(self, x: Array) -> Array:
        return k_support_norm(x, self.fitting(x.shape[-1]))

    def project(self, x: Array) -> Array:
        return project_k_support(x, self.fitting(x.shape[-1]), self.radius)

    def support(self, z: Array) -> Array:
        xp, d = array_namespace(z), z.shape[-1]
        return self.radius * l2_norm(xp.sort(xp.abs(z), axis=-1)[..., d - self.fitting(d) :])

    def minimise_linear(self, g: Array) -> Array:
        xp = array_namespace(g)
        kept = xp.where(k_largest(g, self.fitting(g.shape[-1])), g / nonzero(largest(g)), xp.zeros_like(g))
        return -self.radius * kept / nonzero(l2_norm(kept))

    def inradius(self, d: int) -> float:
        return self.radius * (self.fitting(d) / d) ** 0.5

    def width(self, d: int) -> float:
        k = self.fitting(d)
        if k in (1, d):
            return self.radius * (mean_length(d) if k == d else mean_largest(d))
        return self.radius * simulated_width(KSupportBall(k, 1.0), d)


@set_kind("group_ball", "b")
@dataclass(frozen=True)
class GroupBall(_Sized):
    """``sum_g ||w_g||_2 <= R`` over the blocks of k consecutive coordinates; k >= 1 divides the dimension."""

    kind, noun = "group_ball", "block size"

    def norm(self, x: Array) -> Array:
        return l1_norm(self._lengths(x))

    def project(self, x: Array) -> Array:
        lengths = self._lengths(x)
        return self._scaled(x, project_l1(lengths, self.radius) / nonzero(lengths))

    def support(self, z: Array) -> Array:
        return self.radius * largest(self._lengths(z))

    def minimise_linear(self, g: Array) -> Array:
        xp = array_namespace(g)
        g = g / nonzero(largest(g))
        lengths = self._lengths(g)
        weights = xp.where(first_largest(lengths), -self.radius / nonzero(lengths), xp.zeros_like(lengths))
        return self._scaled(g, weights)

    def inradius(self, d: int) -> float:
        """``R sqrt(k/d)``, reached where all blocks have the same norm."""
        return self.radius * (d // self.fitting(d)) ** -0.5

    def width(self, d: int) -> float:
        return self.radius * mean_longest_block(d // self.fitting(d), self.k)

    def fitting(self, d: int) -> int:
        if d % self.k:
            raise InputError("block size of the group_ball", self.k, f"a divisor of the dimension {d}")
        return self.k

    def _lengths(self, x: Array) -> Array:
        """Block norms ``(..., d/k)``."""
        blocks = (*x.shape[:-1], x.shape[-1] // self.fitting(x.shape[-1]), self.k)
        return l2_norm(array_namespace(x).reshape(x, blocks))[..., 0]

    def _scaled(self, x: Array, weights: Array) -> Array:
        """``x`` with every block times its weight ``(..., d/k)``."""
        xp = array_namespace(x)
        blocks = xp.reshape(x, (*weights.shape, self.k))
        return xp.reshape(blocks * xp.expand_dims(weights, axis=-1), x.shape)


@set_kind("subspace_ball", "k")
@dataclass(frozen=True)
class SubspaceBall(_Sized):
    """``||w||_2 <= R`` with ``w_j = 0`` from coordinate k >= 1 on."""

    kind = "subspace_ball"

    def norm(self, x: Array) -> Array:
        xp = array_namespace(x)
        length = l2_norm(x)
        return xp.where(largest(x - self._head(x)) > 0, xp.full_like(length, float("inf")), length)

    def project(self, x: Array) -> Array:
        return project_l2(self._head(x), self.radius)

    def support(self, z: Array) -> Array:
        return self.radius * l2_norm(self._head(z))

    def minimise_linear(self, g: Array) -> Array:
        head = self._head(g)
        head = head / nonzero(largest(head))
        return -self.radius * head / nonzero(l2_norm(head))

    def inradius(self, d: int) -> float:
        return self.radius if self.fitting(d) == d else 0.0

    def width(self, d: int) -> float:
        return self.radius * mean_length(self.fitting(d))

    def _head(self, x: Array) -> Array:
        """``x`` with zeros from coordinate k on."""
        xp, d = array_namespace(x), x.shape[-1]
        return xp.where(xp.arange(d) < self.fitting(d), x, xp.zeros_like(x))


def as_matrices(x: Array, columns: int) -> Array:
    """``x (..., d)`` as matrices ``(..., d/columns, columns)``. Raises InputError with fewer rows than columns."""
    return array_namespace(x).reshape(x, (*x.shape[:-1], matrix_rows(x.shape[-1], columns), columns))


def matrix_rows(d: int, columns: int) -> int:
    """``d1 = d/d2``, checked: a whole number >= d2."""
    if d % columns or d < columns**2:
        allowed = f"a multiple of the {columns} columns with at least as many rows as columns"
        raise InputError("d", d, allowed, "Gopi et al. 2022, Corollary 5")
    return d // columns


def singular_values(x: Array, columns: int) -> Array:
    """Singular values of ``x (..., d)``, decreasing, shape ``(..., columns)``."""
    linalg = array_namespace(x).linalg
    if hasattr(linalg, "svdvals"):
        return linalg.svdvals(as_matrices(x, columns))
    return linalg.svd(as_matrices(x, columns), compute_uv=False)


@dataclass(frozen=True)
class SchattenBall(FeasibleSet):
    """Matrices of Schatten-p norm at most R, p in [1, inf], with d2 columns and ``d1 = d/d2 >= d2`` rows."""

    p: float
    columns: int
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", checked_exponent(self.p))
        checked_count("columns of the schatten_ball", self.columns)
        self.check_radius()

    @property
    def name(self) -> str:
        return f"schatten_ball:{self.p!r}:{self.columns}"

    def norm(self, x: Array) -> Array:
        return lp_norm(singular_values(x, self.columns), self.p)

    def project(self, x: Array) -> Array:
        xp = array_namespace(x)
        projected = self._map(x, lambda values: project_lp(values, self.p, self.radius))
        return xp.where(self.norm(x) <= self.radius, x, projected)

    def support(self, z: Array) -> Array:
        return self.radius * lp_norm(singular_values(z, self.columns), dual_exponent(self.p))

    def minimise_linear(self, g: Array) -> Array:
        return self._map(g, lambda values: minimise_linear_lp(values, self.p, self.radius))

    def euclidean_diameter(self, d: int) -> float:
        matrix_rows(d, self.columns)
        return 2.0 * self.radius * max(1.0, self.columns ** (0.5 - 1.0 / self.p))

    def inradius(self, d: int) -> float:
        matrix_rows(d, self.columns)
        return self.radius * min(1.0, self.columns ** (0.5 - 1.0 / self.p))

    def width(self, d: int) -> float:
        return self.radius * simulated_width(SchattenBall(self.p, self.columns, 1.0), d)

    def _map(self, x: Array, change: Any) -> Array:
        """Map the singular values of the matrices ``x``; the result is flattened."""
        xp = array_namespace(x)
        left, values, right = xp.linalg.svd(as_matrices(x, self.columns), full_matrices=False)
        return xp.reshape(xp.matmul(left * change(values)[..., None, :], right), x.shape)


def read_parameters(text: str) -> tuple[float, int]:
    """``p:columns`` of a name."""
    p, _, columns = text.partition(":")
    return float(p), int(columns)


@set_kind("schatten_ball", "p:columns", read_parameters)
def schatten_ball(parameters: tuple[float, int], radius: float) -> SchattenBall:
    return SchattenBall(*parameters, radius)
