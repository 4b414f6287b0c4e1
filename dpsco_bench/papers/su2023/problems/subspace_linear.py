"""The linear oracle on a unit ball of a coordinate subspace, whose Gaussian width is that of the subspace."""

from __future__ import annotations

from dpsco_bench.papers.su2023.problems.pointmass_linear import PointmassLinear
from dpsco_bench.problems.base import option
from dpsco_bench.problems.registry import problem


@problem
class SubspaceLinear(PointmassLinear):
    """`PointmassLinear` on ``{||x||_2 <= 1, x_j = 0 for j > k}``."""

    name = "subspace_linear"
    summary = "linear oracle over the unit ball of a coordinate subspace, with a free signal"
    source = "instance `subspace_linear` for Su, Zhao, Wang 2023, Theorem 2"
    default_dimension = 1024
    domain = "subspace_ball"
    size: int = option(2, "k")
