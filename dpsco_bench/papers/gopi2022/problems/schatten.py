"""Losses on Schatten balls of matrices, of Gopi, Lee, Liu, Shen, Tian 2022."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.geometry.sets import SchattenBall, as_matrices, matrix_rows, singular_values
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.laws.schatten import SchattenLaw
from dpsco_bench.papers.gopi2022.problems.radial import RadialNorm
from dpsco_bench.papers.gopi2022.problems.regularised_law import SharedLinear
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.registry import problem


@problem
class SchattenLinear(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s the matrix ``e_1 e_1^T``, of any dual Schatten norm 1.

    The risk is known by importance sampling for finite p and at most 5 columns, to a stated standard error.
    """

    name = "schatten_linear"
    summary = "linear loss with one entry on the unit ball of a Schatten norm; empirical risk"
    source = "the linear loss for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 5"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})
    default_dimension = 12
    algorithms: ClassVar[tuple[str, ...]] = ("gopi2022.reg_exp_mech",)
    closed_form_error: ClassVar[float] = 2.5e-3
    closed_form_remark: ClassVar[str] = "importance sampling of the target law, good to 0.25 %; nothing is released"
    p: float = option(1.0, "norm of the ball; the law is known for finite p", within="[1, inf]")
    columns: int = option(3, "d2 of the matrices, a divisor of d, at most as many as rows", within="[1, inf)")

    def prepare(self) -> None:
        """Check that the entries fill the columns."""
        super().prepare()
        matrix_rows(self.dimension, self.columns)

    @property
    def slope(self) -> np.ndarray:
        return np.eye(1, self.dimension)[0]

    @property
    def own_constants(self) -> Constants:
        """G = 1 in the Schatten norm, S = 2, D = 2."""
        ball = SchattenBall(self.p, self.columns, 1.0)
        distance = 0.5 * ball.euclidean_diameter(self.dimension)
        return Constants(
            1.0,
            0.0,
            initial_distance=distance,
            diameter=2.0,
            norm=self.p,
            hessian_rank=0.0,
            domain=ball.name,
            losses="linear",
        )

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.columns, matrices=True)

    def optimal_risk(self, data: object) -> float:
        return -1.0

    def mean_excess(self, k: float, mu: float) -> float:
        """``E[1 - x_11]``. Raises InputError if its relative standard error is above `closed_form_error`."""
        r = self.regulariser
        if math.isinf(k):
            return max(0.0, 1.0 - 0.5 / (mu * r.coefficient)) if mu > 0 else 0.0
        rows = matrix_rows(self.dimension, self.columns)
        law = SchattenLaw(rows, self.columns, self.p, r.q, k, k * mu * r.coefficient)
        return certified(k, law.mean_gap(), law.mean_gap_error(), self.closed_form_error)


Array = Any


def certified(k: float, value: float, error: float, limit: float) -> float:
    """Return a risk whose relative error is at most ``limit``. Raises InputError for another."""
    if error > limit * value:
        raise InputError(
            "k", f"{k:.3g}", f"so large that the risk, {value:.3g} +- {error:.1g}, is known to {limit:.2g}"
        )
    return value


@problem
class SchattenRadial(RadialNorm):
    """``f(x, s) = ||x - s||`` in the Schatten-p norm with all s = 0. Runs start at a matrix with one entry.

    For p = 1 and p > 2 the regulariser is of another norm: the risk is the middle of what its least and its largest
    value on the sphere make of the law of the radius, which decreases in that value.
    """

    name = "schatten_radial"
    summary = "Schatten distance from the centre of its own unit ball; empirical risk"
    source = "instance `schatten_radial` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 5"
    default_dimension = 12
    closed_form_error: ClassVar[float] = 1e-4
    p: float = option(1.5, "norm of the loss and of the ball")
    columns: int = option(3, "d2 of the matrices, a divisor of d, at most as many as rows", within="[1, inf)")

    def prepare(self) -> None:
        """Check that the entries fill the columns."""
        super().prepare()
        matrix_rows(self.dimension, self.columns)

    @property
    def domain(self) -> str:
        return SchattenBall(self.p, self.columns, 1.0).name

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.columns, matrices=True)

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
