"""Generalised linear objectives: a scalar loss of the margin ``m = <a, x>`` and a label y, plus a ridge term.

Slopes and curvatures of the losses have bounds that no data decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, sigmoid, softplus
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.problems.base import Constants, Data, Problem, StreamFactory, Trait, option
from dpsco_bench.problems.constants import CURVED, STRONG
from dpsco_bench.problems.data import HUBER, LOGISTIC, SQUARED, RecordForm, axes_first
from dpsco_bench.problems.families import InBall, OnUnitSet, on_unit_set
from dpsco_bench.problems.minimisers import minimise_glm, minimise_glm_in_ball, minimise_over_set
from dpsco_bench.problems.registry import problem
from dpsco_bench.rng.streams import Stream, stream_key

Array = Any

CACHED_SCORES = 1 << 16
"""Margins worked on at once on the CPU: they and their slopes stay in the second-level cache."""
LEAST_RECORDS = 256
"""Fewer records in a block would make its matrix products slow."""
SKEW = 4.0
"""The scale of the first feature over that of the last."""
WITH_WIDTH = ("huber", "smoothed_hinge")
"""Losses with a width."""


@dataclass(frozen=True)
class MarginLoss:
    """A convex loss ``l(m, y)``.

    Attributes
    ----------
    width : float, of a quadratic part, where there is one
    classes : bool, whether labels are +1 and -1
    smooth, twice : bool, whether the slope is Lipschitz and the curvature continuous
    steepest : float or None, sup of ``|l'|``; None if there is none: then ``|l'| <= |m| + |y|``
    """

    width: float = 1.0
    classes: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    twice: ClassVar[bool] = True
    steepest: ClassVar[float | None] = 1.0

    @property
    def curvature_bound(self) -> float:
        """Lipschitz constant of the slope."""
        return 1.0 / self.width

    @property
    def form(self) -> RecordForm | None:
        """Form of the loss for compiled steps."""
        return None

    def value(self, margins: Array, labels: Array) -> Array:
        raise InputError("loss of the margin", "missing", "defined by the problem: its value, slope and curvature")

    slope = curvature = value

    def largest_at_zero(self, label_bound: float) -> float:
        """Compute the largest loss at ``m = 0`` with labels in [-B, B], that of B."""
        return float(self.value(np.zeros(1), np.full(1, label_bound))[0])


class LogisticLoss(MarginLoss):
    """``ln(1 + exp(-y m))``."""

    curvature_bound = 0.25
    form = RecordForm(LOGISTIC, (-1.0, 0.0))

    def value(self, margins: Array, labels: Array) -> Array:
        return softplus(-labels * margins)

    def slope(self, margins: Array, labels: Array) -> Array:
        """``-y sigmoid(-y m)``, written with tanh, which is odd."""
        return 0.5 * (array_namespace(margins).tanh(0.5 * margins) - labels)

    def curvature(self, margins: Array, labels: Array) -> Array:
        s = sigmoid(margins)
        return s * (1.0 - s)


class SquaredLoss(MarginLoss):
    """``(m - y)^2/2``."""

    classes = False
    steepest = None
    curvature_bound = 1.0
    form = RecordForm(SQUARED)

    def value(self, margins: Array, labels: Array) -> Array:
        return 0.5 * (margins - labels) ** 2

    def slope(self, margins: Array, labels: Array) -> Array:
        return margins - labels

    def curvature(self, margins: Array, labels: Array) -> Array:
        return 0.0 * margins + 1.0


class HuberLoss(MarginLoss):
    """``t^2/(2 w)`` of the residual ``t = m - y`` up to ``|t| = w``, beyond it ``|t| - w/2``."""

    classes = False
    twice = False

    @property
    def form(self) -> RecordForm:
        return RecordForm(HUBER, (1.0 / self.width, 0.0))

    def value(self, margins: Array, labels: Array) -> Array:
        xp = array_namespace(margins)
        t = xp.abs(margins - labels)
        return xp.where(t <= self.width, 0.5 * t * t / self.width, t - 0.5 * self.width)

    def slope(self, margins: Array, labels: Array) -> Array:
        return array_namespace(margins).clip((margins - labels) / self.width, -1.0, 1.0)

    def curvature(self, margins: Array, labels: Array) -> Array:
        xp = array_namespace(margins)
        t = xp.abs(margins - labels)
        return xp.where(t <= self.width, 0.0 * t + 1.0 / self.width, 0.0 * t)


class SmoothedHingeLoss(MarginLoss):
    """With ``v = 1 - y m``: 0 up to ``v = 0``, ``v^2/(2 w)`` up to ``v = w``, beyond it ``v - w/2``."""

    twice = False

    def value(self, margins: Array, labels: Array) -> Array:
        xp = array_namespace(margins)
        v = xp.clip(1.0 - labels * margins, 0.0, None)
        return xp.where(v <= self.width, 0.5 * v * v / self.width, v - 0.5 * self.width)

    def slope(self, margins: Array, labels: Array) -> Array:
        return -labels * array_namespace(margins).clip((1.0 - labels * margins) / self.width, 0.0, 1.0)

    def curvature(self, margins: Array, labels: Array) -> Array:
        xp = array_namespace(margins)
        v = 1.0 - labels * margins
        return xp.where((v >= 0.0) & (v <= self.width), 0.0 * v + 1.0 / self.width, 0.0 * v)


class LinearLoss(MarginLoss):
    """``-y m``: the mean of ``y a`` is all that counts."""

    smooth = False
    curvature_bound = 0.0

    def value(self, margins: Array, labels: Array) -> Array:
        return -labels * margins

    def slope(self, margins: Array, labels: Array) -> Array:
        return 0.0 * margins - labels

    def curvature(self, margins: Array, labels: Array) -> Array:
        return 0.0 * margins


LOSSES: dict[str, type[MarginLoss]] = {
    "logistic": LogisticLoss,
    "squared": SquaredLoss,
    "least_squares": SquaredLoss,
    "huber": HuberLoss,
    "smoothed_hinge": SmoothedHingeLoss,
    "linear": LinearLoss,
}
"""Losses by name; ``squared`` is also called ``least_squares``."""


def record_blocks(data: Data, replicates: int) -> Iterator[Data]:
    """Split records into blocks, whose size depends on the number of replicates alone; on a GPU there is one."""
    size = max(LEAST_RECORDS, CACHED_SCORES // replicates) if isinstance(data.features, np.ndarray) else data.n
    for first in range(0, data.n, size):
        rows = slice(first, first + size)
        yield Data(min(size, data.n - first), data.features[rows, :], data.labels[rows])


class GeneralisedLinear(Problem):
    """``F(x) = mean_i loss(<a_i, x>, y_i) + (lambda/2) ||x||^2`` with rows of norm at most 1.

    A subclass sets `margin`, its `MarginLoss`, or defines `loss`, `slope` and `curvature`. `rows_fill_the_ball` is true
    where every row of Euclidean norm at most 1 is admissible, with any label.
    """

    has_loss_values: ClassVar[bool] = True
    rows_fill_the_ball: ClassVar[bool] = False
    margin: Any = MarginLoss()

    def loss(self, margins: Array, labels: Array) -> Array:
        """Loss as a function of the margin; broadcasting shapes."""
        return self.margin.value(margins, labels)

    def slope(self, margins: Array, labels: Array) -> Array:
        """Differentiate the loss in the margin."""
        return self.margin.slope(margins, labels)

    def curvature(self, margins: Array, labels: Array) -> Array:
        """Second derivative of the loss in the margin."""
        return self.margin.curvature(margins, labels)

    @property
    def record_form(self) -> RecordForm | None:
        form: RecordForm | None = self.margin.form
        return form

    def mean_gradient(self, x: Array, data: Data) -> Array:
        """Two matrix products per block of records: margins ``(R, n)`` and their slopes against the features."""
        total = 0.0
        for block in record_blocks(data, x.shape[0]):
            total = total + self.slope(x @ block.features.T, block.labels) @ block.features
        return total / data.n

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Sum of ``weights * slope * a`` over each replicate's own batch."""
        xp = array_namespace(x)
        margins = xp.matmul(batch.features, x[:, :, None])[:, :, 0]
        slopes = self.slope(margins, batch.labels) * weights
        return xp.matmul(slopes[:, None, :], batch.features)[:, 0, :]

    def batch_losses(self, x: Array, data: Data, indices: Array) -> Array:
        """Losses of the margins, shape ``(R, W)``."""
        rows = self.gather(data, indices)
        return self.loss(array_namespace(x).matmul(rows.features, x[:, :, None])[:, :, 0], rows.labels)

    def risk(self, x: Array, data: Data) -> Array:
        """Mean loss plus the ridge term, shape ``(R,)``."""
        xp = array_namespace(x)
        ridge = 0.5 * self.constants.regularisation * xp.sum(x * x, axis=-1)
        return xp.mean(self.loss(x @ data.features.T, data.labels), axis=-1) + ridge

    def on_records(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        """Loss without the ridge and accuracy of points ``(R, d)`` on held-out records; a margin of 0 is half right."""
        margins = x @ data.features.T
        loss, right = self.loss(margins, data.labels), 0.5 + 0.5 * np.sign(margins) * data.labels
        return {"held_out_loss": loss.mean(axis=-1), "held_out_accuracy": right.mean(axis=-1)}

    def records_at(self, points: np.ndarray) -> Data | None:
        """Return unit rows in the points' directions, with the domain's first two labels, if rows fill the ball."""
        points = points[points.any(axis=1)]
        if not self.rows_fill_the_ball or not len(points):
            return None
        rows = points / np.linalg.norm(points, axis=1, keepdims=True)
        labels = np.asarray(self.domain_records(2, 0).labels)
        return Data(2 * len(rows), np.repeat(rows, 2, axis=0), np.tile(labels, len(rows)))

    def domain_records(self, count: int, seed: int) -> Data:
        """Return unit rows, axes first, with labels 1 and -1 in turn, if rows fill the ball."""
        if not self.rows_fill_the_ball:
            return super().domain_records(count, seed)
        rows = axes_first(np.random.default_rng(seed).standard_normal((count, self.dimension)))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Data(count, rows, np.where(np.arange(count) % 2 == 0, 1.0, -1.0))

    def optimal_risk(self, data: Data) -> float:
        """Minimum over the domain by damped Newton steps on the host, to a Newton decrement below 1e-15.

        Raises InputError without convexity, or on a domain other than an l2 ball, where no exact minimum is known.
        """
        ball = self.constants.ball
        if Trait.CONVEX not in self.traits:
            raise InputError("problem", self.name, "convex, for its exact minimum to be known")
        if ball is None:
            return minimise_glm(self, data).value
        if ball.name != "l2_ball":
            raise InputError(f"domain of {self.name}", ball.name, "space or l2_ball, for its exact minimum to be known")
        return minimise_glm_in_ball(self, data, ball.radius).value


class Logistic(GeneralisedLinear):
    """``log(1 + exp(offset + sign * y * margin))``; the usual logistic loss has offset 0 and sign -1."""

    offset = 0.0
    sign = -1.0
    rows_fill_the_ball = True
    traits = CURVED | {Trait.GENERALISED_LINEAR}

    def loss(self, margins: Array, labels: Array) -> Array:
        return softplus(self.offset + self.sign * labels * margins)

    @property
    def record_form(self) -> RecordForm | None:
        return RecordForm(LOGISTIC, (self.sign, self.offset))

    def slope(self, margins: Array, labels: Array) -> Array:
        """Differentiate `loss` in the margin, for labels -1 and 1: bounded by 1.

        This is ``s sigmoid(offset + s margin)`` with ``s = sign * y``, written for few passes over the margins: tanh is
        odd and ``s^2 = 1``.
        """
        signs = self.sign * labels
        if self.offset != 0.0:
            margins = margins + self.offset * signs
        slopes = signs + array_namespace(margins).tanh(0.5 * margins)
        slopes *= 0.5
        return slopes

    def curvature(self, margins: Array, labels: Array) -> Array:
        """Second derivative of `loss` in the margin: bounded by 1/4."""
        s = sigmoid(self.offset + self.sign * labels * margins)
        return s * (1.0 - s)


class LinearInBall(GeneralisedLinear):
    """Losses that are linear in the margin, over the unit ball of l_p."""

    p: float = option(2.0, "norm of the ball", within="[1, inf]")

    def loss(self, margins: Array, labels: Array) -> Array:
        return self.slope(margins, labels) * margins

    def curvature(self, margins: Array, labels: Array) -> Array:
        return array_namespace(margins).zeros_like(margins)

    def optimal_risk(self, data: Data) -> float:
        """Minus the dual norm of the mean gradient, which is the same at every point."""
        labels = np.asarray(data.labels)
        mean = np.mean(self.slope(np.zeros_like(labels), labels)[:, None] * np.asarray(data.features), axis=0)
        return -float(lp_norm(mean[None], dual_exponent(self.p))[0, 0])


class LeastSquares(GeneralisedLinear):
    """``(margin - label)^2/2``."""

    margin = SquaredLoss()


def draw_sphere_logistic(n: int, d: int, streams: StreamFactory, informative: int | None = None) -> Data:
    """Rows uniform on the unit sphere, ``P(y=1) = sigmoid(<a, 2*ones>)``; record i depends on i alone.

    With ``informative`` the labels look at so many coordinates alone, the first.
    """
    rows = streams("features").normal(0, 1, 0, n, d)[0].astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chance = 1.0 / (1.0 + np.exp(-2.0 * rows[:, :informative].sum(axis=1)))
    labels = np.where(streams("labels").uniform(0, 1, 0, n, 1)[0, :, 0] < chance, 1.0, -1.0)
    return Data(n, rows, labels)


@problem
class RidgeLogistic(InBall, Logistic):
    """Rows uniform on the unit sphere, ``P(y=1) = sigmoid(<a, 2*ones>)``, ``r = (ridge/2) ||x||^2``."""

    name = "ridge_logistic"
    summary = "logistic loss on the unit sphere with a ridge, 0.1 by default"
    source = "instance `ridge_logistic` for Wang, Ye, Xu 2017, Theorem 4.2"
    traits = Logistic.traits | STRONG
    ridge: float = option(0.1, "lambda; the condition number is 1/(4 ridge)", within="(0, inf)")

    @property
    def own_constants(self) -> Constants:
        """G = 1, L = 1/4 (rows of norm 1), mu = lambda = ridge, a-priori gap 0.1."""
        free = Constants(1.0, 0.25, strong_convexity=self.ridge, regularisation=self.ridge, initial_gap=0.1)
        return free if self.ball is None else replace(free, diameter=self.ball.diameter, domain=self.ball.name)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        return draw_sphere_logistic(n, self.dimension, streams)


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
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        noise = streams("labels").normal(0, 1, 0, n, 1)[0, :, 0].astype(np.float64)
        return Data(n, rows, np.where(rows.sum(axis=1) + 0.3 * noise >= 0.0, 1.0, -1.0))

    def optimal_risk(self, data: Data) -> float:
        """Minimum over the set, by accelerated steps until the Frank-Wolfe gap is at rounding level."""
        point = minimise_over_set(self, data, self.set)
        return float(self.risk(point[None, :], data)[0])


@problem
class PublicQuadratic(LeastSquares):
    """``(<a, x> - y)^2/2`` with ``a = s * u`` and ``y = <a, x*> + noise``, u uniform on the sphere, s falling to 1/4.

    ``x* = 0.5 ones/sqrt(d)``, the noise is 0.1 N(0, 1), and y is clipped to [-1, 1]. L = 2 on the ball.
    """

    name = "public_quadratic"
    summary = "least squares on the unit l2 ball with public points of the same law"
    source = "instance for the public-data row of Su, Zhao, Wang 2023, Table 1 (ours)"
    default_dimension = 32
    rows_fill_the_ball = True
    traits = CURVED | {Trait.GENERALISED_LINEAR, Trait.PUBLIC_QUADRATIC}
    public_points: int = option(
        256, "number of public points; fixed, drawn by the same law, no part of the data", within="[1, inf)"
    )

    @property
    def own_constants(self) -> Constants:
        """L = 2 and beta = 1 on the ball; Hessians of rank 1."""
        return on_unit_set(feasible_set("l2_ball", 1.0), 2.0, 1.0, hessian_rank=1.0, initial_distance=1.0)

    @cached_property
    def public_hessian(self) -> np.ndarray:
        """Hessian of the mean loss of the public points, shape ``(d, d)``."""
        stream = Stream(stream_key(0, f"public points of {self.name}", f"d = {self.dimension}"), np)
        rows = self._rows(stream.normal(0, 1, 0, self.public_points, self.dimension)[0])
        return rows.T @ rows / self.public_points

    def draw(self, n: int, streams: StreamFactory) -> Data:
        rows = self._rows(streams("features").normal(0, 1, 0, n, self.dimension)[0])
        noise = streams("labels").normal(0, 1, 0, n, 1)[0, :, 0].astype(np.float64)
        return Data(n, rows, np.clip(rows.sum(axis=1) * 0.5 * self.dimension**-0.5 + 0.1 * noise, -1.0, 1.0))

    def _rows(self, normals: Array) -> np.ndarray:
        rows = np.asarray(normals, dtype=np.float64)
        scales = SKEW ** -(np.arange(self.dimension) / max(1, self.dimension - 1))
        return scales * rows / np.linalg.norm(rows, axis=1, keepdims=True)
