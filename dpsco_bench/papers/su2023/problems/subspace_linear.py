"""The linear oracle on a unit ball of a coordinate subspace, whose Gaussian width is that of the subspace."""

from __future__ import annotations

from dpsco_bench.papers.su2023.problems.pointmass_linear import PointmassLinear
from dpsco_bench.problems.registry import problem


@problem
class SubspaceLinear(PointmassLinear):
    """`PointmassLinear` on ``{||x||_2 <= 1, x_j = 0 for j > k}``.

    Parameters
    ----------
    d : int
        Dimension, default 1024.
    size : int
        k.
    signal : float
        rho in (0, 1]: strength of the free signal.
    """

    name = "subspace_linear"
    summary = "linear oracle over the unit ball of a coordinate subspace, with a free signal"
    source = "instance `subspace_linear` for Su, Zhao, Wang 2023, Theorem 2"
    default_dimension = 1024

    def __init__(
        self, d: int | None = None, size: int = 2, signal: float = 1.0, constants: dict[str, float] | None = None
    ) -> None:
        super().__init__(d, "subspace_ball", size, signal, constants)
