"""Quadratic losses on the unit l2 ball: strongly convex records, all at the centre or uniform on a sphere."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.problems.regularised_law import RegularisedLaw
from dpsco_bench.problems.base import Constants, Data, StreamFactory, option
from dpsco_bench.problems.families import CellFamily
from dpsco_bench.problems.quadratic import MEAN_TRAITS
from dpsco_bench.problems.registry import problem

Array = Any
RECORDS = ("centre", "sphere")
INTERIOR = 0.25
"""Largest d/k for which the law is taken for a Gaussian: the boundary is then sqrt(1/INTERIOR) radii away."""


@problem
class QuadraticBall(RegularisedLaw, CellFamily):
    """``f(x, s) = (mu/2) ||x - s||_2^2`` with s in the ball of radius rho; mu = rho = 1. Runs start at ``e_1``.

    With rho = 1/mu it is ``(mu/2) ||x||^2 - <x, mu s>`` up to a constant: linear losses and a curvature.
    """

    name = "quadratic_ball"
    summary = "quadratic losses on the unit l2 ball, records at its centre or on a sphere"
    source = "instance `quadratic_ball` for Gopi, Lee, Liu, Shen, Tian 2022, Theorems 5 and 6"
    traits = MEAN_TRAITS
    has_loss_values: ClassVar[bool] = True
    algorithms: ClassVar[tuple[str, ...]] = ("gopi2022.exp_mech_sc",)
    default_dimension = 4
    placement: str = option(
        "centre",
        "centre: all s = 0, empirical risk; sphere: s uniform on the sphere of rho, population risk",
        choices=RECORDS,
        key="records",
    )
    convexity: float = option(1.0, "mu, of every record", within="(0, inf)", key="strong_convexity")
    reach: float = option(1.0, "rho, the largest norm of a record", within="(0, inf)")

    @property
    def own_constants(self) -> Constants:
        """``G = mu (1 + rho)`` and ``S = 2 mu rho``: equal where the records fill the ball, rho = 1."""
        mu, lipschitz = self.convexity, self.convexity * (1.0 + self.reach)
        return Constants(
            lipschitz,
            mu,
            strong_convexity=mu,
            initial_gap=2.0 * mu,
            initial_distance=2.0,
            diameter=2.0,
            gradient_range=2.0 * mu * self.reach,
            loss_range=2.0 * mu * self.reach,
            hessian_rank=0.0,
            domain="l2_ball",
            losses="quadratic",
        )

    @property
    def start(self) -> np.ndarray:
        """``e_1``: the centre is the optimum."""
        return np.eye(1, self.dimension)[0]

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Draw records on the sphere, or put a number of them at the centre."""
        if self.placement == "centre":
            return Data(n)
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        return Data(n, self.reach * rows / np.linalg.norm(rows, axis=1, keepdims=True), np.zeros(n))

    @property
    def shares_records(self) -> bool:  # type: ignore[override]
        """Check that all records are at the centre."""
        return self.placement == "centre"

    @property
    def population(self) -> bool:  # type: ignore[override]
        """Check that records are random."""
        return self.placement == "sphere"

    @property
    def isotropic_curvature(self) -> float:
        return self.convexity

    def mean_gradient(self, x: Array, data: Any) -> Array:
        """``mu (x - s)``, s the mean record."""
        if data.features is None:
            return self.convexity * x
        xp = array_namespace(x)
        return self.convexity * (x - xp.asarray(xp.mean(data.features, axis=0), dtype=x.dtype))

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Weighted sum of ``mu (x - s_i)``."""
        xp = array_namespace(x)
        total = xp.sum(weights, axis=-1, keepdims=True) * x
        if batch.features is not None:
            total = total - xp.matmul(weights[:, None, :], batch.features)[:, 0, :]
        return self.convexity * total

    def batch_losses(self, x: Array, data: Any, indices: Array) -> Array:
        """``(mu/2) ||x||^2 - mu <x, s>`` of records ``indices (R, W)``."""
        xp = array_namespace(x)
        own = 0.5 * xp.sum(x * x, axis=-1)[:, None] + 0.0 * xp.astype(indices, x.dtype)
        if data.features is None:
            return self.convexity * own
        rows = self.gather(data, indices).features
        return self.convexity * (own - xp.matmul(rows, x[:, :, None])[:, :, 0])

    def risk(self, x: Array, data: Any) -> Array:
        """``(mu/2) ||x||^2``, up to the variance of the records."""
        return 0.5 * self.convexity * array_namespace(x).sum(x * x, axis=-1)

    def optimal_risk(self, data: Any) -> float:
        return 0.0

    def domain_records(self, count: int, seed: int) -> Data:
        """Points of the sphere of rho, opposite ones first."""
        rows = np.random.default_rng(seed).standard_normal((count, self.dimension))
        rows[:4] = np.repeat(np.eye(2, self.dimension), 2, axis=0)[:count]
        rows[1:4:2] *= -1.0
        return Data(count, self.reach * rows / np.linalg.norm(rows, axis=1, keepdims=True), np.zeros(count))

    def mean_excess(self, k: float, mu: float) -> float:
        """``(mu/2) E ||x||^2``; for random records ``mu rho^2/(2n) + d/(2k)``, of a Gaussian inside the ball."""
        if self.placement == "centre":
            second = 0.0 if math.isinf(k) else RadialLaw(self.dimension, 0.0, 0.5 * k * self.convexity).second_moment()
            return 0.5 * self.convexity * second
        spread = 0.0 if math.isinf(k) else self.dimension / k
        if spread > INTERIOR * self.convexity:
            raise InputError("d/k", spread, f"at most {INTERIOR:g} mu, where the law does not feel the boundary")
        if self.reach**2 > INTERIOR * self.count:
            raise InputError("reach", self.reach, f"at most sqrt(n)/{INTERIOR**-0.5:g}, a mean record inside the ball")
        return 0.5 * self.convexity * self.reach**2 / self.count + 0.5 * spread
