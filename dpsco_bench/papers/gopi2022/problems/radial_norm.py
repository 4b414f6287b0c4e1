"""The distance from the centre of the unit l_p ball, in its own norm: the law of the draw is that of a radius."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.papers.gopi2022.laws.cone import cone_norms
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.problems.regularised_law import RegularisedLaw
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.linear_losses import ball_name
from dpsco_bench.problems.registry import problem

Array = Any


@problem
class RadialNorm(RegularisedLaw):
    """``f(x, s) = ||x - s||_p`` with all s = 0, of a domain that is the unit l_p ball. Runs start at ``e_1``."""

    name = "radial_norm"
    summary = "l_p distance from the centre of the unit l_p ball; empirical risk"
    source = "instance `radial_norm` for Gopi, Lee, Liu, Shen, Tian 2022, Corollaries 2 to 4"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ})
    shares_records: ClassVar[bool] = True
    default_dimension = 4
    p: float = option(1.5, "norm of the loss and of the ball", within="[1, inf]")

    @property
    def own_constants(self) -> Constants:
        """G = 1 in l_p, S = 2, D = 2; there is no smoothness constant."""
        return Constants(1.0, 0.0, initial_distance=1.0, diameter=2.0, norm=self.p, domain=self.domain, losses="norm")

    @property
    def domain(self) -> str:
        return ball_name(self.p)

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.dimension)

    @property
    def start(self) -> np.ndarray:
        """``e_1``: the centre is the optimum."""
        return np.eye(1, self.dimension)[0]

    def row_size(self, n: int) -> int:
        return self.dimension

    def mean_gradient(self, x: Array, data: Any) -> Array:
        """A subgradient of the norm; 0 at 0."""
        xp, size = array_namespace(x), lp_norm(x, self.p)
        unit = x / xp.where(size > 0, size, xp.ones_like(size))
        if math.isinf(self.p):
            first = xp.cumulative_sum(xp.astype(xp.abs(unit) == 1.0, x.dtype), axis=-1)
            return xp.where(first == 1.0, xp.sign(unit), xp.zeros_like(unit)) * (xp.abs(unit) == 1.0)
        return xp.sign(unit) * xp.abs(unit) ** (self.p - 1.0)

    def risk(self, x: Array, data: Any) -> Array:
        return lp_norm(x, self.p)[:, 0]

    def optimal_risk(self, data: Any) -> float:
        return 0.0

    def mean_excess(self, k: float, mu: float) -> float:
        """``E rho``; where r is of another norm, averaged over directions."""
        if math.isinf(k):
            return 0.0
        r, weight = self.regulariser, k * mu * self.regulariser.coefficient
        if r.q == self.p:
            return RadialLaw(self.dimension, k, weight).mean()
        return RadialLaw(self.dimension, k, weight * cone_norms(self.p, self.dimension, r.q) ** 2).mean()
