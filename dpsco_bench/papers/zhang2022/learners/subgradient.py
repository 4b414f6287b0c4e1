"""Projected subgradient descent: with fixed steps, AdaGrad-norm steps, and for strongly convex losses."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.errors import InputError
from dpsco_bench.papers.zhang2022.learners.base import (
    Array,
    Learner,
    LearnerSetting,
    inverse_root,
    learner,
    squared_norm,
)


@learner("ogd_fixed")
class OgdFixed(Learner):
    """``w <- P(w - eta_t g_t)`` with ``eta_t = D/(G t^k sqrt t)``; it declares no regret bound."""

    summary = "projected gradient descent, steps D/(G t^k sqrt t): a control"

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.t = 0

    def update(self, g: Array) -> None:
        self.t += 1
        eta = self.setting.diameter / (self.setting.lipschitz * self.t ** (self.setting.k + 0.5))
        self.w = self.setting.project(self.w - eta * g)


@learner("ogd_adagrad")
class OgdAdagrad(Learner):
    """``w <- P(w - eta_t g_t)`` with ``eta_t = D/sqrt(2 Q_t)``, ``Q_t = sum_{i<=t} ||g_i||^2``."""

    summary = "projected gradient descent, steps D/sqrt(2 sum ||g||^2)"

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.squares: Array = 0.0
        self.size = setting.diameter / sqrt(2.0)

    def update(self, g: Array) -> None:
        self.squares = self.squares + squared_norm(g)
        self.w = self.setting.project(self.w - self.size * inverse_root(self.squares) * g)

    def regret_bound(self) -> Array:
        """``sqrt(2) D sqrt(Q_t)``."""
        return sqrt(2.0) * self.setting.diameter * self.squares**0.5


@learner("osd")
class Osd(Learner):
    """``w <- P(w - g_t/s_t)`` with ``s_t = sum_{i<=t} mu i^k/2``, on losses with the regulariser of Lemma 7.

    The regret is that of the ``(mu t^k/2)``-strongly convex losses whose subgradients it is given.
    """

    summary = "subgradient descent with steps 1/sum(mu t^k/2), for strongly convex losses"
    regulariser = "strongly_convex"

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.t, self.convexity = 0, 0.0
        self.bound: Array = 0.0

    @classmethod
    def check(cls, norm: float, k: float, strong_convexity: float) -> None:
        """Refuse other norms than l2, and ``mu <= 0``."""
        super().check(norm, k, strong_convexity)
        if not strong_convexity > 0:
            raise InputError("strong_convexity", strong_convexity, "a finite number > 0 for the learner osd", "Lemma 7")

    def update(self, g: Array) -> None:
        self.t += 1
        self.convexity += 0.5 * self.setting.strong_convexity * self.t**self.setting.k
        self.bound = self.bound + squared_norm(g) / (2.0 * self.convexity)
        self.w = self.setting.project(self.w - g / self.convexity)

    def regret_bound(self) -> Array:
        """``sum_{i<=t} ||g_i||^2/(2 s_i)``."""
        return self.bound
