"""Projected gradient descent with steps tuned to a known G: a control that adapts to nothing."""

from __future__ import annotations

from dpsco_bench.papers.zhang2022.learners.base import Array, Learner, LearnerSetting, learner


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
