"""A worst case for privacy of methods with public points: least squares with a single non-zero record."""

from __future__ import annotations

import numpy as np

from dpsco_bench.problems.base import Data, StreamFactory
from dpsco_bench.problems.public_quadratic import PublicQuadratic
from dpsco_bench.problems.registry import problem


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
        """Build the canary, then ``n - 1`` zero records: nothing is random."""
        rows, labels = np.zeros((n, self.dimension)), np.zeros(n)
        rows[0, 0] = labels[0] = 1.0
        return Data(n, rows, labels)
