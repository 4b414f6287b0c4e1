"""A worst case for privacy on l_p balls: linear losses of which one record alone, the canary, is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait
from dpsco_bench.problems.data import axes_first, opposite
from dpsco_bench.problems.forms import CONSTANT, RecordForm
from dpsco_bench.problems.glm import LinearInBall
from dpsco_bench.problems.linear_losses import ball_name, linear_constants
from dpsco_bench.problems.registry import problem

Array = Any


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

    @property
    def own_constants(self) -> Constants:
        """L0 = 1 in l_p, L1 = 0."""
        return linear_constants(ball_name(self.p), self.p)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Build the canary, then ``n - 1`` zero records: nothing is random."""
        rows = np.zeros((n, self.dimension))
        rows[0, 0] = 1.0
        return Data(n, rows, np.zeros(n))

    def loss(self, margins: Array, labels: Array) -> Array:
        return -margins - 0.0 * labels

    @property
    def record_form(self) -> RecordForm:
        return RecordForm(CONSTANT, (-1.0, 0.0))

    def slope(self, margins: Array, labels: Array) -> Array:
        return 0.0 * (margins + labels) - 1.0

    def opposed_records(self, distance: float, order: float) -> Data | None:
        """``+-e_1``."""
        return opposite(np.eye(self.dimension)[0], distance, order)

    def domain_records(self, count: int, seed: int) -> Data:
        """Axis vectors of both signs first, then random directions, all of l_q norm 1."""
        rows = axes_first(np.random.default_rng(seed).standard_normal((count, self.dimension)), in_pairs=True)
        rows /= np.asarray(lp_norm(rows, dual_exponent(self.p)))
        return Data(count, rows, np.zeros(count))
