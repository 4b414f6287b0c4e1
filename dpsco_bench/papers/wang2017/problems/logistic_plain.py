"""Logistic regression on the unit sphere without a regulariser, on the whole space or on a ball."""

from __future__ import annotations

import math
from typing import Any

from dpsco_bench.problems.base import Constants, Data, StreamFactory
from dpsco_bench.problems.glm import Logistic, draw_sphere_logistic
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import InBall


@problem
class LogisticPlain(InBall, Logistic):
    """Rows uniform on the unit sphere, ``P(y=1) = sigmoid(<a, 2*ones>)``."""

    name = "logistic_plain"
    summary = "logistic loss on the unit sphere without regulariser"
    source = "instance `logistic_plain` for Wang, Ye, Xu 2017, Theorem 4.4"
    default_dimension = 8

    @property
    def own_constants(self) -> Constants:
        """G = 1, L = 1/4 (rows of norm 1); a-priori gap ln 2 and the distance of the labels' true parameter."""
        distance = 2.0 * math.sqrt(self.dimension)
        common: dict[str, Any] = dict(initial_gap=math.log(2.0))
        if self.ball is None:
            return Constants(1.0, 0.25, **common, initial_distance=distance)
        distance = min(distance, self.ball.radius)
        return Constants(
            1.0, 0.25, **common, initial_distance=distance, diameter=self.ball.diameter, domain=self.ball.name
        )

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """``n`` rows; record i depends on i alone."""
        return draw_sphere_logistic(n, self.dimension, streams)
