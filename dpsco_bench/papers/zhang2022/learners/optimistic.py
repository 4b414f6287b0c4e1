"""Optimistic learners with adaptive steps: the regularised leader, and mirror descent."""

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


@learner("optimistic_ftrl")
class OptimisticFtrl(Learner):
    """``w_{t+1} = P(c - eta_t (sum_{i<=t} g_i + h_{t+1}))``, ``eta_t = r/sqrt(E_t)``, ``E_t = sum ||g_i - h_i||^2``."""

    summary = "leader that counts the hint as a loss, eta = r/sqrt(sum ||g - h||^2)"

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.errors: Array = 0.0 * setting.start[:, :1]
        self.total: Array = 0.0 * setting.start
        self.expected: Array | None = None

    def predict(self) -> Array:
        """Predict the leader as if the hint were the next loss."""
        eta = self.setting.radius * inverse_root(self.errors)
        expected = self.total if self.expected is None else self.total + self.expected
        return self.setting.project(self.setting.start - eta * expected)

    def update(self, g: Array) -> None:
        """Count the loss and the error of the hint."""
        self.errors = self.errors + squared_norm(g if self.expected is None else g - self.expected)
        self.total = self.total + g
        self.expected = None

    def hint(self, h: Array) -> None:
        """Keep it for the next prediction."""
        self.expected = h

    def regret_bound(self) -> Array:
        """``(1/4 + 2 sqrt 2) D sqrt(E_t)``, where c is the centre of the ball (see `LearnerSetting.leader_factor`)."""
        return (self.setting.leader_factor + 2.0 * sqrt(2.0)) * self.setting.diameter * self.errors**0.5


@learner("optimistic_omd")
class OptimisticOmd(Learner):
    """``w_t = P(y_t - eta_t h_t)``, ``y_{t+1} = P(y_t - eta_t g_t)`` with ``eta_t = D/sqrt(E_{t-1})``.

    ``E_t = sum_{i<=t} ||g_i - h_i||^2``. The first step is infinite: y_2 is the point of the ball opposite g_1.
    """

    summary = "optimistic mirror descent, steps D/sqrt(sum ||g - h||^2) of the rounds before"

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.y = setting.start
        self.errors: Array = 0.0 * setting.start[:, :1]
        self.expected: Array | None = None

    def predict(self) -> Array:
        """Predict as if the hint were the next loss."""
        if self.expected is None:
            return self.y
        return self.setting.project(self.y - self._eta() * self.expected)

    def update(self, g: Array) -> None:
        eta = self._eta()
        self.errors = self.errors + squared_norm(g if self.expected is None else g - self.expected)
        self.y = self.setting.project(self.y - eta * g)
        self.expected = None

    def hint(self, h: Array) -> None:
        """Keep it for the next prediction."""
        self.expected = h

    def _eta(self) -> Array:
        return self.setting.diameter * inverse_root(self.errors)

    def regret_bound(self) -> Array:
        """``(1/2 + 2 sqrt 2) D sqrt(E_t)``."""
        return (0.5 + 2.0 * sqrt(2.0)) * self.setting.diameter * self.errors**0.5
