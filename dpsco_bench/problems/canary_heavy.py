"""A worst case for privacy of methods that cut gradients: linear losses whose one record, the canary, is cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.glm import LinearInBall
from dpsco_bench.problems.linear_losses import ball_name, linear_constants
from dpsco_bench.problems.registry import problem

Array = Any


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
        """Build the canary, then ``n - 1`` records with zero features: nothing is random."""
        rows, labels = np.zeros((n, self.dimension)), np.zeros(n)
        rows[0], labels[0] = self._diagonal(), self.length
        return Data(n, rows, labels)

    def loss(self, margins: Array, labels: Array) -> Array:
        return labels * margins

    def slope(self, margins: Array, labels: Array) -> Array:
        return labels + 0.0 * margins

    def domain_records(self, count: int, seed: int) -> Data:
        """Return the diagonal with both signs, of its own length and of others from 0.1 to 1,000."""
        lengths = np.append(self.length, np.geomspace(0.1, 1e3, max(1, (count - 1) // 2)))
        signed = np.repeat(lengths, 2)[:count] * np.resize([1.0, -1.0], count)
        return Data(count, np.tile(self._diagonal(), (count, 1)), signed)

    def _diagonal(self) -> np.ndarray:
        ones = np.ones(self.dimension)
        return ones / np.linalg.norm(ones, ord=dual_exponent(self.p))
