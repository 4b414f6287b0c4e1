"""A worst case for privacy of strongly convex records: quadratics about the centre of a ball, and one canary."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.problems.base import Constants, Data, Problem, StreamFactory, Trait
from dpsco_bench.problems.data import axes_first
from dpsco_bench.problems.registry import problem

Array = Any


@problem
class CanaryQuadratic(Problem):
    """``f(x, s) = ||x - s||_2^2/2`` on the unit l2 ball, ``s = e_1`` for record 0 and the centre for all others.

    An audit compares it with the data set whose record 0 is ``-e_1``: gradients differ by 2 = S everywhere.
    """

    name = "canary_quadratic"
    summary = (
        "quadratic losses with a single record off the centre of the unit l2 ball, a worst case for privacy audits"
    )
    source = "this package's worst case for privacy audits of strongly convex records"
    default_dimension = 3
    has_loss_values: ClassVar[bool] = True
    isotropic_curvature = 1.0
    traits = frozenset(
        {
            Trait.CONVEX,
            Trait.SMOOTH,
            Trait.LIPSCHITZ,
            Trait.STRONGLY_CONVEX,
            Trait.POLYAK_LOJASIEWICZ,
            Trait.TWICE_DIFFERENTIABLE,
            Trait.COMMON_HESSIAN,
            Trait.PLANE_GRADIENTS,
        }
    )

    @property
    def own_constants(self) -> Constants:
        """G = 2 and S = 2: the records fill the ball, whose gauge is the norm."""
        return Constants(
            2.0,
            1.0,
            strong_convexity=1.0,
            initial_gap=2.0,
            initial_distance=1.0,
            diameter=2.0,
            gauge_convexity=1.0,
            gradient_range=2.0,
            loss_range=2.0,
            hessian_rank=0.0,
            domain="l2_ball",
            losses="quadratic",
        )

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Build the canary, then ``n - 1`` records at the centre: nothing is random."""
        rows = np.zeros((n, self.dimension))
        rows[0, 0] = 1.0
        return Data(n, rows, np.zeros(n))

    def mean_gradient(self, x: Array, data: Data) -> Array:
        return x - array_namespace(x).mean(data.features, axis=0)

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        xp = array_namespace(x)
        return xp.sum((x[:, None, :] - batch.features) * weights[:, :, None], axis=1)

    def batch_losses(self, x: Array, data: Data, indices: Array) -> Array:
        xp = array_namespace(x)
        return 0.5 * xp.sum((x[:, None, :] - self.gather(data, indices).features) ** 2, axis=-1)

    def risk(self, x: Array, data: Data) -> Array:
        """``||x - s||^2/2`` about the mean record, and the records' spread."""
        xp = array_namespace(x)
        mean, square = xp.mean(data.features, axis=0), xp.mean(xp.sum(data.features**2, axis=-1))
        return 0.5 * (xp.sum(x * x, axis=-1) - 2.0 * xp.sum(x * mean, axis=-1) + square)

    def optimal_risk(self, data: Data) -> float:
        """At the mean record, which the ball contains."""
        mean = np.mean(np.asarray(data.features), axis=0)
        return 0.5 * float(np.mean(np.sum((mean - data.features) ** 2, axis=-1)))

    def domain_records(self, count: int, seed: int) -> Data:
        """Axis vectors of both signs first, then random directions, all on the sphere."""
        rows = axes_first(np.random.default_rng(seed).standard_normal((count, self.dimension)), in_pairs=True)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Data(count, rows, np.zeros(count))
