"""Generalised linear models of Wang, Ye, Xu 2017: logistic regression, and least squares of low rank."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait
from dpsco_bench.problems.families import InBall
from dpsco_bench.problems.glm import LeastSquares, Logistic, draw_sphere_logistic
from dpsco_bench.problems.registry import problem


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
        common: Options = dict(initial_gap=math.log(2.0))
        if self.ball is None:
            return Constants(1.0, 0.25, **common, initial_distance=distance)
        distance = min(distance, self.ball.radius)
        return Constants(
            1.0, 0.25, **common, initial_distance=distance, diameter=self.ball.diameter, domain=self.ball.name
        )

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """``n`` rows; record i depends on i alone."""
        return draw_sphere_logistic(n, self.dimension, streams)


Array = Any
RANK = 8


@problem
class Rank8LeastSquares(LeastSquares):
    """``a = U s`` with U orthonormal (d, 8), s uniform on the sphere, ``y = clip(<a, 0.5 U 1> + 0.1 N, -1, 1)``.

    L and mu are the extreme nonzero eigenvalues of ``A'A/n``, hence depend on the data; schedules and bounds use the
    rank 8 for the dimension.
    """

    name = "rank8_least_squares"
    summary = "least squares of rank 8 in dimension d, Polyak-Lojasiewicz without strong convexity"
    source = "instance `rank8_least_squares` for Wang, Ye, Xu 2017, Theorem 6.2"
    default_dimension = 32
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.POLYAK_LOJASIEWICZ, Trait.LIPSCHITZ})
    data_dependent_constants = True
    least_dimension = RANK

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal); L = mu = 1/8, the design's expected eigenvalues."""
        return Constants(
            1.0,
            1.0 / RANK,
            strong_convexity=1.0 / RANK,
            initial_gap=0.5,
            initial_distance=0.5 * RANK**0.5,
            status="nominal",
        )

    def constants_of(self, data: Data) -> Constants:
        """Constants with the extreme nonzero eigenvalues of ``A'A/n``."""
        values = np.linalg.eigvalsh(data.features.T @ data.features / data.n)[-min(RANK, data.n) :]
        realised = replace(self.own_constants, smoothness=float(values[-1]), strong_convexity=float(values[0]))
        return realised.override(**self._overrides)

    @property
    def effective_dimension(self) -> int:
        """Rank of the records."""
        return RANK

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Draw records in a subspace from its own stream, so that it does not depend on n's order."""
        gaussian = streams("subspace").normal(0, 1, 0, self.dimension, RANK)[0].astype(np.float64)
        basis, triangle = np.linalg.qr(gaussian)
        basis = basis * np.sign(np.diag(triangle))
        sphere = streams("features").normal(0, 1, 0, n, RANK)[0].astype(np.float64)
        rows = (sphere / np.linalg.norm(sphere, axis=1, keepdims=True)) @ basis.T
        noise = streams("labels").normal(0, 1, 0, n, 1)[0, :, 0].astype(np.float64)
        return Data(n, rows, np.clip(rows @ (0.5 * basis.sum(axis=1)) + 0.1 * noise, -1.0, 1.0))
