"""Linear losses on a ball or polytope about the origin, with a free signal strength: the excess risk is exact."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.base import Constants, Data, Draws, Trait, option
from dpsco_bench.problems.families import CellFamily, Signalled
from dpsco_bench.problems.forms import CONSTANT, Kinds, Levels, RecordForm
from dpsco_bench.problems.linear_samples import LinearSample, OneHotSample, as_sample
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.traits import Need

Array = Any


class LinearLosses(Signalled, CellFamily):
    """``f(x, z) = -<x, z>`` over the unit ball of l_p, with records z whose mean is set by a signal.

    The signal enters as ``min(1, signal * unit)``; subclasses choose the unit by the cell, so that the signal stays at
    the scale of the noise along a sweep (a fixed one decays faster than a bound and proves nothing).
    """

    draws_per_replicate: ClassVar[bool] = True
    population: ClassVar[bool] = True
    reference: ClassVar[tuple[int, float, float]] = (4096, 1.0, 1e-6)
    p: float = option(2.0, "norm of the ball", within="[1, inf]")
    declared_smoothness: float = option(1.0, "the declared L1; the true one is 0", within="[0, inf)")

    @property
    def traits(self) -> frozenset[Trait]:  # type: ignore[override]
        """Linear; smooth for those who ask for a positive constant, where one is declared."""
        own = {Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS}
        return frozenset(own | {Trait.SMOOTH} if self.declared_smoothness > 0 else own)

    def lacking(self, need: Need) -> str:
        """Name the missing need; for smoothness with the key that declares it."""
        declared = f"; declared_smoothness = {self.declared_smoothness:g}: must be > 0"
        return super().lacking(need) + declared * (need is Trait.SMOOTH)

    @property
    def own_constants(self) -> Constants:
        """L0 = 1 in l_p, the declared L1, M = 2."""
        return linear_constants(ball_name(self.p), self.p, self.declared_smoothness)

    @property
    def unit(self) -> float:
        """Compute the value of a signal of 1 at this cell."""
        return 1.0

    @property
    def strengths(self) -> np.ndarray:
        """Effective signals, at most 1, shape ``(S,)``."""
        return np.minimum(1.0, self.signals * self.unit)

    @property
    def signal_capped(self) -> bool:
        """Check that the effective signal is 1."""
        return bool(self.strengths.max() >= 1.0)

    @property
    def means(self) -> np.ndarray:
        """Mean record of the population (of the sample, where it is fixed) at each signal, shape ``(S, d)``."""
        raise InputError("problem", self.name, "a problem with means")

    def sample(self, n: int, draws: Draws) -> LinearSample:
        """Draw the records of some replicates."""
        raise InputError("problem", self.name, "a problem with sample")

    def row_size(self, n: int) -> int:
        """Count a point: records are drawn as they are looked at, or kept in a byte an entry."""
        return self.dimension

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        return -_like(as_sample(data).latest_mean(first, count), x)

    def range_gradient_pair(self, x: Array, other: Array, data: Any, first: int, count: int) -> tuple[Array, Array]:
        gradient = self.range_gradient(x, data, first, count)
        return gradient, gradient

    def range_gradient_difference(self, x: Array, other: Array, data: Any, first: int, count: int) -> Array:
        """Zero, for which no record need be drawn."""
        return array_namespace(x).zeros_like(x)

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        return -_like(as_sample(data).records(first, count), x)

    @property
    def record_form(self) -> RecordForm:
        return RecordForm(CONSTANT, (-1.0, 0.0))

    def form_range(self, data: Any, first: int, count: int) -> Data:
        return Data(count, as_sample(data).records(first, count))

    def form_kinds(self, data: Any, drawn: bool) -> Kinds | Levels | None:
        return data.kinds(drawn) if isinstance(data, LinearSample) else None

    def gather(self, data: Any, indices: Array) -> Data:
        """Gather records ``indices (R, W)`` of every row."""
        return Data(data.n, as_sample(data).chosen(to_numpy(indices)))

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Minus the weighted sum of the records."""
        xp = array_namespace(x)
        return -xp.matmul(weights[:, None, :], _like(batch.features, x))[:, 0, :]

    def excess_risk(self, x: Array, data: Any) -> Array:
        """``||mean||_* - <x, mean>``, shape ``(S R,)``."""
        return self.risk(x, data) - _like(self.optimal_risk(data), x)

    def risk(self, x: Array, data: Any) -> Array:
        xp, means = array_namespace(x), self.means
        rows = np.repeat(means, x.shape[0] // len(means), axis=0)
        return -xp.sum(_like(rows, x) * x, axis=-1)

    def optimal_risk(self, data: Any) -> np.ndarray:
        return -np.repeat(self.dual_norm(self.means), as_sample(data).replicates)

    def dual_norm(self, vectors: np.ndarray) -> np.ndarray:
        """Largest ``<v, x>`` over the domain of each row of ``vectors (S, d)``."""
        return np.linalg.norm(vectors, ord=dual_exponent(self.p), axis=-1)


def linear_constants(domain: str, norm: float, smoothness: float = 0.0, **further: Any) -> Constants:
    """Compute the constants for records of dual norm 1 on a set of diameter 2: L0 = 1, and a declared L1."""
    given = {"initial_gap": 1.0, "initial_distance": 1.0, "diameter": 2.0, "hessian_rank": 0.0, **further}
    return Constants(1.0, smoothness, domain=domain, norm=norm, **given)


def ball_name(p: float) -> str:
    """Name the l_p ball."""
    named = {1.0: "l1_ball", 2.0: "l2_ball", math.inf: "linf_ball"}
    return named.get(p, f"lp_ball:{p!r}")


def _like(values: Any, x: Array) -> Array:
    return array_namespace(x).asarray(values, dtype=x.dtype)


@problem
class Onehot(LinearLosses):
    """``z = +-e_J`` with J uniform and ``P(+) = (1 + b)/2``, so that the mean is ``b/d`` everywhere.

    ``b = min(1, signal * unit)`` with ``unit = max{sqrt(d/n), d sqrt(l)/(eps n)}``, or its first term alone.
    """

    name = "onehot"
    summary = "linear losses with one-entry records on the unit l_p ball, p >= 2; population risk"
    source = "instance `onehot` for Bassily, Guzman, Nandi 2021, Proposition 13"
    default_dimension = 8
    p: float = option("inf", within="[2, inf]")
    unit_name: str = option(
        "both",
        "of the signal: both terms, or the first alone, for runs without noise",
        choices=("both", "statistical"),
        key="unit",
    )
    signal = option(1.0, "b = min(1, signal * unit)")

    @property
    def unit(self) -> float:
        """Compute the unit that the option names, at the cell's n, epsilon and delta."""
        n, d = self.count, self.dimension
        noise = d * math.sqrt(-math.log(self.delta)) / (self.epsilon * n) if self.unit_name == "both" else 0.0
        return max(math.sqrt(d / n), noise)

    @property
    def means(self) -> np.ndarray:
        return np.repeat(self.strengths[:, None] / self.dimension, self.dimension, axis=1)

    def sample(self, n: int, draws: Draws) -> Any:
        return OneHotSample(n, self.dimension, draws, 0.5 + 0.5 * self.strengths)
