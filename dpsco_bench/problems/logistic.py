"""Logistic regression: with a ridge on the unit sphere, and over a convex set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.certified import minimise_over_set
from dpsco_bench.problems.glm import Logistic, draw_sphere_logistic
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import InBall, OnUnitSet, on_unit_set


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


Array = Any


@problem
class LogisticGlm(OnUnitSet, Logistic):
    """Rows uniform on the unit sphere, labels ``sign(<a, 1> + 0.3 N(0, 1))``, over a unit set; L = 1, beta = 1/4."""

    name = "logistic_glm"
    summary = "logistic loss on the unit sphere over a unit set (l1, l2, k-support, group, subspace)"
    source = "instance `logistic_glm` for Su, Zhao, Wang 2023, Theorem 1"
    default_dimension = 20

    @property
    def own_constants(self) -> Constants:
        """L = 1, beta = 1/4, Hessians of rank 1."""
        return on_unit_set(self.set, 1.0, 0.25, hessian_rank=1.0, initial_distance=1.0)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """``n`` rows; record i depends on i alone."""
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        noise = streams("labels").normal(0, 1, 0, n, 1)[0, :, 0].astype(np.float64)
        return Data(n, rows, np.where(rows.sum(axis=1) + 0.3 * noise >= 0.0, 1.0, -1.0))

    def optimal_risk(self, data: Data) -> float:
        """Minimum over the set, by accelerated steps until the Frank-Wolfe gap is at rounding level."""
        point = minimise_over_set(self, data, self.set)
        return float(self.risk(point[None, :], data)[0])
