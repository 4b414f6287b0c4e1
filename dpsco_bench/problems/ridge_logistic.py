"""Ridge-regularised logistic regression on the unit sphere."""

from __future__ import annotations

from dataclasses import replace

from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.glm import Logistic, draw_sphere_logistic
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import InBall


@problem
class RidgeLogistic(InBall, Logistic):
    """Rows uniform on the unit sphere, ``P(y=1) = sigmoid(<a, 2*ones>)``, ``r = (ridge/2) ||x||^2``."""

    name = "ridge_logistic"
    summary = "logistic loss on the unit sphere with a ridge, 0.1 by default"
    source = "instance `ridge_logistic` for Wang, Ye, Xu 2017, Theorem 4.2"
    traits = Logistic.traits | {Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ}
    ridge: float = option(0.1, "lambda; the condition number is 1/(4 ridge)", within="(0, inf)")

    @property
    def own_constants(self) -> Constants:
        """G = 1, L = 1/4 (rows of norm 1), mu = lambda = ridge, a-priori gap 0.1."""
        free = Constants(1.0, 0.25, strong_convexity=self.ridge, regularisation=self.ridge, initial_gap=0.1)
        return free if self.ball is None else replace(free, diameter=self.ball.diameter, domain=self.ball.name)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """``n`` rows; record i depends on i alone."""
        return draw_sphere_logistic(n, self.dimension, streams)
