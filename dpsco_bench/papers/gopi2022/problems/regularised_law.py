"""Problems whose risk under the regularised exponential mechanism is known by quadrature of its target law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.base import Constants, Problem, Trait
from dpsco_bench.problems.linear import ball_name

Array = Any


class RegularisedLaw(Problem):
    """A problem that knows the mean excess risk of one draw from ``exp(-k (F + mu r))``."""

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

    def mean_excess(self, k: float, mu: float) -> float:
        """Mean excess risk of a draw; k infinite stands for the minimiser of ``F + mu r``."""
        raise InputError("problem", self.name, "a problem with a law")

    def expected_gap(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """`mean_excess` at the temperature of the calibrated draw."""
        if algorithm not in self.algorithms:
            return super().expected_gap(algorithm, schedule, scales)
        (scale,) = scales.values()
        return self.mean_excess(*Temperature.of(schedule).at(scale))


class SharedLinear(RegularisedLaw):
    """``F(x) = -<c, x>`` over the unit l_p ball for every record; G = 1 in l_p, other records could be any of that."""

    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})
    shares_records: ClassVar[bool] = True
    losses: ClassVar[str] = "linear"
    p: float

    @property
    def slope(self) -> np.ndarray:
        raise InputError("problem", self.name, "a linear problem that defines its slope")

    @property
    def own_constants(self) -> Constants:
        """G = 1 in l_p, S = 2, D = 2."""
        return Constants(
            1.0,
            0.0,
            initial_distance=self.dimension ** max(0.0, 0.5 - 1.0 / self.p),
            diameter=2.0,
            norm=self.p,
            hessian_rank=0.0,
            domain=ball_name(self.p),
            losses=self.losses,
        )

    @property
    def regulariser(self) -> NormRegulariser:
        return NormRegulariser(self.p, self.dimension)

    def row_size(self, n: int) -> int:
        return self.dimension

    def mean_gradient(self, x: Array, data: Any) -> Array:
        return 0.0 * x - array_namespace(x).asarray(self.slope, dtype=x.dtype)

    def risk(self, x: Array, data: Any) -> Array:
        xp = array_namespace(x)
        return -xp.sum(xp.asarray(self.slope, dtype=x.dtype) * x, axis=-1)

    def optimal_risk(self, data: Any) -> float:
        return -float(np.linalg.norm(self.slope, ord=dual_exponent(self.p)))
