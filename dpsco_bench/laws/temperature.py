"""The density exp(-k (F + mu r)): regularisers r by norm, and k and mu as functions of the Gaussian-DP parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpsco_bench.errors import InputError, checked_count

FORMS = ("erm", "sco", "strongly_convex")
SOURCE = "Gopi, Lee, Liu, Shen, Tian 2022"


@dataclass(frozen=True)
class Regulariser:
    """``r(x) = coefficient ||x - x0||_q^2``, 1-strongly convex in the norm of the problem.

    Attributes
    ----------
    q : float
        Exponent of its norm.
    coefficient : float
        As above.
    theta : float
        ``max r - min r <= theta rad^2`` on points within ``rad`` of x0 in the norm of the problem.
    """

    q: float
    coefficient: float
    theta: float


def regulariser(p: float, dimension: int) -> Regulariser:
    """The regulariser of an l_p or Schatten-p norm.

    Parameters
    ----------
    p : float
        In [1, inf].
    dimension : int
        d; for matrices with ``d1 >= d2`` the smaller one, d2.

    Raises
    ------
    InputError
        For p < 1, or fewer than 3 dimensions at p = 1.

    References
    ----------
    Gopi, Lee, Liu, Shen, Tian 2022, Corollaries 2 to 5.
    """
    checked_count("d", dimension)
    if not p >= 1.0:
        raise InputError("p", p, "in [1, inf]", SOURCE)
    if p == 1.0:
        if dimension < 3:
            raise InputError("d", dimension, "an integer >= 3 at p = 1", SOURCE + ", Corollary 3")
        weight = 0.5 * math.e**2 * math.log(dimension)
        return Regulariser(1.0 + 1.0 / math.log(dimension), weight, weight)
    if p <= 2.0:
        return Regulariser(p, 0.5 / (p - 1.0), 0.5 / (p - 1.0))
    return Regulariser(2.0, 0.5, 0.5 * dimension ** (1.0 - 2.0 / p))


@dataclass(frozen=True)
class Temperature:
    """How k and mu follow from t: never from the data.

    Attributes
    ----------
    form : str
        ``erm`` (Theorem 3), ``sco`` (Theorem 4) or ``strongly_convex`` (Theorems 5 and 6).
    n, dimension : int
        Records; the ambient dimension.
    lipschitz : float
        G.
    difference : float
        S, Lipschitz constant of the difference of two losses as the schedule takes it.
    theta : float
        Theta of `erm` and `sco`.
    strong_convexity : float
        mu of `strongly_convex`.
    """

    form: str
    n: int
    dimension: int
    lipschitz: float
    difference: float
    theta: float = 0.0
    strong_convexity: float = 0.0

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise InputError("schedule", self.form, "one of " + ", ".join(FORMS), SOURCE)
        if not 0.0 < self.difference <= 2.0 * self.lipschitz:
            raise InputError("S", self.difference, "in (0, 2 G]", SOURCE)
        needed = "strong_convexity" if self.form == "strongly_convex" else "theta"
        if not 0.0 < getattr(self, needed) < math.inf:
            raise InputError(needed, getattr(self, needed), "a finite number > 0", SOURCE)

    def at(self, t: float) -> tuple[float, float]:
        """Temperature k and weight mu at a Gaussian-DP parameter t > 0; at infinity (no privacy) their limits."""
        reach = self.n * t / self.difference
        if self.form == "strongly_convex":
            return reach**2 * self.strong_convexity, self.strong_convexity
        if self.form == "erm":
            root = math.sqrt(self.dimension / self.theta)
            return reach * root, root / reach
        # k^2 = (d + C2)/C1 and mu = k/reach^2, with C1 = Theta/reach^2 and C2 = G n t^2/S; C2/t^2 as t grows
        squared = self.dimension / t**2 + self.lipschitz * self.n / self.difference
        root = math.sqrt(squared / self.theta)
        return reach * t * root, self.difference / self.n * root

    def at_scale(self, scale: float) -> tuple[float, float]:
        """`at` the t of a calibrated scale ``S/(G t)``; 0 stands for no privacy."""
        return self.at(math.inf if scale == 0.0 else self.difference / (self.lipschitz * scale))


def temperatures(schedule: Mapping[str, Any], scale: float) -> tuple[float, float]:
    """Temperature k and weight mu of a calibrated plan, whose schedule names the attributes of `Temperature`.

    Parameters
    ----------
    schedule : mapping
        Of the plan; further names are ignored.
    scale : float
        Of its only query.
    """
    names = Temperature.__dataclass_fields__
    return Temperature(**{name: schedule[name] for name in names if name in schedule}).at_scale(scale)
