"""A distance plus a fixed quadratic on the unit l2 ball: strongly convex records that attain the bound."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.norms import l2_norm
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.problems.regularised_law import RegularisedLaw
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.registry import problem

Array = Any


@problem
class NormPlusQuadratic(RegularisedLaw):
    """``f(x, s) = ||x - s||_2 + (mu/2) ||x||_2^2`` with all s = 0, of the unit ball; mu = 1. Runs start at ``e_1``."""

    name = "norm_plus_quadratic"
    summary = "l2 distance from the centre plus a quadratic on the unit l2 ball; empirical risk"
    source = "instance `norm_plus_quadratic` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 5"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ})
    shares_records: ClassVar[bool] = True
    algorithms: ClassVar[tuple[str, ...]] = ("gopi2022.exp_mech_sc",)
    default_dimension = 4
    convexity: float = option(1.0, "mu, of every record", within="(0, inf)", key="strong_convexity")

    @property
    def own_constants(self) -> Constants:
        """``G = 1 + mu``, ``S = 2``; there is no smoothness constant."""
        mu = self.convexity
        return Constants(
            1.0 + mu,
            0.0,
            strong_convexity=mu,
            initial_gap=1.0 + 0.5 * mu,
            initial_distance=1.0,
            diameter=2.0,
            gradient_range=2.0,
            loss_range=2.0,
            domain="l2_ball",
            losses="norm_quadratic",
        )

    @property
    def start(self) -> np.ndarray:
        """``e_1``: the centre is the optimum."""
        return np.eye(1, self.dimension)[0]

    def row_size(self, n: int) -> int:
        return self.dimension

    def mean_gradient(self, x: Array, data: Any) -> Array:
        xp, size = array_namespace(x), l2_norm(x)
        return x / xp.where(size > 0, size, xp.ones_like(size)) + self.convexity * x

    def risk(self, x: Array, data: Any) -> Array:
        size = l2_norm(x)[:, 0]
        return size + 0.5 * self.convexity * size * size

    def optimal_risk(self, data: Any) -> float:
        return 0.0

    def mean_excess(self, k: float, mu: float) -> float:
        if math.isinf(k):
            return 0.0
        law = RadialLaw(self.dimension, k, 0.5 * k * self.convexity)
        return law.mean() + 0.5 * self.convexity * law.second_moment()
