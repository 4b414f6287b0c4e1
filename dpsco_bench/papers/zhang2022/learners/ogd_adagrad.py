"""Projected gradient descent with AdaGrad-norm steps."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.papers.zhang2022.learners.base import (
    Array,
    Learner,
    LearnerSetting,
    inverse_root,
    learner,
    squared_norm,
)


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
