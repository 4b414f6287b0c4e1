"""Losses on a ball that are smooth and not convex, with a linear mean: privacy needs no more of them."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.data import axes_first
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import problem

Array = Any


@problem
class RippleBall(GeneralisedLinear):
    """``f(x, (a, y)) = -s m + (1 - s) sin(h m + y)/h``, ``m = <a, x>``, ``||a||_2 <= 1``, over the unit l2 ball.

    Drawn are ``a = e_1`` and equally spaced phases y in random order, whose waves cancel: the mean of n >= 2 records is
    ``-s x_1``. G = 1 whatever h is, H = (1 - s) h, sigma_G = (1 - s)/sqrt 2, and sigma_H is of the order of H.
    """

    name = "ripple_ball"
    summary = "smooth losses that are not convex, with a linear mean, on the unit l2 ball; empirical risk"
    source = "smooth losses without convexity for Zhang, Tran, Cutkosky 2022, sections 1 and 6"
    traits = frozenset({Trait.SMOOTH, Trait.LIPSCHITZ})
    default_dimension: ClassVar[int] = 8
    share: float = option(0.5, "s: of the slope that is linear", within="(0, 1)")
    frequency: float = option(4.0, "h", within="(0, inf)")

    @property
    def own_constants(self) -> Constants:
        """See the class."""
        wave = 1.0 - self.share
        return Constants(
            1.0,
            wave * self.frequency,
            initial_gap=self.share,
            initial_distance=1.0,
            diameter=2.0,
            gradient_deviation=wave / math.sqrt(2.0),
            domain="l2_ball",
        )

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Waves along one axis."""
        order = np.argsort(streams("phases").uniform(0, 1, 0, n, 1)[0, :, 0])
        return Data(n, np.tile(np.eye(1, self.dimension), (n, 1)), 2.0 * np.pi * order / n)

    def loss(self, margins: Array, labels: Array) -> Array:
        wave = array_namespace(margins).sin(self.frequency * margins + labels) / self.frequency
        return -self.share * margins + (1.0 - self.share) * wave

    def slope(self, margins: Array, labels: Array) -> Array:
        """Compute the slope, in [-1, 1 - 2 s]."""
        return (1.0 - self.share) * array_namespace(margins).cos(self.frequency * margins + labels) - self.share

    def curvature(self, margins: Array, labels: Array) -> Array:
        """Compute the curvature, of either sign, at most H in size."""
        wave = array_namespace(margins).sin(self.frequency * margins + labels)
        return -(1.0 - self.share) * self.frequency * wave

    def risk(self, x: Array, data: Data) -> Array:
        """``-s x_1``."""
        return -self.share * x[:, 0]

    def optimal_risk(self, data: Data) -> float:
        return -self.share

    def domain_records(self, count: int, seed: int) -> Data:
        """Rows on the unit sphere, opposite axis vectors first, with phases that make the wave steepest at 0."""
        rows = axes_first(np.random.default_rng(seed).standard_normal((count, self.dimension)))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Data(count, rows, np.full(count, np.pi))
