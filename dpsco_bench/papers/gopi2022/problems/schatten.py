"""Losses on Schatten balls of matrices, of Gopi, Lee, Liu, Shen, Tian 2022."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.geometry.schatten import SchattenBall, as_matrices, matrix_rows, singular_values
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.problems.radial import RadialNorm
from dpsco_bench.papers.gopi2022.problems.regularised_law import SharedLinear
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.base import Constants, Trait, option
from dpsco_bench.problems.registry import problem


@problem
class SchattenLinear(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s the matrix ``e_1 e_1^T``, of any dual Schatten norm 1; no quadrature known."""

    name = "schatten_linear"
    summary = "linear loss with one entry on the unit ball of a Schatten norm; empirical risk"
    source = "the linear loss for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 5"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})
    default_dimension = 12
    algorithms: ClassVar[tuple[str, ...]] = ()
    p: float = option(1.0, "norm of the ball", within="[1, inf]")
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


Array = Any


@problem
class SchattenRadial(RadialNorm):
    """``f(x, s) = ||x - s||`` in the Schatten-p norm with all s = 0. Runs start at a matrix with one entry."""

    name = "schatten_radial"
    summary = "Schatten distance from the centre of its own unit ball; empirical risk"
    source = "instance `schatten_radial` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 5"
    default_dimension = 12
    p: float = option(1.5, "norm of the loss and of the ball; the law is known for 1 < p <= 2")
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
        """A subgradient of the norm, with the singular vectors of x; 0 at 0."""
        xp = array_namespace(x)
        left, values, right = xp.linalg.svd(as_matrices(x, self.columns), full_matrices=False)
        slopes = super().mean_gradient(values, data)
        return xp.reshape(xp.matmul(left * slopes[..., None, :], right), x.shape)

    def risk(self, x: Array, data: Any) -> Array:
        return lp_norm(singular_values(x, self.columns), self.p)[:, 0]

    def mean_excess(self, k: float, mu: float) -> float:
        if math.isinf(k):
            return 0.0
        r = self.regulariser
        if r.q != self.p:
            return super(RadialNorm, self).mean_excess(k, mu)
        return RadialLaw(self.dimension, k, k * mu * r.coefficient).mean()
