"""Losses of the norm alone, of Gopi, Lee, Liu, Shen, Tian 2022."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.norms import l2_norm, lp_norm
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw, cone_norms
from dpsco_bench.papers.gopi2022.problems.regularised_law import RegularisedLaw
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.linear import ball_name
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
        """Compute a subgradient of the norm; 0 at 0."""
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


SHIFTS = 64
"""Deviations at which the tail is compared, geometric from a thousandth of the largest possible one."""


@problem
class RadialTail(RadialNorm):
    """`RadialNorm` for 1 < p <= 2, and the tail of the loss of a draw."""

    name = "radial_tail"
    summary = "l_p distance from the centre of the unit l_p ball: tail of the loss of the draw"
    source = "instance `radial_norm` for Gopi, Lee, Liu, Shen, Tian 2022, Lemma 5"
    p: float = option(2.0, within="(1, 2]")

    def expected_extras(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> dict[str, float]:
        """``tail_ratio``: largest ``P(l - E l >= s) exp(s^2 k mu/2)`` over s; none without noise."""
        (scale,) = scales.values()
        if scale == 0.0:
            return {}
        k, mu = Temperature.of(schedule).at(scale)
        law = RadialLaw(self.dimension, k, k * mu * self.regulariser.coefficient)
        shifts = (1.0 - law.mean()) * np.geomspace(1e-3, 0.999, SHIFTS)
        return {"tail_ratio": max(law.tail(float(s)) * math.exp(0.5 * k * mu * s * s) for s in shifts)}


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
