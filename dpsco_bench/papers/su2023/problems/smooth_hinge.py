"""A smooth hinge in one coordinate of the whole space, as flat as regularised mirror descent can just not climb."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.families import SignalFamily
from dpsco_bench.problems.registry import problem

Array = Any
EXPONENTS = {"proof": 0.5, "theorem": 1.0}


@problem
class SmoothHinge(SignalFamily):
    """With ``v = (1 - x_1)_+``: ``F = v^2/2`` up to ``v = rho``, then ``rho v - rho^2/2``; L = beta = 1 in l_p.

    ``rho = min(1, signal * unit)``, with a unit that follows the regulariser alpha of Algorithm 3 at the cell:
    ``1/(2 (1/(k alpha) + 1/2))``. The loss has no data.
    """

    name = "smooth_hinge"
    summary = "smooth hinge in one coordinate on the whole space, L = beta = 1 in l_p, with a free slope"
    source = "instance `smooth_hinge` for Su, Zhao, Wang 2023, Theorem 7"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    shares_records: ClassVar[bool] = True
    default_dimension: ClassVar[int] = 8
    reference: ClassVar[tuple[int, float, float]] = (1 << 28, 1.0, 1e-6)
    least_dimension = 2
    p: float = option(1.5, "norm of the constants", within="(1, 2)", source="Su, Zhao, Wang 2023, Theorem 7")
    norm_kappa: float | None = option(None, "p = 1 + 1/norm_kappa instead, for sweeps over kappa_q", within="(1, inf)")
    horizon: str = option("proof", "whose T the unit of the signal follows (erratum E6)", choices=tuple(EXPONENTS))
    signal = option(1.0, "rho = min(1, signal * unit)")

    def prepare(self) -> None:
        """P from `norm_kappa`, where that is given."""
        super().prepare()
        if self.norm_kappa is not None:
            self.p = self.options["p"].checked(1.0 + 1.0 / self.norm_kappa)

    @property
    def own_constants(self) -> Constants:
        return Constants(1.0, 1.0, initial_gap=1.0, initial_distance=1.0, norm=self.p)

    @property
    def unit(self) -> float:
        """Compute the unit, as above; 1 where Algorithm 3 has no alpha."""
        k = min(1.0 / (self.p - 1.0), 2.0 * math.log(self.dimension))
        T = max(1, round((self.signal_to_noise(self.dimension) * k ** EXPONENTS[self.horizon]) ** 0.4))
        alpha = 4.0 / T * math.log2(self.count / T)
        return 0.5 / (1.0 / (k * alpha) + 0.5) if alpha > 0 else 1.0

    def row_size(self, n: int) -> int:
        return self.dimension

    def mean_gradient(self, x: Array, data: Any) -> Array:
        """``-min(v, rho)`` in the first coordinate."""
        xp = array_namespace(x)
        slope = -xp.minimum(self._gap(x), self.by_row(self.strengths, x))
        return xp.concat([slope, xp.zeros_like(x[:, 1:])], axis=1)

    def risk(self, x: Array, data: Any) -> Array:
        """Compute the risk of the hinge, which has minimum 0."""
        xp = array_namespace(x)
        v, rho = self._gap(x)[:, 0], self.by_row(self.strengths, x)[:, 0]
        return xp.where(v <= rho, 0.5 * v * v, rho * v - 0.5 * rho * rho)

    def optimal_risk(self, data: Any) -> float:
        return 0.0

    def _gap(self, x: Array) -> Array:
        xp = array_namespace(x)
        return xp.maximum(1.0 - x[:, :1], xp.zeros_like(x[:, :1]))
