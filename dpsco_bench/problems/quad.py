"""A quadratic loss on the unit l2 ball about noisy targets: strongly convex, without a free signal."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.direction_losses import DirectionLosses
from dpsco_bench.problems.registry import problem

TARGET = 0.3
"""Distance of the mean target from the origin."""


@problem
class Quad(DirectionLosses):
    """``f(x, z) = (mu/2) ||x - z||^2`` over the unit l2 ball, ``z = 0.3 u + a Rad/sqrt(d)``; the optimum is 0.3 u.

    G = mu (1.3 + a), H = mu = Delta (the gauge is the l2 norm), sigma_H = 0, sigma_G = mu a, S = 2 mu (0.3 + a); the
    excess is ``(mu/2) ||x - 0.3 u||^2``. Up to a constant this is ``<-mu z, x> + (mu/2) ||x||^2``, and -z has the law
    of z with -u for u.
    """

    name = "quad"
    summary = "squared distance from noisy targets on the unit l2 ball; population risk"
    source = "instance `quad` for Zhang, Tran, Cutkosky 2022"
    default_dimension: ClassVar[int] = 8
    signal_option: ClassVar[str] = ""
    signal = TARGET
    curvature: float = option(1.0, "modulus of strong convexity", within="(0, inf)", key="mu")
    spread = option(0.0, "a: root mean square of the targets about their mean")

    @property
    def traits(self) -> frozenset[Trait]:  # type: ignore[override]
        """Strongly convex besides."""
        return super().traits | {Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ}

    @property
    def strengths(self) -> np.ndarray:
        return self.curvature * self.signals

    def sample(self, n: int, draws: Any) -> Any:
        sample = super().sample(n, draws)
        sample.spread = self.curvature * self.spread
        return sample

    def with_signals(self, values: np.ndarray) -> None:
        return

    @property
    def own_constants(self) -> Constants:
        """See the class."""
        mu, a = self.curvature, self.spread
        return Constants(
            mu * (1.0 + TARGET + a),
            mu,
            strong_convexity=mu,
            gauge_convexity=mu,
            initial_gap=0.5 * mu * TARGET**2,
            initial_distance=TARGET,
            diameter=2.0,
            gradient_deviation=mu * a,
            gradient_range=2.0 * mu * (TARGET + a),
            loss_range=2.0 * mu * (TARGET + a),
            hessian_rank=0.0,
            domain="l2_ball",
            losses="quadratic",
        )
