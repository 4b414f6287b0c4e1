"""Explicit bounds of Zhang, Tran, Cutkosky 2022 as functions of the constants that they name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, log, log2, sqrt
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError


@dataclass(frozen=True)
class Terms:
    """Constants of one cell and the terms that the theorems make of them.

    Source: Zhang, Tran, Cutkosky 2022, (4), (7), Theorems 4, 6, 8; erratum E6 for `log_factor`.

    Attributes
    ----------
    k : float, power of the weights, >= 1
    G, H, D : float, Lipschitz and smoothness constants, diameter of the set in its norm
    lam : float, modulus of the squared norm: 2 for l2, ``2 (p - 1)`` for l_p
    """

    n: int
    k: float = 1.0
    G: float = 1.0
    H: float = 0.0
    D: float = 2.0
    lam: float = 2.0
    V: float = 1.0
    rho: float = inf
    sigma_g: float = 0.0
    sigma_h: float = 0.0
    mu: float = 0.0

    @property
    def levels(self) -> float:
        """``L2 = log2(2n)``."""
        return log2(2 * self.n)

    @property
    def deviation(self) -> float:
        """``sigma_G + D sigma_H``."""
        return self.sigma_g + self.D * self.sigma_h

    @property
    def steepness(self) -> float:
        """``G + D H``."""
        return self.G + self.D * self.H

    @property
    def private(self) -> float:
        """``2 V ((G + D H) L2/rho)^2``, which all private terms have in common."""
        return 2.0 * self.V * (self.steepness * self.levels / self.rho) ** 2

    @property
    def log_factor(self) -> float:
        """F: ``1 + ln n`` for k = 1, 1 for k >= 2; what ``sum t^(k-2)`` is at most, over ``n^(k-1)``."""
        if 1.0 < self.k < 2.0:
            raise InputError("k", self.k, "1, or at least 2", "Theorem 8, erratum E6")
        return 1.0 + log(self.n) if self.k == 1 else 1.0

    def statistical_error(self, t: float) -> float:
        """(4): bound on ``E ||beta_t grad L(x_t) - g_t||_*^2``."""
        k = self.k
        return 4.0 * (k + 1) ** 2 * (self.sigma_g**2 + (self.D * self.sigma_h) ** 2) * t ** (2 * k - 1) / self.lam

    def noise(self, t: float) -> float:
        """(7): bound on ``E ||gamma_t||_*^2``."""
        return 4.0 * (self.k + 1) ** 2 * self.private * t ** (2 * self.k - 2) / self.lam

    def moment(self, t: Any) -> Any:
        """Bound on ``E ||g_t + gamma_t||_*^2`` beside Theorem 4."""
        inner = self.deviation**2 / t + self.private / t**2
        return 3.0 * t ** (2 * self.k) * (self.G**2 + 4.0 * (self.k + 1) ** 2 / self.lam * inner)

    def regularised_moment(self, t: Any) -> Any:
        """Bound on ``E ||gbar_t||_*^2`` in Theorem 8."""
        inner = self.deviation**2 / t + self.private / t**2
        fixed = 4.0 * self.G**2 + (self.mu * self.D) ** 2
        return t ** (2 * self.k) * (fixed + 16.0 * (self.k + 1) ** 2 / self.lam * inner)

    @cached_property
    def rounds(self) -> np.ndarray:
        return np.arange(1.0, self.n + 1.0)

    def per_weight(self, regret: float) -> float:
        """``(k + 1) Reg/n^(k+1)``."""
        return (self.k + 1.0) * regret / float(self.n) ** (self.k + 1.0)

    @property
    def thm4_statistical(self) -> float:
        return 2.0 * (self.k + 1) ** 2 * self.D * self.deviation / sqrt(self.lam * self.n)

    @property
    def thm4_private(self) -> float:
        """The private term in Theorem 4."""
        return 2.0 * (self.k + 1) ** 2 * self.D * sqrt(self.private / self.lam) / self.n

    def thm4(self, regret: float) -> float:
        return self.per_weight(regret) + self.thm4_statistical + self.thm4_private

    @property
    def thm6(self) -> float:
        """Theorem 6's bound on ``E Reg/bsum_n``, up to the learner's constant."""
        inner = 1.0 + 4.0 * sqrt(self.V / self.lam) * self.levels / self.rho
        return sqrt(3.0) * (self.k + 1) ** 2 * self.D * self.steepness * inner / self.n**1.5

    def thm6_regret(self, constant: float) -> float:
        """The regret behind Theorem 6, for a learner whose regret is ``constant D sqrt(E_n)``: before the division."""
        return constant * self.thm6 * float(self.n) ** (self.k + 1.0) / (self.k + 1.0)

    def adaptive_regret(self, constant: float) -> float:
        """A-priori ``E Reg`` of a learner whose regret is ``constant D sqrt(Q_n)``, by Jensen and the moment bound."""
        return constant * self.D * sqrt(float(np.sum(self.moment(self.rounds))))

    @property
    def strongly_convex_regret(self) -> float:
        """A-priori ``E Reg`` of online subgradient descent: ``sum_t E ||gbar_t||^2/(2 s_t)``."""
        s = 0.5 * self.mu * np.cumsum(self.rounds**self.k)
        return float(np.sum(self.regularised_moment(self.rounds) / (2.0 * s)))

    @property
    def thm8_statistical(self) -> float:
        return 16.0 * (self.k + 1) ** 3 / (self.lam * self.mu) * self.deviation**2 / self.n

    @property
    def thm8_private(self) -> float:
        """The private term in Theorem 8, with F (erratum E6)."""
        return 16.0 * (self.k + 1) ** 3 / (self.lam * self.mu) * self.log_factor * self.private / self.n**2

    def thm8(self, regret: float) -> float:
        """Theorem 8 with an expected regret of the regularised losses."""
        return self.per_weight(regret) + self.thm8_statistical + self.thm8_private
