"""Mean estimation with all records at a sparse vertex of a unit set: the optimum lies on the boundary."""

from __future__ import annotations

from dpsco_bench.problems.mean_loss import MeanOracle
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import sparse_vertex, unit_set


@problem
class BoundaryMean(MeanOracle):
    """``F(x) = ||x - u||^2/2`` over a unit set with u its sparse vertex.

    Parameters
    ----------
    d : int
        Dimension, default 256.
    domain : str
        ``l1_ball``, ``l2_ball``, ``k_support_ball``, ``group_ball`` or ``subspace_ball``.
    size : int
        k of a k-support or subspace ball, block size of a group ball; None for the others. The number of ones
        in u for a k-support ball.
    """

    name = "boundary_mean"
    summary = "mean estimation oracle whose optimum is a sparse vertex of a unit set"
    source = "instance `boundary_mean` for Su, Zhao, Wang 2023, Theorems 4 and 5"
    default_dimension = 256

    def __init__(
        self,
        d: int | None = None,
        domain: str = "l2_ball",
        size: int | None = None,
        constants: dict[str, float] | None = None,
    ) -> None:
        dimension = self.default_dimension if d is None else d
        self.set, self.record = unit_set(domain, size, dimension), sparse_vertex(domain, size, dimension)
        super().__init__(d, constants)
