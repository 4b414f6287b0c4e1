"""Quadratic and linear oracles of Wang, Ye, Xu 2017: all records equal, so that only the noise makes the risk random.

G = 1 is declared everywhere: true where the ball proves it, else nominal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.geometry.ball import Ball, FeasibleSet, feasible_set
from dpsco_bench.geometry.mirror import L1Geometry, ball_geometry
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.plain import Schedule
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.constants import CURVED, STRONG
from dpsco_bench.problems.data import opposite
from dpsco_bench.problems.families import CellFamily, InBall
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.linear import LinearOracle
from dpsco_bench.problems.quadratic import DiagonalOracle
from dpsco_bench.problems.registry import problem

L1_BALL, L2_BALL = Ball(1.0, 1.0), Ball(2.0, 1.0)
BALLS = (L1_BALL.name, L2_BALL.name)
FACE = 8
SUPPORT = 16
INNER_STEPS = 4
CURVATURE = 120.0
"""h T: stiff enough for the steps to forget the start, soft enough for the noise to stay."""
CURVATURES = (15.0, 30.0)
"""Ends of h T: much softer directions keep a bias, in much stiffer ones the steps damp their noise."""
Array = Any


def geometric_spectrum(d: int) -> np.ndarray:
    """``2^-(j mod 16)`` for j = 0..d-1: sixteen scales, shape ``(d,)``."""
    return 2.0 ** -(np.arange(d) % 16).astype(np.float64)


class Oracle(DiagonalOracle):
    """An oracle with L = 1, curvature 1 in all directions unless it says otherwise, and the exact gap and distance."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    modulus: ClassVar[float] = 0.0
    ball: Any = None

    @property
    def spectrum(self) -> np.ndarray:
        return np.ones(self.dimension)

    @property
    def own_constants(self) -> Constants:
        return self.declared(self.ball, self.modulus)


class FlatOptimum(Oracle):
    """The minimiser is ``signal ones/sqrt(d)``; the start is the origin."""

    signal: float = 1.0

    @property
    def optimum(self) -> np.ndarray:
        return np.full(self.dimension, self.signal * self.dimension**-0.5)


class MirrorDescentFamily(CellFamily):
    """A family that is matched to accelerated mirror descent with L = 1 on its ball."""

    ball: Any

    def mirror_descent_steps(self, K: float) -> int:
        """T of Theorem 5.4 of Wang, Ye, Xu 2017, with L = 1 and ``Lc = L diameter^2``."""
        geometry = ball_geometry(self.ball)
        B, W = geometry.bregman_radius(self.dimension), geometry.squared_width(self.dimension)
        return max(1, round(math.sqrt(K * self.ball.diameter**2 * math.sqrt(B) * self.signal_to_noise(W))))


@problem
class FaceQuadratic(Oracle):
    """``F(x) = (1/2) ||x - x*||^2`` over the unit l1 ball, ``x* = 1/8`` on the first 8 coordinates.

    G = 1 is declared in the maximum norm too.
    """

    name = "face_quadratic"
    summary = "quadratic oracle over the l1 ball, minimiser on a face with 8 vertices"
    source = "instance `face_quadratic` for row [29] of Wang, Ye, Xu 2017, Table 3"
    default_dimension = 64
    least_dimension = FACE
    traits = DiagonalOracle.traits
    ball = L1_BALL
    modulus = 1.0

    @property
    def optimum(self) -> np.ndarray:
        return np.where(np.arange(self.dimension) < FACE, 1.0 / FACE, 0.0)


@problem
class GeometricQuadratic(InBall, FlatOptimum):
    """``h_j = 2^-(j mod 16)``, minimiser ``ones/sqrt(d)``; its strong convexity of 2^-15 is not declared."""

    name = "geometric_quadratic"
    summary = "quadratic oracle with curvatures 1, 1/2, ..., 2^-15"
    source = "instance `geometric_quadratic` for Wang, Ye, Xu 2017, Theorem 4.4"
    default_dimension = 64  # each curvature four times

    @property
    def spectrum(self) -> np.ndarray:
        return geometric_spectrum(self.dimension)


@problem
class L1Geometric(Oracle):
    """``h_j = 2^-(j mod 16)``; the minimiser has norm 0.9 R and sixteen equal coordinates."""

    name = "l1_geometric"
    summary = "quadratic oracle with curvatures 1, ..., 2^-15 and a sparse minimiser on the l1 or l2 ball"
    source = "instance `l1_geometric` for Wang, Ye, Xu 2017, Theorem 5.4"
    default_dimension = 64
    least_dimension = SUPPORT
    ball_name: str = option("l1_ball", "norm of the ball", choices=BALLS, key="ball")
    radius: float = option(1.0, "of the ball", within="(0, inf)")

    @cached_property
    def ball(self) -> FeasibleSet:
        return feasible_set(self.ball_name, self.radius)

    @property
    def spectrum(self) -> np.ndarray:
        return geometric_spectrum(self.dimension)

    @property
    def optimum(self) -> np.ndarray:
        """``0.9 R/16`` (l1) or ``0.9 R/4`` (l2) on the first sixteen coordinates."""
        share = SUPPORT if self.ball.name == "l1_ball" else SUPPORT**0.5
        return np.where(np.arange(self.dimension) < SUPPORT, 0.9 * self.ball.radius / share, 0.0)


@problem
class IsotropicQuadratic(FlatOptimum):
    """``h = 1``, start at distance 1 from the minimiser ``ones/sqrt(d)``: mu = 1, D0 = 1/2."""

    name = "isotropic_quadratic"
    summary = "isotropic quadratic oracle; closed form for gradient norms"
    source = "instance `isotropic_quadratic` for Wang, Ye, Xu 2017, Theorem 6.3"
    default_dimension = 16
    traits = DiagonalOracle.traits
    modulus = 1.0


@problem
class OpSpectrum(Oracle):
    """``h_j = 2^-j``, ``j = 0..d-1``: convex for practical purposes; the minimiser is the origin."""

    name = "op_spectrum"
    summary = "quadratic oracle with a geometric spectrum; closed form for output perturbation"
    source = "instance `op_spectrum` for row [34] of Wang, Ye, Xu 2017, Table 2"
    default_dimension = 24

    @property
    def spectrum(self) -> np.ndarray:
        return 0.5 ** np.arange(self.dimension)

    @property
    def start(self) -> np.ndarray:
        """``ones/sqrt(d)``, at distance 1 from the minimiser."""
        return np.full(self.dimension, self.dimension**-0.5)

    def expected_gap(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """``(1/2) sum_j h_j [(1 - eta h_j)^(2T)/d + sd^2]`` for output perturbation after T exact gradient steps."""
        if algorithm != "wang2017.output_perturbation_zhang17":
            return super().expected_gap(algorithm, schedule, scales)
        decay = (1.0 - schedule["step"] * self.spectrum) ** (2 * schedule["steps"])
        return 0.5 * float(np.sum(self.spectrum * (decay * self.start**2 + scales["output"] ** 2)))


@problem
class SgdClosedForm(FlatOptimum):
    """``F(x) = (mu/2) ||x - x*||^2`` with the minimiser at distance 1 from the start; L = mu."""

    name = "sgd_closed_form"
    summary = "isotropic quadratic oracle; closed form for noisy SGD with steps 1/(mu t)"
    source = "instance `sgd_closed_form` for row [6] of Wang, Ye, Xu 2017, Table 1"
    default_dimension = 8
    traits = DiagonalOracle.traits
    curvature: float = option(1.0, "mu", within="(0, inf)")

    @property
    def spectrum(self) -> np.ndarray:
        return np.full(self.dimension, self.curvature)

    @property
    def own_constants(self) -> Constants:
        return replace(self.declared(), smoothness=self.curvature, strong_convexity=self.curvature)

    def expected_gap(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """Exact expected excess risk of noisy SGD, last of T iterates: ``d sigma^2 / (2 mu T)``.

        The first step forgets the start and the iterates are averages of the noise: ``x_T = x* - mean(b_1..b_T)/mu``.
        """
        if algorithm != "wang2017.noisy_sgd_bst14":
            return super().expected_gap(algorithm, schedule, scales)
        return self.dimension * scales["gradient"] ** 2 / (2.0 * self.curvature * schedule["steps"])


@problem
class SoftQuadraticL2(MirrorDescentFamily, FlatOptimum):
    """``h = min(1, 4 Lc/T^2)`` in every direction, Lc = 4, with the T of Theorem 5.4 (K = sqrt(48)) at the cell.

    G = 1 holds on the ball where ``h (1 + signal) <= 1``.
    """

    name = "soft_quadratic_l2"
    summary = "family of quadratic oracles on the unit l2 ball matched to the schedule of DP-AccMD at each n"
    source = "instance `soft_quadratic_l2` for Wang, Ye, Xu 2017, Theorem 5.4"
    default_dimension = 64
    ball = L2_BALL
    signal = option(0.5, "norm of the minimiser, in the unit ball", within="(0, 1]")

    @property
    def spectrum(self) -> np.ndarray:
        T = self.mirror_descent_steps(math.sqrt(48.0))
        return np.full(self.dimension, min(1.0, 4 * self.ball.diameter**2 / T**2))


@problem
class SoftQuadraticPP(CellFamily, FlatOptimum):
    """``h = 1/(eta 2^T m)`` in every direction, with eta = 1/13, m = 4 and the T of Theorem 4.4 at the cell.

    The minimiser is ``ones/sqrt(d)``. The initial gap ``h/2`` shrinks with n, so that a slope of -1 is nearly
    automatic; the ratio of the final gap to it says more.
    """

    name = "soft_quadratic_pp"
    summary = "family of quadratic oracles matched to the schedule of DP-SVRG++ at each n"
    source = "instance `soft_quadratic_pp` for Wang, Ye, Xu 2017, Theorem 4.4"
    default_dimension = 8

    @property
    def epochs(self) -> int:
        """T of Theorem 4.4: ``log2(n eps/(G sqrt(d l)))``, rounded."""
        return max(1, round(math.log2(self.signal_to_noise(self.dimension))))

    @property
    def spectrum(self) -> np.ndarray:
        return np.full(self.dimension, min(1.0, 13.0 / (2**self.epochs * INNER_STEPS)))


@problem
class ResolvedQuadraticL1(MirrorDescentFamily, Oracle):
    """``h = min(1, 120/T)`` in every direction, with the printed T of Theorem 5.4 (K = 1) at the cell.

    The minimiser has sixteen coordinates of ``signal/16``: close to the centre, so that it is of the size of the noise.
    G = 1 holds on the ball where ``h (1 + ||x*||)`` is at most 1.
    """

    name = "resolved_quadratic_l1"
    summary = "family of quadratic oracles on the unit l1 ball in which the noise of DP-AccMD decides the risk"
    source = "instance `resolved_quadratic_l1` for Wang, Ye, Xu 2017, Theorem 5.4 (ours)"
    default_dimension = 64
    least_dimension = SUPPORT
    ball = L1_BALL
    signal: float = option(0.02, "l1 norm of the minimiser", within="(0, 1]")

    @property
    def spectrum(self) -> np.ndarray:
        return np.full(self.dimension, min(1.0, CURVATURE / self.mirror_descent_steps(1.0)))

    @property
    def optimum(self) -> np.ndarray:
        return np.where(np.arange(self.dimension) < SUPPORT, self.signal / SUPPORT, 0.0)

    def beside(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        """``B_w(x*, 0) = (s/2) ||x*||_q^2``, which Theorem 5.4 has where the schedule bounds it over the whole ball."""
        geometry, d = L1Geometry(self.ball.radius), self.dimension
        p = geometry.dual_exponent(d)
        length = float(lp_norm(self.optimum[None], p / (p - 1.0))[0, 0])
        return {"minimiser_divergence": np.full(len(x), 0.5 * geometry.curvature(d) * length**2)}


@problem
class ResolvedQuadraticL2(MirrorDescentFamily, FlatOptimum):
    """``h_j = min(1, c_j/T)`` with c_j from 15 to 30 and the printed T of Theorem 5.4 (K = 1) at the cell.

    The steps of z oscillate about the minimiser with a period that depends on h; over the d directions this averages
    out. The minimiser is ``ones/(2 sqrt(d))``. G = 1 holds on the ball from T = 45 on.
    """

    name = "resolved_quadratic_l2"
    summary = "family of quadratic oracles on the unit l2 ball in which the noise of DP-AccMD decides the risk"
    source = "instance `resolved_quadratic_l2` for Wang, Ye, Xu 2017, Theorem 5.4 (ours)"
    default_dimension = 64
    ball = L2_BALL
    signal = 0.5

    @property
    def spectrum(self) -> np.ndarray:
        return np.minimum(1.0, np.linspace(*CURVATURES, self.dimension) / self.mirror_descent_steps(1.0))


@problem
class RoundQuadratic(Oracle):
    """``F(x) = (1/2) ||x - x*||^2`` on the l2 ball of radius R, with ``x* = signal R e_1``.

    G = 1 holds where ``R (1 + signal)`` is at most 1.
    """

    name = "round_quadratic"
    summary = "quadratic oracle of curvature 1 in all directions on an l2 ball"
    source = "instance `round_quadratic` for Wang, Ye, Xu 2017, Theorem 5.4 (ours)"
    default_dimension = 64
    radius: float = option(0.5, "of the ball", within="(0, inf)")
    signal: float = option(0.5, "norm of the minimiser, over the radius", within="(0, 1]")

    @cached_property
    def ball(self) -> Ball:
        return Ball(2.0, self.radius)

    @property
    def optimum(self) -> np.ndarray:
        return self.signal * self.radius * np.eye(1, self.dimension)[0]


class BallLinear(LinearOracle):
    """``F(x) = -<c, x>`` over a unit ball, for every record, c along the first axis."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    default_dimension = 64
    ball: Any

    @property
    def p(self) -> float:  # type: ignore[override]
        return float(self.ball.p)

    @property
    def own_constants(self) -> Constants:
        """G = L = 1 declared, G nominal where c is longer; the exact initial gap."""
        size, ball = float(self.mean_record()[0]), self.ball
        found = Constants(1.0, 1.0, initial_gap=size, initial_distance=1.0, diameter=ball.diameter, domain=ball.name)
        return found if size <= 1.0 else found.but(status="nominal")


@problem
class L1Linear(MirrorDescentFamily, BallLinear):
    """``F(x) = -<c, x>`` on the unit ball, ``c = (4 Lc B/T^2) e_1`` with the T of Theorem 5.4 (K = 1) at the cell.

    The bound's scale is built in and the bias dominates, so that a matching slope says little.
    """

    name = "l1_linear"
    summary = "family of linear oracles on the unit l1 or l2 ball matched to the schedule of DP-AccMD at each n"
    source = "instance `l1_linear` for Wang, Ye, Xu 2017, Theorem 5.4"
    ball_name: str = option("l1_ball", "norm of the ball", choices=BALLS, key="ball")

    @cached_property
    def ball(self) -> FeasibleSet:
        return feasible_set(self.ball_name, 1.0)

    def mean_record(self, data: Any = None) -> np.ndarray:
        T, B = self.mirror_descent_steps(1.0), ball_geometry(self.ball).bregman_radius(self.dimension)
        return 4 * self.ball.diameter**2 * B / T**2 * np.eye(1, self.dimension)[0]


@problem
class SignedLinear(GeneralisedLinear):
    """``f(x, y) = y x_1`` with ``y = +-1``, and a ridge that hardly matters: gradients do not depend on x.

    Variance-reduced steps have no difference d here, so that every query is v plus noise and the output is normal.
    """

    name = "signed_linear"
    summary = "linear losses of one direction and either sign with a tiny ridge on the whole space"
    source = "instance `linear` for Wang, Ye, Xu 2017, Theorems 4.1 and 4.3 (ours)"
    default_dimension = 1
    traits = CURVED | STRONG | {Trait.LINEAR_LOSS, Trait.GENERALISED_LINEAR}
    ridge: float = option(4.8e-5, "lambda; by default 1e-6/eta of DP-SVRG's step", within="(0, inf)")

    @property
    def own_constants(self) -> Constants:
        """G = 1; L = 1 declared, the Hessians are zero; mu = lambda, ``D0 = 1/(2 lambda)``."""
        gap = 0.5 / self.ridge
        return Constants(1.0, 1.0, strong_convexity=self.ridge, regularisation=self.ridge, initial_gap=gap)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Alternating signs: nothing is random."""
        return self.domain_records(n, 0)

    def loss(self, margins: Array, labels: Array) -> Array:
        return labels * margins

    def slope(self, margins: Array, labels: Array) -> Array:
        return labels + 0.0 * margins

    def curvature(self, margins: Array, labels: Array) -> Array:
        return 0.0 * (margins + labels)

    def optimal_risk(self, data: Data) -> float:
        """``-mean(y)^2/(2 lambda)``."""
        return -0.5 * float(np.mean(data.labels)) ** 2 / self.ridge

    def opposed_records(self, distance: float, order: float) -> Data | None:
        found = opposite(np.eye(self.dimension)[0], distance, order)
        return None if found is None else self.domain_records(2, 0)

    def domain_records(self, count: int, seed: int) -> Data:
        return Data(count, np.tile(np.eye(1, self.dimension), (count, 1)), np.where(np.arange(count) % 2, -1.0, 1.0))


@problem
class MdLinear(CellFamily, BallLinear):
    """``F(x) = -<c, x>`` over the unit l1 ball, ``c = 2 sqrt(B W) ln(n/delta)/(n eps) e_1``: the scale is built in."""

    name = "md_linear"
    summary = "family of linear oracles over the l1 ball with a slope of the size of the noisy mirror descent bound"
    source = "instance `md_linear` for row [28] of Wang, Ye, Xu 2017, Table 3"
    ball = L1_BALL

    def mean_record(self, data: Any = None) -> np.ndarray:
        geometry, d = ball_geometry(self.ball), self.dimension
        size = 2 * sqrt(geometry.bregman_radius(d) * geometry.squared_width(d)) * log(self.count / self.delta)
        return size / (self.count * self.epsilon) * np.eye(1, d)[0]
