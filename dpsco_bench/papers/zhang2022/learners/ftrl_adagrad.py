"""Follow the regularised leader with AdaGrad-norm steps."""

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


@learner("ftrl_adagrad")
class FtrlAdagrad(Learner):
    """``w_{t+1} = P(c - eta_t sum_{i<=t} g_i)`` with ``eta_t = r/sqrt(Q_t)``, ``Q_t = sum_{i<=t} ||g_i||^2``."""

    summary = "leader with regulariser ||w - c||^2/(2 eta), eta = r/sqrt(sum ||g||^2)"

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.squares: Array = 0.0
        self.total: Array = 0.0

    def update(self, g: Array) -> None:
        self.squares = self.squares + squared_norm(g)
        self.total = self.total + g
        eta = self.setting.radius * inverse_root(self.squares)
        self.w = self.setting.project(self.setting.start - eta * self.total)

    def regret_bound(self) -> Array:
        """``(1/4 + 2 sqrt 2) D sqrt(Q_t)``, where c is the centre of the ball (see `LearnerSetting.leader_factor`)."""
        return (self.setting.leader_factor + 2.0 * sqrt(2.0)) * self.setting.diameter * self.squares**0.5
