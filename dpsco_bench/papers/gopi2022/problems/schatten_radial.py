"""The Schatten norm on its own unit ball: the law of the draw is that of a radius in d1 d2 dimensions."""

from __future__ import annotations

import math
from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import checked_count
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.geometry.regulariser import NormRegulariser
from dpsco_bench.geometry.schatten import SchattenBall, as_matrices, matrix_rows, singular_values
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.problems.radial_norm import RadialNorm
from dpsco_bench.problems.registry import problem

Array = Any


@problem
class SchattenRadial(RadialNorm):
    """``f(x, s) = ||x - s||`` in the Schatten-p norm with all s = 0. Runs start at a matrix with one entry.

    Parameters
    ----------
    d : int
        Number of entries ``d1 d2``, default 12.
    p : float
        Norm of the loss and of the ball, in (1, 2], default 1.5.
    columns : int
        d2 of the matrices, at most d1 and a divisor of d; default 3.
    """

    name = "schatten_radial"
    summary = "Schatten distance from the centre of its own unit ball; empirical risk"
    source = "instance `schatten_radial` for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 5"
    default_dimension = 12

    def __init__(
        self,
        d: int | None = None,
        p: float = 1.5,
        columns: int = 3,
        constants: dict[str, float] | None = None,
    ) -> None:
        self.columns = checked_count("columns", columns)
        matrix_rows(self.default_dimension if d is None else checked_count("d", d), self.columns)
        super().__init__(d, p, constants)

    @property
    def domain(self) -> str:
        """Name of the ball."""
        return SchattenBall(self.p, self.columns, 1.0).name

    @property
    def regulariser(self) -> NormRegulariser:
        """R of the mechanism."""
        return NormRegulariser(self.p, self.columns, matrices=True)

    def mean_gradient(self, x: Array, data: Any) -> Array:
        """A subgradient of the norm, with the singular vectors of x; 0 at 0."""
        xp = array_namespace(x)
        left, values, right = xp.linalg.svd(as_matrices(x, self.columns), full_matrices=False)
        slopes = super().mean_gradient(values, data)
        return xp.reshape(xp.matmul(left * slopes[..., None, :], right), x.shape)

    def risk(self, x: Array, data: Any) -> Array:
        """The Schatten norm."""
        return lp_norm(singular_values(x, self.columns), self.p)[:, 0]

    def mean_excess(self, k: float, mu: float) -> float:
        """``E rho``, for 1 < p <= 2."""
        if math.isinf(k):
            return 0.0
        r = self.regulariser
        if r.q != self.p:
            return super(RadialNorm, self).mean_excess(k, mu)
        return RadialLaw(self.dimension, k, k * mu * r.coefficient).mean()
