"""Objectives of Wang, Ye, Xu 2017 whose regulariser has an l1 term, taken by its proximal map."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.papers.wang2017.problems.quadratics import SoftQuadraticPP
from dpsco_bench.problems.base import Data, Problem, StreamFactory, option
from dpsco_bench.problems.glm import RidgeLogistic, draw_sphere_logistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import problem

Array = Any
INFORMATIVE = 3
MOST_STEPS = 100_000
SETTLED = 1e-14
"""Largest move of a proximal step at the minimiser: its risk is then exact to ``move^2 L^2/mu``."""


class WithL1(Problem):
    """A problem with ``l1 ||x||_1`` added to its objective."""

    def optimal_risk(self, data: Data) -> float:
        return float(self.risk(self.minimiser(data)[None], data)[0])

    def risk(self, x: Array, data: Data) -> Array:
        xp = array_namespace(x)
        return super().risk(x, data) + self.l1 * xp.sum(xp.abs(x), axis=-1)


@problem
class ElasticNetLogistic(WithL1, RidgeLogistic):
    """``ridge_logistic`` with labels of three coordinates and regulariser ``(ridge/2) ||x||^2 + l1 ||x||_1``.

    The minimiser is zero in the other coordinates, from a thousand records on.
    """

    name = "elastic_net_logistic"
    summary = "logistic loss on the unit sphere with an l1 term and a ridge"
    source = "instance `elastic_net_logistic` for Wang, Ye, Xu 2017, Theorem 4.2 (ours)"
    least_dimension = INFORMATIVE
    l1: float = option(0.02, "weight of the l1 term of the regulariser", within="[0, inf)")

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """``n`` rows; record i depends on i alone."""
        return draw_sphere_logistic(n, self.dimension, streams, INFORMATIVE)

    def minimiser(self, data: Data) -> np.ndarray:
        """Proximal gradient steps of 1/L until they stand still; the contraction is at most ``1/(1 + mu/L)``."""
        objective = Objective(self, data, 1)
        x, step = objective.start, 1.0 / self.constants.smoothness
        for _ in range(MOST_STEPS):
            previous, x = x, objective.prox(x - step * self.mean_gradient(x, data), step)
            if np.abs(x - previous).max() <= SETTLED:
                return np.asarray(x[0])
        raise NumericalFailure(f"{self.name}: no minimiser after {MOST_STEPS} proximal steps")


@problem
class SoftLassoPP(WithL1, SoftQuadraticPP):
    """``soft_quadratic_pp`` plus ``l1 ||x||_1``, ``l1 = threshold h/sqrt(d)``, so that the family scales as that does.

    ``x*_j sqrt(d)`` is 1 for even j and 1/4 for odd j: at the default threshold of 1/2 every other coordinate of the
    minimiser is zero.
    """

    name = "soft_lasso_pp"
    summary = "family of quadratic oracles with an l1 term, matched to the schedule of DP-SVRG++ at each n"
    source = "instance `soft_lasso_pp` for Wang, Ye, Xu 2017, Theorem 4.4 (ours)"
    threshold: float = option(0.5, "soft threshold of the minimiser over the largest coordinate", within="[0, 1)")

    @property
    def l1(self) -> float:  # type: ignore[override]
        return float(self.threshold * self.spectrum[0] * self.dimension**-0.5)

    @property
    def optimum(self) -> np.ndarray:
        """Compute the optimum of the quadratic alone."""
        return np.where(np.arange(self.dimension) % 2, 0.25, 1.0) * self.dimension**-0.5

    def minimiser(self, data: Data) -> np.ndarray:
        """``max(x*_j - l1/h_j, 0)``, as all x*_j are positive."""
        return np.maximum(self.optimum - self.l1 / self.spectrum, 0.0)

    def excess_risk(self, x: Array, data: Data) -> Array:
        """Without a subtraction of risks: ``sum_j h_j (x_j - m_j)^2/2 + l1 |x_j| - s_j x_j``, s a subgradient at m."""
        xp = array_namespace(x)
        lowest, spectrum = self.minimiser(data), self.spectrum
        slope = xp.asarray(spectrum * (self.optimum - lowest), dtype=x.dtype)
        spectrum, lowest = (xp.asarray(own, dtype=x.dtype) for own in (spectrum, lowest))
        return xp.sum(0.5 * spectrum * (x - lowest) ** 2 + self.l1 * xp.abs(x) - slope * x, axis=-1)
