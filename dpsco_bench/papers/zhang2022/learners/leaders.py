"""Follow the regularised leader with AdaGrad-norm steps, in l2 and on l_p balls."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import dual_exponent, lp_norm, minimise_linear_lp
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


@learner("lp_ftrl")
class LpFtrl(Learner):
    """Leader with regulariser ``||w||_p^2/(2 eta_t)``, which is known in closed form, cut at the sphere.

    ``w = u min(eta_t ||th||_q, r)`` with ``th = sum g``, u the minimiser of ``<th, u>`` on the unit ball and
    ``eta_t = r sqrt(p-1)/sqrt(Q_t)``, ``Q_t = sum ||g||_q^2``. It starts at the centre of the ball.
    """

    summary = "leader on l_p balls, 1 < p <= 2, eta = r sqrt(p - 1)/sqrt(sum ||g||_q^2)"

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        self.w = 0.0 * setting.start
        self.q = dual_exponent(setting.norm)
        self.squares: Array = 0.0
        self.total: Array = 0.0

    @classmethod
    def check(cls, norm: float, k: float, strong_convexity: float) -> None:
        """Refuse p outside of 1 < p <= 2."""
        if not 1.0 < norm <= 2.0:
            raise InputError("norm", norm, "p in (1, 2] for the learner lp_ftrl", "erratum E13")

    def update(self, g: Array) -> None:
        p, r = self.setting.norm, self.setting.radius
        self.squares = self.squares + lp_norm(g, self.q) ** 2
        self.total = self.total + g
        length = (r * sqrt(p - 1.0)) * inverse_root(self.squares) * lp_norm(self.total, self.q)
        xp = array_namespace(length)
        self.w = minimise_linear_lp(self.total, p, 1.0) * xp.minimum(length, xp.full_like(length, r))

    def regret_bound(self) -> Array:
        """``(1/4 + 2 sqrt 2) D sqrt(Q_t)/sqrt(p - 1)``."""
        factor = (0.25 + 2.0 * sqrt(2.0)) / sqrt(self.setting.norm - 1.0)
        return factor * self.setting.diameter * self.squares**0.5
