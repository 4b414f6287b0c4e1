"""The square of a smooth norm as objective: at its minimiser the risk of a noisy point is the noise's second moment."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.geometry.norms import RULES, SmoothNorm, lp_norm, square_gradient
from dpsco_bench.problems.base import Constants, Data, Problem, Trait, option
from dpsco_bench.problems.registry import problem

Array = Any


@problem
class SquaredNorm(Problem):
    """``F(x) = ||x||_r^2`` for every record, with the start at the minimiser, the origin."""

    name = "squared_norm"
    summary = "the squared smooth norm as an oracle; risk of the generalised Gaussian is its second moment"
    source = "second moment of Bassily, Guzman, Nandi 2021, Proposition 8"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ})
    shares_records = True
    default_dimension = 8
    p: float = option(1.5, "r is the exponent of the smooth norm for l_p", within="[1, 2]")
    norm_rule: str = option("best", "how r is chosen", choices=RULES)

    @cached_property
    def smooth(self) -> SmoothNorm:
        """Norm."""
        return SmoothNorm(self.p, self.dimension, self.norm_rule)

    @property
    def own_constants(self) -> Constants:
        """L0 = 1 declared, true near the origin only; the Euclidean smoothness 2 (r - 1)."""
        return Constants(1.0, 2.0 * self.smooth.kappa_plus, norm=self.smooth.p, status="nominal")

    def mean_gradient(self, x: Array, data: Data) -> Array:
        """``2 ||x||_r^(2 - r) |x|^(r - 1) sign x``."""
        return square_gradient(x, self.smooth.r, 2.0)

    def risk(self, x: Array, data: Data) -> Array:
        return lp_norm(x, self.smooth.r)[..., 0] ** 2

    def beside(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        """First and fourth power of the norm."""
        norm = lp_norm(x, self.smooth.r)[..., 0]
        return {"norm": norm, "fourth_power": norm**4}

    def optimal_risk(self, data: Data) -> float:
        return 0.0
