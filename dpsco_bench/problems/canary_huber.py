"""A worst case for privacy: ridge Huber regression where one record, the canary, is all that the losses contain."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.data import axes_first, opposite
from dpsco_bench.problems.forms import HUBER, RecordForm
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import problem

Array = Any

TILT = 0.1
"""First coordinate of a turning canary's features: small, so that its mirror image points almost the opposite way."""
CANARIES = ("turning", "steady")


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
    traits = frozenset(
        {
            Trait.CONVEX,
            Trait.SMOOTH,
            Trait.LIPSCHITZ,
            Trait.STRONGLY_CONVEX,
            Trait.POLYAK_LOJASIEWICZ,
            Trait.GENERALISED_LINEAR,
        }
    )
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
        """Build the canary, then ``n - 1`` records with zero features: nothing is random."""
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

    def loss(self, margins: Array, labels: Array) -> Array:
        """Quadratic within 1/L of the target, of slope 1 beyond."""
        xp = array_namespace(margins)
        distance = xp.abs(margins - labels)
        return xp.where(
            self.smoothness * distance < 1.0,
            0.5 * self.smoothness * distance * distance,
            distance - 0.5 / self.smoothness,
        )

    @property
    def record_form(self) -> RecordForm:
        return RecordForm(HUBER, (self.smoothness, 0.0))

    def slope(self, margins: Array, labels: Array) -> Array:
        """``L (margin - y)`` clipped to [-1, 1]."""
        return array_namespace(margins).clip(self.smoothness * (margins - labels), -1.0, 1.0)

    def curvature(self, margins: Array, labels: Array) -> Array:
        """L within 1/L of the target, 0 beyond."""
        xp = array_namespace(margins)
        inside = self.smoothness * xp.abs(margins - labels) < 1.0
        return xp.where(inside, self.smoothness + 0.0 * margins, 0.0 * margins)

    def opposed_records(self, distance: float, order: float) -> Data | None:
        """Return the steady canary and its mirror image."""
        found = opposite(np.eye(self.dimension)[1], distance, order)
        return None if found is None else replace(found, labels=np.full(2, -self.reach))

    def domain_records(self, count: int, seed: int) -> Data:
        """Rows on the unit sphere, axis vectors of both signs first; every other target is out of reach on one side."""
        rng = np.random.default_rng(seed)
        rows = axes_first(rng.standard_normal((count, self.dimension)))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        near = rng.uniform(-self.distance, self.distance, count)
        return Data(count, rows, np.where(np.arange(count) % 2 == 0, -self.reach, near))
