"""Smooth norms close to the dual of an l_p norm: what shapes the noise and the mirror maps for 1 <= p <= 2."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.norms import dual_exponent

RULES = ("best", "q", "sec2", "two_ln_d")


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
