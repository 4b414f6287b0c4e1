"""Feasible sets around the origin by name: balls of l_p norms, whatever `SET_KINDS` has, and their Gaussian widths.

Nearly every problem has an l_p ball or the whole space. Others are found by their names, so that their code counts for
the results of those alone that have them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import (
    checked_exponent,
    dual_exponent,
    lp_norm,
    minimise_linear_lp,
    project_lp,
)
from dpsco_bench.registry import Registry

Array = Any

Make = TypeVar("Make", bound=Callable[..., Any])
SET_KINDS: Registry[SetKind] = Registry("feasible set", "sets", core="geometry")
DRAWS = 4000
"""Simulated widths are means of so many draws: a relative error of about ``1/(1.4 width sqrt(DRAWS))``."""
SEED = 20230101
BLOCK = 1 << 22
"""Numbers drawn at a time; the draws do not depend on it."""
EXPONENTS = {"l1_ball": 1.0, "l2_ball": 2.0, "linf_ball": math.inf}
"""Balls that have a name of their own."""


@dataclass(frozen=True)
class SetKind:
    """A kind of sets that a name with parameters selects.

    `usage` is the name with its parameters, as errors show it. `read` turns what stands behind the first colon into
    parameters, ValueError for what is none; ``make(parameters, radius)`` is the set.
    """

    usage: str
    read: Callable[[str], Any]
    make: Callable[[Any, float], Any]


def set_kind(name: str, parameters: str, read: Callable[[str], Any] = int) -> Callable[[Make], Make]:
    """Register a class or function of (parameters, radius) as a kind of sets (used as a decorator; see `SetKind`)."""

    def register(make: Make) -> Make:
        SET_KINDS.add(name, SetKind(f"{name}:{parameters}", read, make), make.__module__)
        return make

    return register


def integral(function: Callable[[float], float], ends: Sequence[float], absolute: float = 0.0) -> float:
    """Integral over pieces with increasing ends, to relative accuracy 1e-12 or a piece's absolute one."""
    from scipy.integrate import quad  # a tenth of a second that most runs can do without

    return float(sum(quad(function, *piece, epsabs=absolute, epsrel=1e-12, limit=200)[0] for piece in pairwise(ends)))


def mean_length(d: int) -> float:
    """``E ||b||_2`` of d standard normal variables."""
    if d >= 1000:  # the logarithms are large and their difference is not
        return math.sqrt(d) * (1 - 1 / (4 * d) + 1 / (32 * d**2) + 5 / (128 * d**3) - 21 / (2048 * d**4))
    return math.sqrt(2.0) * math.exp(math.lgamma(0.5 * (d + 1)) - math.lgamma(0.5 * d))


def mean_largest(d: int) -> float:
    """``E max_{j <= d} |b_j|`` of d standard normal variables."""
    return integral(lambda t: _above(t, d), (0.0, math.sqrt(2.0 * math.log(d + 1.0)), 40.0))


@lru_cache(maxsize=256)
def mean_largest_square(d: int) -> float:
    """``E max_{j <= d} b_j^2`` of d standard normal variables."""
    return integral(lambda t: 2.0 * t * _above(t, d), (0.0, math.sqrt(2.0 * math.log(d + 1.0)), 40.0))


def _above(t: float, d: int) -> float:
    """``P(max_{j <= d} |b_j| > t)``."""
    from scipy.special import log_ndtr

    return -math.expm1(d * math.log1p(-2.0 * math.exp(float(log_ndtr(-t))))) if t > 0 else 1.0


def mean_longest_block(count: int, size: int) -> float:
    """``E max_{i <= count} ||b_i||_2`` of standard normal vectors of ``size`` entries each."""
    from scipy.special import gammaincc

    def tail(t: float) -> float:
        """``P(max ||b_i|| > t)``."""
        above = float(gammaincc(0.5 * size, 0.5 * t * t))
        return -math.expm1(count * math.log1p(-above)) if above < 1.0 else 1.0

    typical = math.sqrt(size)
    below, middle = max(0.0, typical - 10.0), typical + math.sqrt(2.0 * math.log(count + 1.0))
    return below + integral(tail, (below, typical, middle, middle + 40.0), absolute=1e-14)


@lru_cache(maxsize=256)
def simulated_width(unit: FeasibleSet, d: int) -> float:
    """Mean of the support function of a set over `DRAWS` normal vectors, the same in every call."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    rows = max(1, BLOCK // d)
    total = 0.0
    for first in range(0, DRAWS, rows):
        total += float(np.sum(unit.support(rng.standard_normal((min(rows, DRAWS - first), d)))))
    return total / DRAWS


class FeasibleSet(Protocol):
    """A closed convex set symmetric about the origin: ``||x||_C <= radius``, R > 0, in a norm of its own."""

    radius: float

    @property
    def name(self) -> str:
        """Name that `feasible_set` reads."""

    @property
    def diameter(self) -> float:
        """``2 radius``, the diameter in the set's own norm."""
        return 2.0 * self.radius

    def check_radius(self) -> None:
        """Raise InputError unless the radius is finite and > 0."""
        if not 0.0 < self.radius < math.inf:
            raise InputError("radius", self.radius, "a finite number > 0")

    def norm(self, x: Array) -> Array:
        """Compute the set's own norm ``(..., 1)``: R times the gauge; infinite outside the span of the set."""

    def project(self, x: Array) -> Array:
        """Euclidean projection of ``x (..., d)``; points of the set are returned unchanged."""

    def support(self, z: Array) -> Array:
        """``sup_{w in C} <z, w>`` of ``z (..., d)``, shape ``(..., 1)``."""

    def minimise_linear(self, g: Array) -> Array:
        """Find a minimiser of ``<g, w>`` over C for ``g (..., d)``; where several coordinates tie, the lowest."""

    def euclidean_diameter(self, d: int) -> float:
        """Largest Euclidean distance of two of its points in d dimensions."""

    def inradius(self, d: int) -> float:
        """Least Euclidean distance of the boundary from the origin; 0 for a set without interior."""

    def width(self, d: int) -> float:
        """Gaussian width ``E sup_{w in C} <b, w>``."""


@dataclass(frozen=True)
class Ball(FeasibleSet):
    """The ball of an l_p norm around the origin, p in [1, inf], radius R > 0 in that norm."""

    p: float
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", checked_exponent(self.p))
        self.check_radius()

    @property
    def name(self) -> str:
        if self.p in EXPONENTS.values():
            return f"l{self.p:.0f}_ball"
        return f"lp_ball:{self.p!r}".removesuffix(".0")

    def norm(self, x: Array) -> Array:
        return lp_norm(x, self.p)

    def project(self, x: Array) -> Array:
        return project_lp(x, self.p, self.radius)

    def support(self, z: Array) -> Array:
        return self.radius * lp_norm(z, dual_exponent(self.p))

    def minimise_linear(self, g: Array) -> Array:
        return minimise_linear_lp(g, self.p, self.radius)

    def euclidean_diameter(self, d: int) -> float:
        return 2.0 * self.radius * max(1.0, d ** (0.5 - 1.0 / self.p))

    def inradius(self, d: int) -> float:
        return self.radius * min(1.0, d ** (0.5 - 1.0 / self.p))

    def width(self, d: int) -> float:
        if self.p == 1:
            return self.radius * mean_largest(d)
        if self.p == 2:
            return self.radius * mean_length(d)
        if math.isinf(self.p):
            return self.radius * d * math.sqrt(2.0 / math.pi)
        return self.radius * simulated_width(Ball(self.p, 1.0), d)


def feasible_set(name: str, radius: float) -> FeasibleSet:
    """Find a feasible set by name, with its radius in the set's own norm.

    Raises InputError for an unknown name, a parameter outside its range, or a radius outside its range. ``name`` is one
    of `set_names`, e.g. ``l1_ball``, ``lp_ball:1.5``, ``k_support_ball:16``; p is a number in [1, inf], k, b (the block
    size) and the number of columns integers. The l_p balls with p = 1 and p = 2 are those named ``l1_ball`` and
    ``l2_ball``.
    """
    kind, colon, parameter = name.partition(":")
    if name in EXPONENTS:
        return Ball(EXPONENTS[name], radius)
    found: SetKind | None = SetKind("lp_ball:p", float, Ball)
    if kind != "lp_ball":
        found = SET_KINDS.find(kind) if kind and colon else None
    try:
        value = found.read(parameter) if found and colon else None
    except ValueError:
        value = None
    if found is None or value is None:
        raise InputError("domain", name, "one of " + ", ".join(set_names()))
    return found.make(value, radius)


def set_names() -> list[str]:
    """Names that `feasible_set` reads, with their parameters."""
    kinds = (SET_KINDS.get(name) for name in SET_KINDS.names())
    return [*EXPONENTS, "lp_ball:p", *(kind.usage for kind in kinds)]


def set_module(name: str) -> str:
    """Find the module of a set by its domain's name; empty for l_p balls and unknown names."""
    kind, colon, _ = name.partition(":")
    return SET_KINDS.module(kind) if colon and kind not in (*EXPONENTS, "lp_ball", "polytope") else ""
