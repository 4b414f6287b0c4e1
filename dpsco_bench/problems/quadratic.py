"""Oracles: quadratics and mean estimation with all records equal, so that only the noise makes the risk random."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import FeasibleSet
from dpsco_bench.plain import Options, Schedule
from dpsco_bench.problems.base import Constants, Data, Problem, Trait, option
from dpsco_bench.problems.constants import CURVED, STRONG
from dpsco_bench.problems.data import RecordForm
from dpsco_bench.problems.families import OnUnitSet, on_unit_set, sparse_vertex
from dpsco_bench.problems.registry import problem

Array = Any
MEAN_TRAITS = CURVED | STRONG | {Trait.COMMON_HESSIAN, Trait.PLANE_GRADIENTS}


class DiagonalOracle(Problem):
    """``F(x) = (1/2) sum_j h_j (x_j - x*_j)^2`` for every record.

    The Lipschitz constant 1 is declared: true on a small enough ball, else nominal.
    """

    traits = STRONG | {Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ}
    shares_records = True

    @cached_property
    def _arrays(self) -> dict[Any, tuple[Array, Array | None]]:
        return {}

    @property
    def spectrum(self) -> np.ndarray:
        """Curvatures ``h``, shape ``(d,)``."""
        raise InputError("problem", self.name, "a quadratic that defines its spectrum")

    @cached_property
    def optimum(self) -> np.ndarray:
        return np.zeros(self.dimension)

    def declared(self, ball: FeasibleSet | None = None, strong_convexity: float = 0.0) -> Constants:
        """G = L = 1, the exact initial gap and distance, the domain; nominal unless the ball proves G."""
        error = self.start - self.optimum
        gap = 0.5 * float(np.sum(self.spectrum * error**2))
        distance = float(np.linalg.norm(error))
        common: Options = dict(strong_convexity=strong_convexity, initial_gap=gap, initial_distance=distance)
        if ball is None:
            return Constants(1.0, 1.0, **common, status="nominal")
        steepest = float(self.spectrum.max()) * (ball.radius + float(np.linalg.norm(self.optimum)))
        status = "global" if steepest <= 1.0 else "nominal"
        return Constants(1.0, 1.0, **common, diameter=ball.diameter, domain=ball.name, status=status)

    @property
    def record_form(self) -> RecordForm:
        return RecordForm(hessian=self.spectrum, centre=self.optimum)

    def mean_gradient(self, x: Array, data: Data) -> Array:
        spectrum, error = self._error(x)
        return spectrum * error

    def risk(self, x: Array, data: Data) -> Array:
        spectrum, error = self._error(x)
        return 0.5 * array_namespace(x).sum(spectrum * error * error, axis=-1)

    def _error(self, x: Array) -> tuple[Array, Array]:
        """Curvatures like ``x``, and ``x - x*``: x itself where the minimiser is the origin."""
        xp = array_namespace(x)
        key = (xp, x.dtype, self.member)
        if key not in self._arrays:
            optimum = xp.asarray(self.optimum, dtype=x.dtype) if self.optimum.any() else None
            self._arrays[key] = xp.asarray(self.spectrum, dtype=x.dtype), optimum
        spectrum, optimum = self._arrays[key]
        return spectrum, x if optimum is None else x - optimum

    def optimal_risk(self, data: Data) -> float:
        return 0.0

    def expected_gap(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """Exact expected excess risk of noisy gradient descent, the last of T iterates: ``(1/2) sum_j h_j E e_j^2``.

        Here ``E e_j^2 = a_j^T e_j^2 + sigma^2 eta^2 (1 - a_j^T)/(1 - a_j)`` with ``a_j = (1 - eta h_j)^2``.
        """
        if algorithm != "gradient_descent":
            return super().expected_gap(algorithm, schedule, scales)
        step = schedule["step"]
        a = (1.0 - step * self.spectrum) ** 2
        decay = a ** schedule["steps"]
        errors = decay * (self.start - self.optimum) ** 2 + (scales["gradient"] * step) ** 2 * (1.0 - decay) / (1.0 - a)
        return 0.5 * float(np.sum(self.spectrum * errors))

    def expected_mean_squared_gradient(self, step: float, steps: int, sigma: float) -> float:
        """Exact ``E mean_k ||grad F(x_k)||^2``, k = 0..T-1; ``a_j^k`` has the mean ``(1 - a_j^T)/(T (1 - a_j))``."""
        h, error = step * self.spectrum, self.start - self.optimum
        lost = h * (2.0 - h)  # 1 - a
        with np.errstate(divide="ignore"):
            left = -np.expm1(2.0 * steps * np.log1p(-h)) / (steps * lost)
        errors = left * error**2 + (sigma * step) ** 2 * (1.0 - left) / lost
        return float(np.sum(self.spectrum**2 * errors))


@problem
class DiagQuadratic(DiagonalOracle):
    """``h = linspace(1/kappa, 1, d)``, start at distance 1 from the minimiser."""

    name = "diag_quadratic"
    summary = "diagonal quadratic oracle with condition number kappa; closed form for gradient descent"
    source = "instance `diag_quadratic` for Wang, Ye, Xu 2017, Theorem 6.2"
    default_dimension = 16
    kappa: float = option(4.0, "condition number", within="[1, inf)")

    @cached_property
    def spectrum(self) -> np.ndarray:
        return np.linspace(1.0 / self.kappa, 1.0, self.dimension)

    @property
    def start(self) -> np.ndarray:
        return np.full(self.dimension, self.dimension**-0.5)

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal), L = 1, mu = 1/kappa, the exact initial gap and distance."""
        return self.declared(strong_convexity=1.0 / self.kappa)


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
    """``F(x) = ||x - z||^2/2`` over a unit set, for every record the same z in it, the `record (d,)`."""

    record: Any
    traits = MEAN_TRAITS
    shares_records: ClassVar[bool] = True
    isotropic_curvature = 1.0

    @property
    def own_constants(self) -> Constants:
        return mean_constants(self.set, self.dimension)

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


@problem
class BoundaryMean(MeanOracle):
    """``F(x) = ||x - u||^2/2`` over a unit set with u its sparse vertex."""

    name = "boundary_mean"
    summary = "mean estimation oracle whose optimum is a sparse vertex of a unit set"
    source = "instance `boundary_mean` for Su, Zhao, Wang 2023, Theorems 4 and 5"
    default_dimension = 256

    @cached_property
    def record(self) -> np.ndarray:
        return sparse_vertex(self.domain, self.size, self.dimension)
