"""Mean estimation as a loss, ``||x - z||^2/2``: its Hessian is the identity, whatever the data."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import FeasibleSet
from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.forms import RecordForm
from dpsco_bench.problems.unit_set import OnUnitSet, on_unit_set

Array = Any
TRAITS = frozenset(
    {
        Trait.CONVEX,
        Trait.SMOOTH,
        Trait.LIPSCHITZ,
        Trait.TWICE_DIFFERENTIABLE,
        Trait.STRONGLY_CONVEX,
        Trait.POLYAK_LOJASIEWICZ,
        Trait.COMMON_HESSIAN,
        Trait.PLANE_GRADIENTS,
    }
)


def mean_constants(found: FeasibleSet, d: int) -> Constants:
    """Constants for records in a unit set: L, S and the range of gradients are its diameter in l2, beta = mu = 1.

    The modulus in the set's gauge is the square of its inradius.
    """
    diameter = found.euclidean_diameter(d)
    return on_unit_set(
        found,
        diameter,
        1.0,
        strong_convexity=1.0,
        gauge_convexity=found.inradius(d) ** 2,
        gradient_range=diameter,
        loss_range=diameter,
        hessian_rank=0.0,
        initial_gap=0.5,
        initial_distance=1.0,
        losses="quadratic",
    )


class MeanOracle(OnUnitSet):
    """``F(x) = ||x - z||^2/2`` over a unit set, for every record the same z in it."""

    traits = TRAITS
    shares_records: ClassVar[bool] = True

    @cached_property
    def record(self) -> np.ndarray:
        raise InputError("problem", self.name, "a mean oracle that defines its record")

    @property
    def own_constants(self) -> Constants:
        return mean_constants(self.set, self.dimension)

    @property
    def isotropic_curvature(self) -> float:
        return 1.0

    def row_size(self, n: int) -> int:
        return self.dimension

    @property
    def record_form(self) -> RecordForm:
        return RecordForm(hessian=np.ones(self.dimension), centre=np.asarray(self.record, dtype=np.float64))

    def mean_gradient(self, x: Array, data: Any) -> Array:
        return x - array_namespace(x).asarray(self.record, dtype=x.dtype)

    def risk(self, x: Array, data: Any) -> Array:
        error = self.mean_gradient(x, data)
        return 0.5 * array_namespace(x).sum(error * error, axis=-1)

    def optimal_risk(self, data: Any) -> float:
        return 0.0
