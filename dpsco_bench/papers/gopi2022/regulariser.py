"""Squared norms that are 1-strongly convex, and problems whose risk under the mechanism is known by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.geometry.sets import singular_values
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.base import Constants, Problem, Trait
from dpsco_bench.problems.linear import LinearOracle, ball_name, linear_constants

Array = Any


@dataclass(frozen=True)
class NormRegulariser:
    """``r(x) = coefficient ||x||_q^2``, about the origin.

    Raises InputError for p = 1 and a size below 3, where no q exists (erratum E5). Source: Gopi, Lee, Liu, Shen, Tian
    2022, Corollaries 2 to 5.

    Parameters
    ----------
    p : float, norm in which r is 1-strongly convex, in [1, inf]
    matrices : bool, whether the norms are Schatten norms of matrices with ``size`` columns, flattened row by row
    """

    p: float
    size: int
    matrices: bool = False

    def __post_init__(self) -> None:
        if self.p == 1 and self.size < 3:
            key = "columns" if self.matrices else "d"
            raise InputError(key, self.size, "at least 3 for p = 1", "Gopi et al. 2022, Corollary 3")

    @property
    def q(self) -> float:
        """Exponent of its norm: p for 1 < p <= 2, ``1 + 1/ln size`` for p = 1, 2 for p > 2."""
        return 1.0 + 1.0 / math.log(self.size) if self.p == 1 else min(self.p, 2.0)

    @property
    def coefficient(self) -> float:
        """``1/(2 (p - 1))`` for 1 < p <= 2, ``e^2 ln(size)/2`` for p = 1, 1/2 for p > 2."""
        if self.p == 1:
            return 0.5 * math.e**2 * math.log(self.size)
        return 0.5 / (min(self.p, 2.0) - 1.0)

    @property
    def dual(self) -> float:
        """Same exponent, as `geometry.mirror` names it."""
        return self.q

    @property
    def r(self) -> float:
        """Exponent of the norm that is dual to l_q."""
        return dual_exponent(self.q)

    @property
    def kappa(self) -> float:
        return 2.0 * self.coefficient

    def theta(self, radius: float) -> float:
        """Bound on r over points of p-norm at most ``radius``."""
        stretch = self.size ** (1.0 - 2.0 / self.p) if self.p > 2 else 1.0
        return self.coefficient * stretch * radius**2

    def norm(self, x: Array) -> Array:
        """``||x||_q`` of ``x (..., d)``, shape ``(...,)``."""
        entries = singular_values(x, self.size) if self.matrices else x
        return lp_norm(entries, self.q)[..., 0]

    def value(self, x: Array) -> Array:
        """``r(x)`` of ``x (..., d)``, shape ``(...,)``."""
        return self.coefficient * array_namespace(x).square(self.norm(x))


class RegularisedLaw(Problem):
    """A problem that knows the mean excess risk of one draw from ``exp(-k (F + mu r))``.

    That is ``mean_excess(k, mu)``, where k infinite stands for the minimiser of ``F + mu r``.
    """

    algorithms: ClassVar[tuple[str, ...]] = (
        "gopi2022.reg_exp_mech",
        "gopi2022.exp_mech_sc",
        "gopi2022.axis_exact",
        "gopi2022.cube_exact",
        "gopi2022.lp_exact",
        "gopi2022.radial_exact",
    )
    closed_form_error: ClassVar[float] = 1e-10
    closed_form_remark: ClassVar[str] = "quadrature: the risk of the target law; nothing is released"
    p: float
    mean_excess: Callable[[float, float], float]

    @property
    def domain(self) -> str:
        return ball_name(self.p)

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.dimension)

    def expected_gap(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """`mean_excess` at the temperature of the calibrated draw."""
        if algorithm not in self.algorithms:
            return super().expected_gap(algorithm, schedule, scales)
        (scale,) = scales.values()
        return self.mean_excess(*Temperature.of(schedule).at(scale))

    def expected_extras(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> dict[str, float]:
        """Return `law_extras` at that temperature; none without noise."""
        if algorithm not in self.algorithms or not all(scales.values()):
            return {}
        (scale,) = scales.values()
        return self.law_extras(*Temperature.of(schedule).at(scale))

    def law_extras(self, k: float, mu: float) -> dict[str, float]:
        """Return other expectations under the law of a draw, by name."""
        return {}


class SharedLinear(RegularisedLaw, LinearOracle):
    """``F(x) = -<c, x>`` over a unit ball for every record, c = e_1; G = 1 in its norm, others could be any of that."""

    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})
    losses: ClassVar[str] = "linear"
    default_dimension: ClassVar[int] = 4

    @property
    def own_constants(self) -> Constants:
        """G = 1 in the norm of the ball, S = 2, D = 2."""
        distance = 0.5 * feasible_set(self.domain, 1.0).euclidean_diameter(self.dimension)
        return linear_constants(self.domain, self.p, initial_distance=distance, losses=self.losses)
