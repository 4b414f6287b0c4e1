"""Robust regression with the Geman-McClure loss: smooth, Lipschitz and not convex."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import problem

Array = Any
OUTLIERS = 0.2


@problem
class GemanMcClure(GeneralisedLinear):
    """``u^2/(1+u^2)`` of ``u = <a, x> - y``, rows uniform on the unit sphere.

    ``y = <a, ones> + 0.1 N``, with a further 3 N for an outlier, which every fifth record is on average.
    """

    name = "geman_mcclure"
    summary = "non-convex robust regression with outliers"
    source = "instance `geman_mcclure` for Wang, Ye, Xu 2017, Theorem 6.3"
    default_dimension = 8
    rows_fill_the_ball = True
    traits = frozenset({Trait.SMOOTH, Trait.LIPSCHITZ})
    data_dependent_constants = True

    @property
    def own_constants(self) -> Constants:
        """``G = 3 sqrt(3)/8`` and L = 2 for rows of norm 1; the gap of a loss below 1."""
        return Constants(3.0 * math.sqrt(3.0) / 8.0, 2.0, initial_gap=1.0)

    def constants_of(self, data: Data) -> Constants:
        """Constants with D0 = F(0), as the losses are not negative."""
        realised = float(self.risk(self.start[None], data)[0])
        return replace(self.own_constants, initial_gap=realised).override(**self._overrides)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """``n`` rows; record i depends on i alone."""
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        noise, shift = streams("labels").normal(0, 1, 0, n, 2)[0].astype(np.float64).T
        outlier = streams("outliers").uniform(0, 1, 0, n, 1)[0, :, 0] < OUTLIERS
        return Data(n, rows, rows.sum(axis=1) + 0.1 * noise + np.where(outlier, 3.0 * shift, 0.0))

    def loss(self, margins: Array, labels: Array) -> Array:
        square = (margins - labels) ** 2
        return square / (1.0 + square)

    def slope(self, margins: Array, labels: Array) -> Array:
        u = margins - labels
        return 2.0 * u / (1.0 + u * u) ** 2

    def curvature(self, margins: Array, labels: Array) -> Array:
        square = (margins - labels) ** 2
        return (2.0 - 6.0 * square) / (1.0 + square) ** 3

    def domain_records(self, count: int, seed: int) -> Data:
        """Rows on the unit sphere; labels at which the loss is steepest for small and for distant iterates."""
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((count, self.dimension))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        steepest = np.where(np.arange(count) % 2 == 0, 1.0, -1.0) / math.sqrt(3.0)
        return Data(count, rows, steepest)
