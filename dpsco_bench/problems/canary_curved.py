"""A worst case for privacy of smooth losses in l_p: one record alone, the canary, has a gradient."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.data import axes_first
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.linear_losses import ball_name
from dpsco_bench.problems.registry import problem

Array = Any
DOMAINS = ("ball", "l1_ball", "space")
FAR = 1e4
"""Distance of a label from all margins, in units of 1/beta: there the slope is 1 up to 5e-9."""


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
    traits = frozenset(
        {Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.TWICE_DIFFERENTIABLE, Trait.GENERALISED_LINEAR}
    )
    p: float = option(2.0, "norm of the ball and of the constants", within="[1, inf]")
    domain: str = option(
        "ball", "the unit l_p ball, the unit l1 ball whatever p is, or the whole space", choices=DOMAINS
    )
    curvature_bound: float = option(0.05, "beta, the largest curvature", within="(0, inf)", key="smoothness")

    @cached_property
    def own_constants(self) -> Constants:
        """``|slope| < 1`` and ``curvature <= beta``, both times powers of ``||a||_q <= 1``."""
        name = ball_name(self.p) if self.domain == "ball" else self.domain
        return Constants(
            1.0,
            self.curvature_bound,
            initial_gap=1.0,
            initial_distance=1.0,
            diameter=0.0 if name == "space" else 2.0,
            domain=name,
            norm=self.p,
            hessian_rank=1.0,
        )

    @property
    def reach(self) -> float:
        """Label of the canary."""
        return FAR * (1.0 + 1.0 / self.curvature_bound)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Build the canary, then ``n - 1`` records with zero features: nothing is random."""
        rows, labels = np.zeros((n, self.dimension)), np.zeros(n)
        rows[0, 0], labels[0] = 1.0, self.reach
        return Data(n, rows, labels)

    def _bent(self, margins: Array, labels: Array) -> tuple[Array, Array]:
        """``beta (margin - y)`` and ``sqrt(1 + .^2)``."""
        z = self.curvature_bound * (margins - labels)
        return z, array_namespace(margins).sqrt(1.0 + z * z)

    def loss(self, margins: Array, labels: Array) -> Array:
        return self._bent(margins, labels)[1] / self.curvature_bound

    def slope(self, margins: Array, labels: Array) -> Array:
        """Compute the slope, in (-1, 1)."""
        z, root = self._bent(margins, labels)
        return z / root

    def curvature(self, margins: Array, labels: Array) -> Array:
        """At most beta."""
        return self.curvature_bound / self._bent(margins, labels)[1] ** 3

    def domain_records(self, count: int, seed: int) -> Data:
        """Axis vectors of both signs first, then random directions, all of l_q norm 1; every third label is near."""
        rows = axes_first(np.random.default_rng(seed).standard_normal((count, self.dimension)), in_pairs=True)
        rows /= np.asarray(lp_norm(rows, dual_exponent(self.p)))
        return Data(count, rows, np.resize([self.reach, self.reach, 0.0], count))
