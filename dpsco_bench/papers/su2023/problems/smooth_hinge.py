"""A smooth hinge in one coordinate of the whole space, as flat as regularised mirror descent can just not climb."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.signal_family import SignalFamily

Array = Any
EXPONENTS = {"proof": 0.5, "theorem": 1.0}


@problem
class SmoothHinge(SignalFamily):
    """With ``v = (1 - x_1)_+``: ``F = v^2/2`` up to ``v = rho``, then ``rho v - rho^2/2``; L = beta = 1 in l_p.

    ``rho = min(1, signal * unit)``, with a unit that follows the regulariser alpha of Algorithm 3 at the cell:
    ``1/(2 (1/(k alpha) + 1/2))``. The loss has no data.

    Parameters
    ----------
    d : int
        Dimension, default 8, at least 2.
    p : float
        Norm of the constants, in (1, 2).
    norm_kappa : float, optional
        Gives p by ``1/(p - 1)``, for sweeps over it.
    horizon : str
        ``proof`` or ``theorem``: whose T the unit follows (erratum E6).
    signal : float
        Strength of the free signal, > 0, in these units.
    """

    name = "smooth_hinge"
    summary = "smooth hinge in one coordinate on the whole space, L = beta = 1 in l_p, with a free slope"
    source = "instance `smooth_hinge` for Su, Zhao, Wang 2023, Theorem 7"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    shares_records: ClassVar[bool] = True
    default_dimension: ClassVar[int] = 8
    reference: ClassVar[tuple[int, float, float]] = (1 << 28, 1.0, 1e-6)

    def __init__(
        self,
        d: int | None = None,
        p: float = 1.5,
        norm_kappa: float | None = None,
        horizon: str = "proof",
        signal: float = 1.0,
        constants: dict[str, float] | None = None,
    ) -> None:
        if norm_kappa is not None:
            if not norm_kappa > 1:
                raise InputError("norm_kappa", norm_kappa, "a number > 1")
            p = 1.0 + 1.0 / norm_kappa
        if isinstance(p, bool) or not isinstance(p, int | float) or not 1 < p < 2:
            raise InputError("p", p, "in (1, 2)", "Su, Zhao, Wang 2023, Theorem 7")
        if horizon not in EXPONENTS:
            raise InputError("horizon", horizon, " or ".join(EXPONENTS))
        self.p, self.horizon = float(p), horizon
        super().__init__(d, signal, constants)
        if self.dimension < 2:
            raise InputError("d", self.dimension, "an integer >= 2", self.name)

    @property
    def own_constants(self) -> Constants:
        """L = beta = 1 in l_p."""
        return Constants(1.0, 1.0, initial_gap=1.0, initial_distance=1.0, norm=self.p)

    @property
    def unit(self) -> float:
        """As above; 1 where Algorithm 3 has no alpha."""
        k = min(1.0 / (self.p - 1.0), 2.0 * math.log(self.dimension))
        T = max(1, round((self.signal_to_noise(self.dimension) * k ** EXPONENTS[self.horizon]) ** 0.4))
        alpha = 4.0 / T * math.log2(self.count / T)
        return 0.5 / (1.0 / (k * alpha) + 0.5) if alpha > 0 else 1.0

    def row_size(self, n: int) -> int:
        """A point."""
        return self.dimension

    def mean_gradient(self, x: Array, data: Any) -> Array:
        """``-min(v, rho)`` in the first coordinate."""
        xp = array_namespace(x)
        slope = -xp.minimum(self._gap(x), self.by_row(self.strengths, x))
        return xp.concat([slope, xp.zeros_like(x[:, 1:])], axis=1)

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Each selected record contributes the same gradient."""
        return array_namespace(x).sum(weights, axis=-1, keepdims=True) * self.mean_gradient(x, batch)

    def risk(self, x: Array, data: Any) -> Array:
        """The hinge, which has minimum 0."""
        xp = array_namespace(x)
        v, rho = self._gap(x)[:, 0], self.by_row(self.strengths, x)[:, 0]
        return xp.where(v <= rho, 0.5 * v * v, rho * v - 0.5 * rho * rho)

    def optimal_risk(self, data: Any) -> float:
        """Zero."""
        return 0.0

    def _gap(self, x: Array) -> Array:
        xp = array_namespace(x)
        return xp.maximum(1.0 - x[:, :1], xp.zeros_like(x[:, :1]))
