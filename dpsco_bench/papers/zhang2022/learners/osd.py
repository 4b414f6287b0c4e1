"""Online subgradient descent for strongly convex losses."""

from __future__ import annotations

from dpsco_bench.errors import InputError
from dpsco_bench.papers.zhang2022.learners.base import Array, Learner, LearnerSetting, learner, squared_norm


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
        """Only in l2, and with ``mu > 0``."""
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
