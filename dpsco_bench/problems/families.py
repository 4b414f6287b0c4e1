"""Bases of instances: one member per cell, a free signal whose largest risk a claim takes, unit sets and balls."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import Ball, FeasibleSet, feasible_set
from dpsco_bench.problems.base import Constants, Data, Problem, option
from dpsco_bench.problems.data import CONSTANT, RecordForm, like

Array = Any
SIZED = ("k_support_ball", "group_ball", "subspace_ball")
UNIT_SETS = ("l1_ball", "l2_ball", *SIZED)


class CellFamily(Problem):
    """A problem with one member per (n, epsilon, delta); before `at` is called, the member of ``reference``."""

    cell_dependent: ClassVar[bool] = True
    reference: ClassVar[tuple[int, float, float]] = (4096, 1.0, 1e-5)

    def prepare(self) -> None:
        super().prepare()
        self.count, self.epsilon, self.delta = self.reference

    @property
    def member(self) -> tuple[float, ...]:
        return self.count, self.epsilon, self.delta

    def at(self, n: int, epsilon: float, delta: float) -> Any:
        """Return the member of a cell."""
        member = copy.copy(self)
        member.count, member.epsilon, member.delta = n, epsilon, delta
        return member

    def signal_to_noise(self, width: float) -> float:
        """``n eps/(G sqrt(l width))`` with G = 1."""
        return self.count * self.epsilon / math.sqrt(-math.log(self.delta) * width)


class Signalled(Problem):
    """A problem with a free signal of strength ``min(cap, signal * unit)``, one or several at once."""

    signal_option: ClassVar[str] = "signal"
    cap: ClassVar[float] = 1.0
    signal: float = option(1.0, "strength of the free signal, in units that follow the cell", within="(0, inf)")

    @cached_property
    def signals(self) -> np.ndarray:
        """Signals in force, shape ``(S,)``; see `Problem.with_signals` for the order of rows."""
        return np.array([self.signal])

    def with_signals(self, values: np.ndarray) -> Any:
        """Return the same problem at several signals at once."""
        several = copy.copy(self)
        several.signals = np.asarray(values, dtype=np.float64)
        return several

    @property
    def unit(self) -> float:
        """Strength of signal 1."""
        return 1.0

    @property
    def strengths(self) -> np.ndarray:
        """Strength at each signal, shape ``(S,)``."""
        return np.minimum(self.cap, self.unit * self.signals)

    @property
    def signal_capped(self) -> bool:
        return bool((self.unit * self.signals >= self.cap).all())

    def by_row(self, values: np.ndarray, x: Array) -> Array:
        """Spread a number per signal, ``values (S,)``, over the rows of ``x (S R, ...)``: shape ``(S R, 1)``."""
        xp = array_namespace(x)
        return xp.asarray(np.repeat(values, x.shape[0] // len(values))[:, None], dtype=x.dtype)


class SignalFamily(Signalled, CellFamily):
    """A family with a free signal."""

    reference: ClassVar[tuple[int, float, float]] = (4096, 1.0, 1e-6)

    @property
    def member(self) -> tuple[float, ...]:
        return (*super().member, *self.signals.tolist())


class Sampled(Problem):
    """A problem whose risk is the population's, with a sample for every replicate, drawn as it is looked at.

    A sample has ``chosen(indices)``, records ``indices (R, W)`` of every row, as `batch_gradient` takes them.
    """

    draws_per_replicate: ClassVar[bool] = True
    population: ClassVar[bool] = True

    def row_size(self, n: int) -> int:
        return self.dimension

    def gather(self, data: Any, indices: Array) -> Data:
        return Data(data.n, data.chosen(to_numpy(indices)))

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        return array_namespace(x).mean(self.record_gradients(x, data, first, count), axis=1)


def consecutive(rows: int, first: int, count: int) -> np.ndarray:
    """List records ``first .. first + count - 1`` for each of so many rows, ``(rows, count)``."""
    return np.broadcast_to(np.arange(first, first + count), (rows, count))


class SlopeLosses(Sampled, Signalled):
    """``f(x, z) = sign <z, x> + (h/2) ||x||_2^2``, h the `curvature`, of samples of records z.

    A sample has ``latest_mean(first, count)``, ``records(first, count)`` and ``chosen(indices)``, of every row.
    """

    sign: ClassVar[float] = 1.0
    curvature: float = 0.0

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        return self._gradient(data.latest_mean(first, count), x)

    def range_gradient_pair(self, x: Array, other: Array, data: Any, first: int, count: int) -> tuple[Array, Array]:
        mean = data.latest_mean(first, count)
        return self._gradient(mean, x), self._gradient(mean, other)

    def range_gradient_difference(self, x: Array, other: Array, data: Any, first: int, count: int) -> Array:
        return self.curvature * (x - other)

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        return self._gradient(data.records(first, count), x[:, None, :])

    @property
    def record_form(self) -> RecordForm:
        form = RecordForm(CONSTANT, (self.sign, 0.0))
        if not self.curvature:
            return form
        return replace(form, hessian=np.full(self.dimension, self.curvature), centre=np.zeros(self.dimension))

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        xp = array_namespace(x)
        slopes = self.sign * xp.matmul(weights[:, None, :], like(batch.features, x))[:, 0, :]
        return slopes + self.curvature * xp.sum(weights, axis=-1, keepdims=True) * x if self.curvature else slopes

    def form_range(self, data: Any, first: int, count: int) -> Data:
        return Data(count, data.records(first, count))

    def _gradient(self, records: np.ndarray, x: Array) -> Array:
        slope = self.sign * like(records, x)
        return slope + self.curvature * x if self.curvature else slope


class OnUnitSet(Problem):
    """A problem on a unit set, all of whose points have Euclidean norm at most 1."""

    domain: str = option("l2_ball", "the unit set", choices=UNIT_SETS)
    size: int | None = option(
        None, "k of a k-support or subspace ball, block size of a group ball; null for the others", within="[1, inf)"
    )

    @cached_property
    def set(self) -> FeasibleSet:
        """The unit set. Raises InputError for a size that is missing, superfluous or does not fit the dimension."""
        if (self.domain in SIZED) != (self.size is not None):
            raise InputError("size", self.size, f"given for {', '.join(SIZED)} and for no other domain")
        found = feasible_set(self.domain if self.size is None else f"{self.domain}:{self.size}", 1.0)
        found.euclidean_diameter(self.dimension)  # refuses a size that does not fit
        return found


class InBall(Problem):
    """A problem on the whole space or a Euclidean ball."""

    radius: float | None = option(None, "radius of a feasible l2 ball; null: the whole space", within="(0, inf)")

    @cached_property
    def ball(self) -> Ball | None:
        return None if self.radius is None else Ball(2.0, self.radius)


def sparse_vertex(domain: str, size: int | None, d: int) -> np.ndarray:
    """``(1, ..., 1, 0, ..., 0)/sqrt(s)``, which maximises its own inner product over the unit set, shape ``(d,)``.

    There are ``s = 1`` ones on the l1 ball, d on the l2 ball, else as many as the size of the set.
    """
    ones = {"l1_ball": 1, "l2_ball": d}.get(domain, size)
    assert ones is not None
    return np.where(np.arange(d) < ones, ones**-0.5, 0.0)


def on_unit_set(found: FeasibleSet, lipschitz: float, smoothness: float, **others: Any) -> Constants:
    """Euclidean constants with the set as domain."""
    return Constants(lipschitz, smoothness, diameter=found.diameter, domain=found.name, **others)
