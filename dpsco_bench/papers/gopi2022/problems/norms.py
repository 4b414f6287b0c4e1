"""Losses of a norm alone, on Schatten balls of matrices, and quadratic ones, of Gopi et al. 2022."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import l2_norm, lp_norm
from dpsco_bench.geometry.sets import SchattenBall, as_matrices, matrix_rows, singular_values
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw, SchattenLaw, cone_norms
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser, RegularisedLaw, SharedLinear
from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.families import CellFamily
from dpsco_bench.problems.quadratic import MEAN_TRAITS
from dpsco_bench.problems.registry import problem

Array = Any
SHIFTS = 64
"""Deviations at which the tail is compared, geometric from a thousandth of the largest possible one."""
INTERIOR = 0.25
"""Largest d/k for which the law is taken for a Gaussian: the boundary is then sqrt(1/INTERIOR) radii away."""


class Centred(RegularisedLaw):
    """A problem whose optimum is the centre, so that runs start at ``e_1``."""

    default_dimension = 4

    @property
    def start(self) -> np.ndarray:
        """``e_1``: the centre is the optimum."""
        return np.eye(1, self.dimension)[0]

    def optimal_risk(self, data: Any) -> float:
        return 0.0


@problem
class RadialNorm(Centred):
    """``f(x, s) = ||x - s||_p`` with all s = 0, of a domain that is the unit l_p ball. Runs start at ``e_1``."""

    name = "radial_norm"
    summary = "l_p distance from the centre of the unit l_p ball; empirical risk"
    source = "instance `radial_norm` for Gopi, Lee, Liu, Shen, Tian 2022, Corollaries 2 to 4"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ})
    shares_records: ClassVar[bool] = True
    p: float = option(1.5, "norm of the loss and of the ball", within="[1, inf]")

    @property
    def own_constants(self) -> Constants:
        """G = 1 in l_p, S = 2, D = 2; there is no smoothness constant."""
        return Constants(1.0, 0.0, initial_distance=1.0, diameter=2.0, norm=self.p, domain=self.domain, losses="norm")

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

    def mean_excess(self, k: float, mu: float) -> float:
        """``E rho``; where r is of another norm, averaged over directions."""
        if math.isinf(k):
            return 0.0
        r, weight = self.regulariser, k * mu * self.regulariser.coefficient
        if r.q == self.p:
            return RadialLaw(self.dimension, k, weight).mean()
        return RadialLaw(self.dimension, k, weight * cone_norms(self.p, self.dimension, r.q) ** 2).mean()


@problem
class RadialTail(RadialNorm):
    """`RadialNorm` for 1 < p <= 2, and the tail of the loss of a draw."""

    name = "radial_tail"
    summary = "l_p distance from the centre of the unit l_p ball: tail of the loss of the draw"
    source = "instance `radial_norm` for Gopi, Lee, Liu, Shen, Tian 2022, Lemma 5"
    p: float = option(2.0, within="(1, 2]")

    def law_extras(self, k: float, mu: float) -> dict[str, float]:
        """``tail_ratio``: largest ``P(l - E l >= s) exp(s^2 k mu/2)`` over s."""
        law = RadialLaw(self.dimension, k, k * mu * self.regulariser.coefficient)
        shifts = (1.0 - law.mean()) * np.geomspace(1e-3, 0.999, SHIFTS)
        return {"tail_ratio": max(law.tail(float(s)) * math.exp(0.5 * k * mu * s * s) for s in shifts)}


@problem
class NormPlusQuadratic(Centred):
    """``f(x, s) = ||x - s||_2 + (mu/2) ||x||_2^2`` with all s = 0, of the unit ball; mu = 1. Runs start at ``e_1``."""

    name = "norm_plus_quadratic"
    summary = "l2 distance from the centre plus a quadratic on the unit l2 ball; empirical risk"
    source = "instance `norm_plus_quadratic` for Gopi, Lee, Liu, Shen, Tian 2022, Theorem 5"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ})
    shares_records: ClassVar[bool] = True
    algorithms: ClassVar[tuple[str, ...]] = ("gopi2022.exp_mech_sc",)
    convexity: float = option(1.0, "mu, of every record", within="(0, inf)", key="strong_convexity")

    @property
    def own_constants(self) -> Constants:
        """``G = 1 + mu``, ``S = 2``; there is no smoothness constant."""
        mu = self.convexity
        start: Options = dict(initial_gap=1.0 + 0.5 * mu, initial_distance=1.0)
        ranges: Options = dict(diameter=2.0, gradient_range=2.0, loss_range=2.0)
        return Constants(
            1.0 + mu, 0.0, strong_convexity=mu, **start, **ranges, domain="l2_ball", losses="norm_quadratic"
        )

    def mean_gradient(self, x: Array, data: Any) -> Array:
        xp, size = array_namespace(x), l2_norm(x)
        return x / xp.where(size > 0, size, xp.ones_like(size)) + self.convexity * x

    def risk(self, x: Array, data: Any) -> Array:
        size = l2_norm(x)[:, 0]
        return size + 0.5 * self.convexity * size * size

    def mean_excess(self, k: float, mu: float) -> float:
        if math.isinf(k):
            return 0.0
        law = RadialLaw(self.dimension, k, 0.5 * k * self.convexity)
        return law.mean() + 0.5 * self.convexity * law.second_moment()


class OnMatrices(RegularisedLaw):
    """A problem on the unit ball of a Schatten norm."""

    default_dimension = 12
    columns: int = option(3, "d2 of the matrices, a divisor of d, at most as many as rows", within="[1, inf)")

    def prepare(self) -> None:
        super().prepare()
        matrix_rows(self.dimension, self.columns)

    @property
    def domain(self) -> str:
        return SchattenBall(self.p, self.columns, 1.0).name

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.columns, matrices=True)


@problem
class SchattenLinear(OnMatrices, SharedLinear):
    """``f(x, s) = -<x, s>`` with all s the matrix ``e_1 e_1^T``, of any dual Schatten norm 1.

    The risk is known by importance sampling for finite p and at most 5 columns, to a stated standard error.
    """

    name = "schatten_linear"
    summary = "linear loss with one entry on the unit ball of a Schatten norm; empirical risk"
    source = "the linear loss for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 5"
    algorithms: ClassVar[tuple[str, ...]] = ("gopi2022.reg_exp_mech",)
    closed_form_error: ClassVar[float] = 2.5e-3
    closed_form_remark: ClassVar[str] = "importance sampling of the target law, good to 0.25 %; nothing is released"
    p: float = option(1.0, "norm of the ball; the law is known for finite p", within="[1, inf]")

    def mean_excess(self, k: float, mu: float) -> float:
        """``E[1 - x_11]``. Raises InputError if its relative standard error is above `closed_form_error`."""
        r = self.regulariser
        if math.isinf(k):
            return max(0.0, 1.0 - 0.5 / (mu * r.coefficient)) if mu > 0 else 0.0
        rows = matrix_rows(self.dimension, self.columns)
        law = SchattenLaw(rows, self.columns, self.p, r.q, k, k * mu * r.coefficient)
        return certified(k, *law.mean_gap(), self.closed_form_error)


def certified(k: float, value: float, error: float, limit: float) -> float:
    """Return a risk whose relative error is at most ``limit``. Raises InputError for another."""
    if error > limit * value:
        allowed = f"so large that the risk, {value:.3g} +- {error:.1g}, is known to {limit:.2g}"
        raise InputError("k", f"{k:.3g}", allowed)
    return value


@problem
class SchattenRadial(OnMatrices, RadialNorm):
    """``f(x, s) = ||x - s||`` in the Schatten-p norm with all s = 0. Runs start at a matrix with one entry.

    For p = 1 and p > 2 the regulariser is of another norm: the risk is the middle of what its least and its largest
    value on the sphere make of the law of the radius, which decreases in that value.
    """

    name = "schatten_radial"
    summary = "Schatten distance from the centre of its own unit ball; empirical risk"
    source = "instance `schatten_radial` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 5"
    closed_form_error: ClassVar[float] = 1e-4
    p: float = option(1.5, "norm of the loss and of the ball")

    def mean_gradient(self, x: Array, data: Any) -> Array:
        """Compute a subgradient of the norm, with the singular vectors of x; 0 at 0."""
        xp = array_namespace(x)
        left, values, right = xp.linalg.svd(as_matrices(x, self.columns), full_matrices=False)
        slopes = super().mean_gradient(values, data)
        return xp.reshape(xp.matmul(left * slopes[..., None, :], right), x.shape)

    def risk(self, x: Array, data: Any) -> Array:
        return lp_norm(singular_values(x, self.columns), self.p)[:, 0]

    def mean_excess(self, k: float, mu: float) -> float:
        if math.isinf(k):
            return 0.0
        r, power = self.regulariser, 0.0 if math.isinf(self.p) else 1.0 / self.p
        weight, other = k * mu * r.coefficient, float(self.columns) ** (2.0 / r.q - 2.0 * power)  # 1 where p = q
        ends = [RadialLaw(self.dimension, k, weight * curvature).mean() for curvature in (1.0, other)]
        return certified(k, 0.5 * sum(ends), 0.5 * abs(ends[0] - ends[1]), self.closed_form_error)


@problem
class QuadraticBall(Centred, CellFamily):
    """``f(x, s) = (mu/2) ||x - s||_2^2`` with s in the ball of radius rho; mu = rho = 1. Runs start at ``e_1``.

    With rho = 1/mu it is ``(mu/2) ||x||^2 - <x, mu s>`` up to a constant: linear losses and a curvature.
    """

    name = "quadratic_ball"
    summary = "quadratic losses on the unit l2 ball, records at its centre or on a sphere"
    source = "instance `quadratic_ball` for Gopi, Lee, Liu, Shen, Tian 2022, Theorems 5 and 6"
    traits = MEAN_TRAITS
    has_loss_values: ClassVar[bool] = True
    algorithms: ClassVar[tuple[str, ...]] = ("gopi2022.exp_mech_sc",)
    placement: str = option(
        "centre",
        "centre: all s = 0, empirical risk; sphere: s uniform on the sphere of rho, population risk",
        choices=("centre", "sphere"),
        key="records",
    )
    convexity: float = option(1.0, "mu, of every record", within="(0, inf)", key="strong_convexity")
    reach: float = option(1.0, "rho, the largest norm of a record", within="(0, inf)")

    @property
    def own_constants(self) -> Constants:
        """``G = mu (1 + rho)`` and ``S = 2 mu rho``: equal where the records fill the ball, rho = 1."""
        mu, spread = self.convexity, 2.0 * self.convexity * self.reach
        start: Options = dict(initial_gap=2.0 * mu, initial_distance=2.0, diameter=2.0)
        ranges: Options = dict(gradient_range=spread, loss_range=spread, hessian_rank=0.0)
        known: Options = dict(strong_convexity=mu, domain="l2_ball", losses="quadratic")
        return Constants(mu * (1.0 + self.reach), mu, **start, **ranges, **known)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Draw records on the sphere, or put a number of them at the centre."""
        if self.placement == "centre":
            return Data(n)
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        return Data(n, self.reach * rows / np.linalg.norm(rows, axis=1, keepdims=True), np.zeros(n))

    @property
    def shares_records(self) -> bool:  # type: ignore[override]
        return self.placement == "centre"

    @property
    def population(self) -> bool:  # type: ignore[override]
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
