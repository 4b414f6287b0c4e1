"""Records at the corners of a cube, evenly spread means on the l1 ball, and the square of a smooth norm."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import RULES, SmoothNorm, lp_norm, square_gradient
from dpsco_bench.geometry.polytope import Polytope
from dpsco_bench.problems.base import Constants, Data, Draws, Problem, Trait, option
from dpsco_bench.problems.linear import LinearSample, Onehot, linear_constants, signed
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.signs import Cube, SignsL1, last_laplace_scale

Array = Any


@problem
class CubeFixed(Cube):
    """Column j has ``k = round(n (1 + tau)/2)`` pluses in rows ``(i + floor(j n/d)) mod n``; empirical risk.

    It stands in for the paper's hard data set, a fingerprinting code, which is not constructive.
    """

    name = "cube_fixed"
    summary = "linear losses with a fixed pattern of signs on the unit l_p ball, 1 < p <= 2; empirical risk"
    source = "instance `cube_fixed` for Bassily, Guzman, Nandi 2021, Theorems 10 and 19"
    population: ClassVar[bool] = False
    unit_name = option("empirical")

    @property
    def pluses(self) -> np.ndarray:
        """Pluses per column at each signal, shape ``(S,)``."""
        return np.round(0.5 * self.count * (1.0 + self.strengths)).astype(np.int64)

    @property
    def means(self) -> np.ndarray:
        """``(2k/n - 1) d^(-1/q)`` everywhere."""
        return self.scale * np.repeat((2.0 * self.pluses / self.count - 1.0)[:, None], self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        """Build the pattern; ``n`` is the cell's."""
        return ShiftedRows(n, self.dimension, draws, self.pluses, self.scale)


class ShiftedRows(LinearSample):
    """A fixed sample: column j has its pluses in rows ``(i + floor(j n/d)) mod n``, ``i < k``, k of ``pluses (S,)``."""

    def __init__(self, n: int, d: int, draws: Draws, pluses: np.ndarray, scale: float) -> None:
        super().__init__(n, d, draws, len(pluses))
        self.pluses, self.scale = pluses, scale
        self._offsets = np.arange(d) * n // d

    def mean(self, first: int, count: int) -> np.ndarray:
        """Average all records: exactly the mean that the signal sets."""
        if count < self.n:
            return super().mean(first, count)
        means = np.repeat(self.scale * (2.0 * self.pluses / self.n - 1.0), self.replicates)
        return np.broadcast_to(means[:, None], (self.rows, self.d))

    def chosen(self, indices: np.ndarray) -> np.ndarray:
        """Choose records: a plus lies less than k rows behind the column's offset, cyclically."""
        _, k = self.per_row(self.pluses, 2)
        behind = indices[:, :, None] - self._offsets
        plus = ((behind >= 0) & (behind < k)) | (behind < k - self.n)
        return signed(plus, self.scale)


@problem
class CubeVertices(Onehot):
    """``f(x, z) = -<x, z>`` over conv{+-1}^d by its K = 2^d corners, ``z = +-e_J`` with ``P(+) = (1 + b)/2``.

    The norm is that of the cube, l_inf, in which the losses have L0 = 1 and the cube M = 2. The mean is ``b/d``
    everywhere, ``b = min(1, signal * unit)`` with ``unit = b_N ln K``, b_N the last Laplace scale of Algorithm 1.
    """

    name = "cube_vertices"
    summary = "linear losses over the cube as a polytope with listed vertices; population risk"
    source = "instance of ours for Bassily, Guzman, Nandi 2021, Theorem 4, on polytopes other than the l1 ball"
    default_dimension = 6
    p, unit_name = math.inf, "both"
    signal = option(0.7, "b = min(1, signal * unit)")
    declared_smoothness = option(0.0)

    def checked_dimension(self, d: int | None) -> int:
        found = super().checked_dimension(d)
        if not 2 <= found <= 12:
            raise InputError("d", found, "an integer from 2 to 12, for 2^d vertices")
        return found

    @property
    def own_constants(self) -> Constants:
        """L0 = 1 and M = 2 in l_inf; the domain named by the number of its vertices."""
        return linear_constants(f"polytope:{2**self.dimension}", math.inf, self.declared_smoothness)

    @cached_property
    def feasible_set(self) -> Polytope:
        return Polytope(np.array(list(product((1.0, -1.0), repeat=self.dimension))))

    @property
    def unit(self) -> float:
        return last_laplace_scale(self, 2**self.dimension) * self.dimension * math.log(2.0)


@problem
class GapsL1(SignsL1):
    """``z in {+-1}^d`` with mean ``mu_j = j/(d - 1)``, ``j = 0..d-1``; there is no free signal."""

    name = "gaps_l1"
    summary = "linear losses with evenly spread means on the unit l1 ball; population risk"
    source = "instance `gaps_l1` for Bassily, Guzman, Nandi 2021, Theorem 4"
    signal_option: ClassVar[str] = ""
    signal = 1.0
    least_dimension = 2

    @property
    def means(self) -> np.ndarray:
        return np.linspace(0.0, 1.0, self.dimension)[None, :]


@problem
class SquaredNorm(Problem):
    """``F(x) = ||x||_r^2`` for every record, with the start at the minimiser, the origin."""

    name = "squared_norm"
    summary = "the squared smooth norm as an oracle; risk of the generalised Gaussian is its second moment"
    source = "second moment of Bassily, Guzman, Nandi 2021, Proposition 8"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ})
    shares_records = True
    default_dimension = 8
    p: float = option(1.5, "r is the exponent of the smooth norm for l_p", within="[1, 2]")
    norm_rule: str = option("best", "how r is chosen", choices=RULES)

    @cached_property
    def smooth(self) -> SmoothNorm:
        return SmoothNorm(self.p, self.dimension, self.norm_rule)

    @property
    def own_constants(self) -> Constants:
        """L0 = 1 declared, true near the origin only; the Euclidean smoothness 2 (r - 1)."""
        return Constants(1.0, 2.0 * self.smooth.kappa_plus, norm=self.smooth.p, status="nominal")

    def mean_gradient(self, x: Array, data: Data) -> Array:
        """``2 ||x||_r^(2 - r) |x|^(r - 1) sign x``."""
        return square_gradient(x, self.smooth.r, 2.0)

    def risk(self, x: Array, data: Data) -> Array:
        return lp_norm(x, self.smooth.r)[..., 0] ** 2

    def beside(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        """First and fourth power of the norm."""
        norm = lp_norm(x, self.smooth.r)[..., 0]
        return {"norm": norm, "fourth_power": norm**4}

    def optimal_risk(self, data: Data) -> float:
        return 0.0
