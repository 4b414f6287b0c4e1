"""Directions in a ball with a known population, and waves whose mean is linear although no record is convex."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.data import axes_first
from dpsco_bench.problems.directions import DirectionLosses
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.linear import ball_name, linear_constants
from dpsco_bench.problems.registry import problem

Array = Any


@problem
class LinearBall(DirectionLosses):
    """``f(x, z) = <z, x>`` over the unit l2 ball, ``z = s u + a Rad/sqrt(d)``; the excess is ``<s u, x> + s``.

    G = 1 (hence s <= 1 - a), H = 0, sigma_G = a.
    """

    name = "linear_ball"
    summary = "linear losses in a uniform direction on the unit l2 ball; population risk"
    source = "instance `linear_ball` for Zhang, Tran, Cutkosky 2022"
    default_dimension: ClassVar[int] = 8
    distance: float = 1.0

    @property
    def own_constants(self) -> Constants:
        known: Options = dict(initial_distance=self.distance, gradient_deviation=self.spread)
        return linear_constants("l2_ball", 2.0, self.curvature, **known)


@problem
class AnchoredBall(LinearBall):
    """``f(x, z) = <z, x> + (h/2) ||x||^2`` over the unit l2 ball, ``z = s u + a Rad/sqrt(d)``, started at the anchor.

    For s >= h the optimum is -u, and the anchor ``x_0 = -(1 - b) u`` is at distance b from it. G = 1 (hence
    s <= 1 - a - h), H = h, sigma_G = a, sigma_H = 0; the excess is ``<s u, x> + s + (h/2) (||x||^2 - 1)``.
    """

    name = "anchored_ball"
    summary = "slightly curved losses on the unit l2 ball, started near the optimum; population risk"
    source = "instance `anchored_ball` for Zhang, Tran, Cutkosky 2022, Theorem 11"
    unkeyed_options: ClassVar[tuple[str, ...]] = ("spread", "distance", "curvature")
    distance: float = option(0.25, "b: distance of the optimum from the anchor", within="(0, 1]")
    spread = option(0.25)
    curvature: float = option(1.0 / 64.0, "h", within="(0, inf)")

    def prepare(self) -> None:
        """Check that the optimum is on the sphere, and that G = 1."""
        if self.signal < self.curvature or self.spread + 2.0 * self.curvature >= 1.0:
            allowed = f"at least the curvature {self.curvature:g}, which is below (1 - a)/2"
            raise InputError("signal", self.signal, allowed)

    def starting_points(self, data: Any) -> np.ndarray:
        """``-(1 - b) u`` in every row."""
        return (self.distance - 1.0) * np.tile(data.directions, (len(self.strengths), 1))


@problem
class LpBallLinear(DirectionLosses):
    """``f(x, z) = <z, x>`` over the unit l_p ball, ``z = m + a Rad/sqrt(d)``, m a Gaussian direction, ``||m||_q = s``.

    G = 1 in l_q (hence s <= 1 - a), H = 0, sigma_G = a d^(1/q - 1/2); the excess is ``<m, x> + s``.
    """

    name = "lp_ball"
    summary = "linear losses in a Gaussian direction on the unit l_p ball; population risk"
    source = "instance `lp_ball` for Zhang, Tran, Cutkosky 2022"
    default_dimension: ClassVar[int] = 16
    p: float = option(1.5, "norm of the ball", within="(1, 2]")

    def prepare(self) -> None:
        """Directions have length 1 in l_q."""
        self.exponent = dual_exponent(self.p)

    @property
    def own_constants(self) -> Constants:
        distance = max(1.0, self.dimension ** (0.5 - 1.0 / self.p))
        deviation = self.spread * self.dimension ** (1.0 / dual_exponent(self.p) - 0.5)
        return linear_constants(ball_name(self.p), self.p, initial_distance=distance, gradient_deviation=deviation)

    def optimum(self, data: Any) -> np.ndarray:
        """Find the point of the ball at which ``<m, x>`` is least, in every row."""
        return feasible_set(self.own_constants.domain, 1.0).minimise_linear(data.means)


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
        wave = 1.0 - self.share
        start: Options = dict(initial_gap=self.share, initial_distance=1.0, gradient_deviation=wave / math.sqrt(2.0))
        return Constants(1.0, wave * self.frequency, **start, diameter=2.0, domain="l2_ball")

    def draw(self, n: int, streams: StreamFactory) -> Data:
        order = np.argsort(streams("phases").uniform(0, 1, 0, n, 1)[0, :, 0])
        return Data(n, np.tile(np.eye(1, self.dimension), (n, 1)), 2.0 * np.pi * order / n)

    def loss(self, margins: Array, labels: Array) -> Array:
        wave = array_namespace(margins).sin(self.frequency * margins + labels) / self.frequency
        return -self.share * margins + (1.0 - self.share) * wave

    def slope(self, margins: Array, labels: Array) -> Array:
        """Compute the slope, in [-1, 1 - 2 s]."""
        return (1.0 - self.share) * array_namespace(margins).cos(self.frequency * margins + labels) - self.share

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
