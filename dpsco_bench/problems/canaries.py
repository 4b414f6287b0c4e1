"""Worst cases for privacy audits: one record alone, the canary, has a gradient, so that nothing hides it.

An audit compares the data set with the one that has the canary's mirror image in its place. Nothing is random.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.problems.base import Constants, Data, Problem, StreamFactory, Trait, option
from dpsco_bench.problems.constants import CURVED, STRONG
from dpsco_bench.problems.data import CONSTANT, RecordForm, axes_first, opposite
from dpsco_bench.problems.glm import GeneralisedLinear, HuberLoss, LinearInBall, PublicQuadratic
from dpsco_bench.problems.linear import ball_name, linear_constants
from dpsco_bench.problems.quadratic import MEAN_TRAITS, mean_constants
from dpsco_bench.problems.registry import problem

Array = Any
DOMAINS = ("ball", "l1_ball", "space")
FAR = 1e4
"""Distance of a label from all margins, in units of 1/beta: there the slope is 1 up to 5e-9."""
TILT = 0.1
"""First coordinate of a turning canary's features: small, so that its mirror image points almost the opposite way."""
CANARIES = ("turning", "steady")


def _alone(n: int, row: np.ndarray, label: float = 0.0) -> Data:
    """Make record 0 the canary, ``row (d,)`` with its label, and all others zero."""
    rows, labels = np.zeros((n, row.size)), np.zeros(n)
    rows[0], labels[0] = row, label
    return Data(n, rows, labels)


def _directions(count: int, d: int, seed: int, exponent: float) -> np.ndarray:
    """Draw directions ``(count, d)`` of length 1 in a norm, axes first, each beside its opposite."""
    rows = axes_first(np.random.default_rng(seed).standard_normal((count, d)), in_pairs=True)
    return rows / np.asarray(lp_norm(rows, exponent))


@problem
class CanaryCurved(GeneralisedLinear):
    """``f(x, (a, y)) = sqrt(1 + beta^2 (<a, x> - y)^2)/beta``, ``||a||_q <= 1``, on the unit l_p or l1 ball or R^d.

    Record 0 has ``a = e_1`` and a label so far off that its slope is -1 wherever an iterate comes; all others have zero
    features. With the mirror image ``a = -e_1`` in its place one record moves a gradient by 2 L0 in every l_q norm,
    what the sensitivities allow, and nothing hides it. For methods that ask for smooth or twice differentiable losses,
    which linear ones are in name only.
    """

    name = "canary_curved"
    summary = "pseudo-Huber losses with a single non-zero record in l_p, a worst case for privacy audits"
    source = "this package's worst case for privacy audits of smooth losses"
    default_dimension = 3
    traits = CURVED | {Trait.GENERALISED_LINEAR}
    p: float = option(2.0, "norm of the ball and of the constants", within="[1, inf]")
    domain: str = option(
        "ball", "the unit l_p ball, the unit l1 ball whatever p is, or the whole space", choices=DOMAINS
    )
    curvature_bound: float = option(0.05, "beta, the largest curvature", within="(0, inf)", key="smoothness")

    @cached_property
    def own_constants(self) -> Constants:
        """``|slope| < 1`` and ``curvature <= beta``, both times powers of ``||a||_q <= 1``."""
        name = ball_name(self.p) if self.domain == "ball" else self.domain
        further = {"hessian_rank": 1.0, "diameter": 0.0 if name == "space" else 2.0}
        return linear_constants(name, self.p, self.curvature_bound, **further)

    @property
    def reach(self) -> float:
        """Label of the canary."""
        return FAR * (1.0 + 1.0 / self.curvature_bound)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        return _alone(n, np.eye(self.dimension)[0], self.reach)

    def _bent(self, margins: Array, labels: Array) -> tuple[Array, Array]:
        """``beta (margin - y)`` and ``sqrt(1 + .^2)``."""
        z = self.curvature_bound * (margins - labels)
        return z, array_namespace(margins).sqrt(1.0 + z * z)

    def loss(self, margins: Array, labels: Array) -> Array:
        return self._bent(margins, labels)[1] / self.curvature_bound

    def slope(self, margins: Array, labels: Array) -> Array:
        z, root = self._bent(margins, labels)
        return z / root

    def curvature(self, margins: Array, labels: Array) -> Array:
        return self.curvature_bound / self._bent(margins, labels)[1] ** 3

    def domain_records(self, count: int, seed: int) -> Data:
        rows = _directions(count, self.dimension, seed, dual_exponent(self.p))
        return Data(count, rows, np.resize([self.reach, self.reach, 0.0], count))


@problem
class CanaryHeavy(LinearInBall):
    """``f(x, (a, y)) = y <a, x>`` over the unit l_p ball, records of any length y: no Lipschitz constant is used.

    Record 0 has ``a`` along the diagonal, where every coordinate can be cut, and all others have zero features. Its
    mirror image is ``-a``. Methods that make a gradient above their level zero see most of a record just below it, and
    an audit looks for the length; methods that clip coordinates see most of a long one.
    """

    name = "canary_heavy"
    summary = "linear losses of any length with a single non-zero record, a worst case for privacy audits"
    source = "this package's worst case for privacy audits of methods for heavy tails"
    default_dimension = 2
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LINEAR_LOSS})
    p: float = option(2.0, "norm of the ball", within="(1, inf]")
    sigma: float = option(3.0, "declared deviation of gradients", within="(0, inf)", key="gradient_deviation")
    length: float = option(1.0, "length of the canary in l_q", within="(0, inf)")

    @property
    def own_constants(self) -> Constants:
        """Constants with the declared sigma; a small smoothness serves schedules that divide by it."""
        return linear_constants(ball_name(self.p), self.p, 0.01, gradient_deviation=self.sigma)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        return _alone(n, self._diagonal(), self.length)

    def slope(self, margins: Array, labels: Array) -> Array:
        return labels + 0.0 * margins

    def domain_records(self, count: int, seed: int) -> Data:
        lengths = np.append(self.length, np.geomspace(0.1, 1e3, max(1, (count - 1) // 2)))
        signed = np.repeat(lengths, 2)[:count] * np.resize([1.0, -1.0], count)
        return Data(count, np.tile(self._diagonal(), (count, 1)), signed)

    def _diagonal(self) -> np.ndarray:
        ones = np.ones(self.dimension)
        return ones / np.linalg.norm(ones, ord=dual_exponent(self.p))


@problem
class CanaryHuber(GeneralisedLinear):
    """Huber loss of ``<a, x> - y`` with slopes in [-1, 1], plus a ridge term; started at ``start * e_1``.

    Record 0 is the canary; all others have zero features, hence zero gradients, so that nothing hides it.

    A ``turning`` canary has ``a = (0.1, sqrt(0.99), 0, ...)``. Its slope is +1 at the starting point and turns to -1 as
    the ridge pulls the iterate towards the origin: the worst case for methods that release differences between the
    gradients at the iterate and at a snapshot. A ``steady`` canary has ``a = e_2`` and slope +1 wherever an iterate
    comes: the worst case for methods that release gradients. The neighbouring data set has its mirror image (see
    `neighbour`). So one record changes a gradient by up to 2G, and a difference of gradients by up to
    ``4G sqrt(0.99)``: what the sensitivities allow.
    """

    name = "canary_huber"
    summary = "ridge Huber regression with a single non-zero record, a worst case for privacy audits"
    source = "this package's worst case for privacy audits"
    default_dimension = 2
    least_dimension = 2
    rows_fill_the_ball = True
    traits = STRONG | {Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR}
    smoothness: float = option(1.0, "L, the slope's own slope between its plateaus", within="(0, inf)")
    regularisation: float = option(10.0, "lambda of the ridge term", within="(0, inf)")
    distance: float = option(
        100.0,
        "distance of the starting point from the origin; from 20/L on the canary turns all the way from +1 to -1",
        within="(0, inf)",
        key="start",
    )
    canary: str = option("turning", "which canary", choices=CANARIES)

    @cached_property
    def margin(self) -> HuberLoss:
        return HuberLoss(1.0 / self.smoothness)

    @cached_property
    def own_constants(self) -> Constants:
        """G = 1 and L hold for rows of norm at most 1; D0 = ``|grad F(start)|^2 / (2 lambda)`` at most."""
        gap = (self.regularisation * self.distance + 1.0) ** 2 / (2.0 * self.regularisation)
        return Constants(1.0, self.smoothness, self.regularisation, self.regularisation, initial_gap=gap)

    @property
    def start(self) -> np.ndarray:
        return self.distance * np.eye(self.dimension)[0]

    @property
    def reach(self) -> float:
        """Target so far off that the slope is constant wherever an iterate comes."""
        return 1e3 * (self.distance + 1.0 / self.regularisation + 1.0 / self.smoothness)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        rows, targets = np.zeros((n, self.dimension)), np.zeros(n)
        if self.canary == "turning":
            rows[0, :2] = TILT, np.sqrt(1.0 - TILT**2)
            targets[0] = TILT * self.distance - 1.0 / self.smoothness  # the first move away from the start turns it
        else:
            rows[0, 1], targets[0] = 1.0, -self.reach
        return Data(n, rows, targets)

    def neighbour(self, data: Data) -> Data:
        """Replace the canary by its mirror image: all coordinates of ``a`` but the first negated."""
        rows = np.array(data.features)
        rows[0, 1:] *= -1.0
        return Data(data.n, rows, data.labels)

    def opposed_records(self, distance: float, order: float) -> Data | None:
        found = opposite(np.eye(self.dimension)[1], distance, order)
        return None if found is None else replace(found, labels=np.full(2, -self.reach))

    def domain_records(self, count: int, seed: int) -> Data:
        rng = np.random.default_rng(seed)
        rows = axes_first(rng.standard_normal((count, self.dimension)))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        near = rng.uniform(-self.distance, self.distance, count)
        return Data(count, rows, np.where(np.arange(count) % 2 == 0, -self.reach, near))


@problem
class CanaryLinear(LinearInBall):
    """``f(x, a) = -<a, x>`` over the unit l_p ball, ``a = e_1`` for record 0 and zero for all others.

    An audit compares it with the data set whose record 0 is ``-e_1``: one record moves a gradient by 2 L0, what the
    sensitivities allow, and nothing hides it.
    """

    name = "canary_linear"
    summary = "linear losses with a single non-zero record on the unit l_p ball, a worst case for privacy audits"
    source = "this package's worst case for privacy audits on l_p balls"
    default_dimension = 10
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})
    record_form = RecordForm(CONSTANT, (-1.0, 0.0))

    @property
    def own_constants(self) -> Constants:
        """L0 = 1 in l_p, L1 = 0."""
        return linear_constants(ball_name(self.p), self.p)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        return _alone(n, np.eye(self.dimension)[0])

    def slope(self, margins: Array, labels: Array) -> Array:
        return 0.0 * (margins + labels) - 1.0

    def opposed_records(self, distance: float, order: float) -> Data | None:
        return opposite(np.eye(self.dimension)[0], distance, order)

    def domain_records(self, count: int, seed: int) -> Data:
        rows = _directions(count, self.dimension, seed, dual_exponent(self.p))
        return Data(count, rows, np.zeros(count))


@problem
class CanaryPublic(PublicQuadratic):
    """`public_quadratic` with the record ``(e_1, 1)``, the canary, and zero records.

    Its mirror image is ``(-e_1, 1)``. At the start one record moves a gradient by half of what the declared L = 2
    allows, which is for the far end of the ball.
    """

    name = "canary_public"
    summary = "least squares with public points and a single non-zero record, a worst case for privacy audits"
    source = "this package's worst case for privacy audits of methods with public points"
    default_dimension = 4

    def draw(self, n: int, streams: StreamFactory) -> Data:
        return _alone(n, np.eye(self.dimension)[0], 1.0)


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
    traits = MEAN_TRAITS

    @property
    def own_constants(self) -> Constants:
        """G = 2 and S = 2: the records fill the ball, whose gauge is the norm."""
        return mean_constants(feasible_set("l2_ball", 1.0), self.dimension).but(initial_gap=2.0)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        return _alone(n, np.eye(self.dimension)[0])

    def mean_gradient(self, x: Array, data: Data) -> Array:
        return x - array_namespace(x).mean(data.features, axis=0)

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        return array_namespace(x).sum((x[:, None, :] - batch.features) * weights[:, :, None], axis=1)

    def batch_losses(self, x: Array, data: Data, indices: Array) -> Array:
        return 0.5 * array_namespace(x).sum((x[:, None, :] - self.gather(data, indices).features) ** 2, axis=-1)

    def risk(self, x: Array, data: Data) -> Array:
        xp = array_namespace(x)
        mean, square = xp.mean(data.features, axis=0), xp.mean(xp.sum(data.features**2, axis=-1))
        return 0.5 * (xp.sum(x * x, axis=-1) - 2.0 * xp.sum(x * mean, axis=-1) + square)

    def optimal_risk(self, data: Data) -> float:
        mean = np.mean(np.asarray(data.features), axis=0)
        return 0.5 * float(np.mean(np.sum((mean - data.features) ** 2, axis=-1)))

    def domain_records(self, count: int, seed: int) -> Data:
        rows = axes_first(np.random.default_rng(seed).standard_normal((count, self.dimension)), in_pairs=True)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Data(count, rows, np.zeros(count))
