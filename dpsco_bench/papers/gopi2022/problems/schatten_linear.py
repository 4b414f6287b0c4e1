"""A linear loss with one entry on the unit ball of a Schatten norm."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpsco_bench.errors import checked_count
from dpsco_bench.geometry.regulariser import NormRegulariser
from dpsco_bench.geometry.schatten import SchattenBall, matrix_rows
from dpsco_bench.papers.gopi2022.problems.regularised_law import SharedLinear, exponent
from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.registry import problem


@problem
class SchattenLinear(SharedLinear):
    """``f(x, s) = -<x, s>`` with all s the matrix ``e_1 e_1^T``, of any dual Schatten norm 1. No quadrature is known.

    Parameters
    ----------
    d : int
        Number of entries ``d1 d2``, default 12.
    p : float
        Norm of the ball, in [1, inf], default 1.
    columns : int
        d2 of the matrices, at most d1 and a divisor of d; default 3.
    """

    name = "schatten_linear"
    summary = "linear loss with one entry on the unit ball of a Schatten norm; empirical risk"
    source = "the linear loss for Gopi, Lee, Liu, Shen, Tian 2022, Corollary 5"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})
    default_dimension = 12
    algorithms: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        d: int | None = None,
        p: float | str = 1.0,
        columns: int = 3,
        constants: dict[str, float] | None = None,
    ) -> None:
        self.p, self.columns = exponent(p), checked_count("columns", columns)
        matrix_rows(self.default_dimension if d is None else checked_count("d", d), self.columns)
        super().__init__(d, constants)

    @property
    def slope(self) -> np.ndarray:
        """``e_1 e_1^T``, flattened."""
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
        """R of the mechanism."""
        return NormRegulariser(self.p, self.columns, matrices=True)

    def optimal_risk(self, data: object) -> float:
        """Minus one."""
        return -1.0
