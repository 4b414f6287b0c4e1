"""Losses of a margin ``m = <a, x>`` and a label y whose slopes and curvatures have bounds that no data decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpsco_bench.backend.namespace import array_namespace, sigmoid, softplus
from dpsco_bench.errors import InputError
from dpsco_bench.problems.data import HUBER, LOGISTIC, SQUARED, RecordForm

Array = Any
WITH_WIDTH = ("huber", "smoothed_hinge")


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
        raise InputError("loss", type(self).__name__, "one with values")

    def slope(self, margins: Array, labels: Array) -> Array:
        raise InputError("loss", type(self).__name__, "one with slopes")

    def curvature(self, margins: Array, labels: Array) -> Array:
        raise InputError("loss", type(self).__name__, "one with curvatures")

    def largest_at_zero(self, label_bound: float) -> float:
        """Largest loss at ``m = 0`` with labels in [-B, B]."""
        return 0.0


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

    def largest_at_zero(self, label_bound: float) -> float:
        return 0.6931471805599453


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

    def largest_at_zero(self, label_bound: float) -> float:
        return 0.5 * label_bound**2


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

    def largest_at_zero(self, label_bound: float) -> float:
        return 0.5 * label_bound**2 / self.width if label_bound <= self.width else label_bound - 0.5 * self.width


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

    def largest_at_zero(self, label_bound: float) -> float:
        return 0.5 / self.width if self.width >= 1.0 else 1.0 - 0.5 * self.width


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
