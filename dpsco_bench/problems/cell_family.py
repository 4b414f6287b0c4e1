"""Families whose objective is matched to a cell: a fixed signal decays faster than a bound and proves nothing."""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar

from dpsco_bench.geometry.ball import Ball
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.problems.base import Problem


class CellFamily(Problem):
    """A problem with one member per (n, epsilon, delta); before `at` is called, the member of ``reference``."""

    cell_dependent: ClassVar[bool] = True
    reference: ClassVar[tuple[int, float, float]] = (4096, 1.0, 1e-5)

    def prepare(self) -> None:
        super().prepare()
        self.count, self.epsilon, self.delta = self.reference

    @property
    def member(self) -> tuple[float, ...]:
        return self.count, self.epsilon, self.delta

    def at(self, n: int, epsilon: float, delta: float) -> Any:
        """The member of a cell."""
        member = copy.copy(self)
        member.count, member.epsilon, member.delta = n, epsilon, delta
        return member

    def signal_to_noise(self, width: float) -> float:
        """``n eps/(G sqrt(l width))`` with G = 1."""
        return self.count * self.epsilon / math.sqrt(-math.log(self.delta) * width)

    def mirror_descent_steps(self, ball: Ball, K: float) -> int:
        """T of Theorem 5.4 of Wang, Ye, Xu 2017 on a ball, with L = 1 and ``Lc = L diameter^2``."""
        geometry = ball_geometry(ball)
        B, W = geometry.bregman_radius(self.dimension), geometry.squared_width(self.dimension)
        return max(1, round(math.sqrt(K * ball.diameter**2 * math.sqrt(B) * self.signal_to_noise(W))))
