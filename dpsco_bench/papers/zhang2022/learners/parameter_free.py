"""A learner whose regret grows with the comparator's distance from the start: coin betting along a direction."""

from __future__ import annotations

from math import log

from dpsco_bench.backend.namespace import array_namespace, row_norm
from dpsco_bench.geometry.norms import nonzero
from dpsco_bench.papers.zhang2022.learners.base import (
    Array,
    Learner,
    LearnerSetting,
    inverse_root,
    learner,
    project_ball,
    squared_norm,
)

RATE = 2.0 / (2.0 - log(3.0))


@learner("parameter_free")
class ParameterFree(Learner):
    """Betting fractions by online Newton steps, directions by adaptive gradient descent on the unit ball.

    ``u = x_0 + v W y`` and ``w = P(u)``. Losses are divided by Lip and clipped to norm 1; where w differs from u, half
    of each loss pulls u back. No regret bound is declared.

    Attributes
    ----------
    clips : array (R, 1), how often a loss was clipped

    References
    ----------
    Cutkosky, Orabona 2018, with the reduction of constraints of Cutkosky 2018.
    """

    summary = "coin betting: regret in proportion to the distance of x* from the start"
    needs_loss_bound = True

    def __init__(self, setting: LearnerSetting) -> None:
        super().__init__(setting)
        row = 0.0 * setting.start[:, :1]
        self.fraction, self.wealth, self.curvature = row, row + setting.initial_wealth, row + 1.0
        self.direction, self.squares, self.clips = 0.0 * setting.start, row, row
        self.outside = 0.0 * setting.start

    def update(self, g: Array) -> None:
        """Settle the bet, then choose the next one."""
        g = self._pulled(self._clipped(g / self.setting.loss_bound))
        xp = array_namespace(g)
        gain = xp.sum(g * self.direction, axis=-1, keepdims=True)
        factor = 1.0 - gain * self.fraction
        slope = gain / factor
        self.wealth = self.wealth * factor
        self.curvature = self.curvature + slope * slope
        self.fraction = xp.clip(self.fraction - RATE * slope / self.curvature, -0.5, 0.5)
        self.squares = self.squares + squared_norm(g)
        self.direction = project_ball(self.direction - inverse_root(self.squares) * g, 1.0)
        free = self.setting.start + self.fraction * self.wealth * self.direction
        self.w = self.setting.project(free)
        self.outside = free - self.w

    def _clipped(self, g: Array) -> Array:
        """Clip to norm 1, and count."""
        xp, length = array_namespace(g), row_norm(g)
        self.clips = self.clips + xp.where(length > 1.0, xp.ones_like(length), xp.zeros_like(length))
        return g / xp.maximum(length, xp.ones_like(length))

    def _pulled(self, g: Array) -> Array:
        """Half of the loss, and as much towards the set where the free point is outside of it."""
        unit = self.outside / nonzero(row_norm(self.outside))
        return 0.5 * (g + row_norm(g) * unit)
