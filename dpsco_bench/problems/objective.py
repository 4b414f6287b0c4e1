"""A problem bound to its data: what an algorithm sees. Counts gradient evaluations and lets a measurement watch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import cast, to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Batch, Constants, Data, Problem
from dpsco_bench.problems.constants import Trait

Array = Any
Observer = Callable[["Objective", Array], None]
RoundObserver = Callable[..., None]


class Objective:
    """The finite sum ``F(x) = mean_i f_i(x) + (lambda/2) ||x||^2 + l1 ||x||_1`` for ``R`` replicates at once.

    `evaluations (R,)` counts the gradients of single records so far, per replicate. `minimum` is min F once it was
    needed; whoever knows it may set it before. `round_observer` is ``rounds``, for compiled runs that hand it sums.

    Parameters
    ----------
    data : Data or what `Problem.sample` returned, one data set that the replicates share, or their own samples
    replicates : int
        R, the leading axis of every iterate (where several signals are run at once, of all of them together).
    observer : callable, optional
        Called with each iterate that the algorithm shows through `observe`; never part of the algorithm.
    rounds : callable, optional, called with the state of each round that the algorithm shows through `observe_round`
    """

    def __init__(
        self,
        problem: Problem,
        data: Any,
        replicates: int,
        xp: Any = np,
        dtype: str = "float64",
        observer: Observer | None = None,
        n: int | None = None,
        rounds: RoundObserver | None = None,
    ) -> None:
        self.problem, self.host_data, self.replicates = problem, data, replicates
        self.xp, self.dtype = xp, getattr(xp, dtype)
        self.n: int = data.n if n is None else n
        own = isinstance(data, Data)
        self.data = data.to(xp, dtype) if own else data
        self._risk_data = data.to(xp, "float64") if own and dtype != "float64" else self.data
        self.evaluations = xp.zeros((replicates,), dtype=xp.float64)
        self._regularisation = problem.constants.regularisation
        self.domain: Any = problem.feasible_set
        self._observer, self.round_observer = observer, rounds
        self.minimum: float | np.ndarray | None = None
        self._clipped: dict[float, Array] = {}

    @property
    def constants(self) -> Constants:
        """Constants of the problem for this data set."""
        return self.problem.constants_of(self.host_data)

    @property
    def start(self) -> Array:
        """Starting point of every replicate, ``(R, d)``."""
        start = self.xp.asarray(self.problem.starting_points(self.host_data), dtype=self.dtype)
        return self.xp.tile(start, (self.replicates // start.shape[0], 1))

    def mean_gradient(self, x: Array) -> Array:
        """``mean_i grad f_i(x)``, without the regulariser; costs n evaluations."""
        self.count(self.n)
        return self.problem.mean_gradient(x, self.data)

    def full_gradient(self, x: Array) -> Array:
        """``grad F(x)``, regulariser included; costs n evaluations."""
        return self.mean_gradient(x) + self.regulariser_gradient(x)

    def batch_gradient(self, x: Array, batch: Batch) -> Array:
        """``sum_{i in batch} grad f_i(x) / b`` with b the expected batch size; costs the drawn size."""
        return self._batch_gradient(x, batch, self.problem.gather(self.data, batch.indices))

    def batch_gradient_difference(self, x: Array, anchor: Array, batch: Batch) -> Array:
        """``sum_{i in batch} (grad f_i(x) - grad f_i(anchor)) / b``; costs twice the drawn size."""
        rows = self.problem.gather(self.data, batch.indices)
        return self._batch_gradient(x, batch, rows) - self._batch_gradient(anchor, batch, rows)

    def range_gradient(self, x: Array, first: int, count: int) -> Array:
        """``mean_i grad f_i(x)`` over records ``first .. first + count - 1``; costs ``count``."""
        self.count(count)
        return self.problem.range_gradient(x, self.data, first, self._within(first, count))

    def range_gradient_pair(self, x: Array, other: Array, first: int, count: int) -> tuple[Array, Array]:
        """Compute the same mean at two points; costs twice ``count``."""
        self.count(2 * count)
        return self.problem.range_gradient_pair(x, other, self.data, first, self._within(first, count))

    def range_gradient_difference(self, x: Array, other: Array, first: int, count: int) -> Array:
        """Compute the difference of that mean between two points; costs twice ``count``."""
        self.count(2 * count)
        return self.problem.range_gradient_difference(x, other, self.data, first, self._within(first, count))

    def record_gradients(self, x: Array, first: int, count: int) -> Array:
        """``grad f_i(x)`` of records ``first .. first + count - 1``, shape ``(R, count, d)``; costs ``count``."""
        self.count(count)
        return self.problem.record_gradients(x, self.data, first, self._within(first, count))

    def clipped_mean_gradient(self, x: Array, level: float) -> Array:
        """``mean_i clip(grad f_i(x))``, every coordinate to ``[-level, level]``; costs n evaluations."""
        self.count(self.n)
        if Trait.LINEAR_LOSS not in self.problem.traits:
            return self.problem.clipped_mean_gradient(x, self.data, level)
        if level not in self._clipped:  # the same at every x
            self._clipped = {level: self.problem.clipped_mean_gradient(x, self.data, level)}
        return self._clipped[level]

    def reorder(self, order: Array) -> None:
        """Put every replicate's records in its own order, ``order (R, n)`` of record indices."""
        self.data, self._clipped = self.problem.gather(self.data, order), {}

    def _within(self, first: int, count: int) -> int:
        if not 0 <= first < first + count <= self.n:
            raise InputError("records", f"{first}..{first + count - 1}", f"within 0..{self.n - 1}, and at least one")
        return count

    def _batch_gradient(self, x: Array, batch: Batch, rows: Data) -> Array:
        self.evaluations = self.evaluations + batch.sizes
        return self.problem.batch_gradient(x, rows, batch.mask / batch.expected_size)

    def regulariser_gradient(self, x: Array) -> Array:
        """``lambda x``. Raises InputError if an l1 term has no gradient."""
        if self.problem.l1:
            raise InputError("l1", self.problem.l1, "0 where the regulariser's gradient is asked for")
        return self._regularisation * x

    def prox(self, x: Array, step: Array) -> Array:
        """Proximal map of ``step ((lambda/2) ||.||^2 + l1 ||.||_1)`` over the domain: soft threshold, then shrink.

        ``step`` is a number or an array ``(R, 1)``. On l1 and l2 balls the constrained minimiser is the projection of
        the free one: the ball's multiplier only raises the threshold, or the shrinkage.
        """
        if self.problem.l1:
            x = self.xp.sign(x) * self.xp.maximum(self.xp.abs(x) - step * self.problem.l1, 0.0)
        return self.project(x / (1.0 + step * self._regularisation))

    def project(self, x: Array) -> Array:
        return x if self.domain is None else self.domain.project(x)

    def count(self, gradients: int) -> None:
        """Count gradients of single records, so many for every replicate."""
        self.evaluations = self.evaluations + float(gradients)

    def observe(self, x: Array) -> None:
        """Show an iterate to the measurement, if there is one."""
        if self._observer is not None:
            self._observer(self, x)

    def unseen(self, most: int) -> int:
        """Count the gradients, at least 1 and at most ``most``, until the measurement looks at an iterate again."""
        if self._observer is None:
            return most
        return min(most, max(1, int(getattr(self._observer, "unseen", lambda objective: 1)(self))))

    def observe_round(self, **state: Any) -> None:
        """Show the state of a round to the observer of rounds, if there is one: arrays by name."""
        if self.round_observer is not None:
            self.round_observer(self, **state)

    def exact_gradient(self, x: Array) -> Array:
        """``grad F(x)`` in float64 for a measurement: not counted, and not for algorithms."""
        x = cast(x, self.xp.float64)
        return self.problem.mean_gradient(x, self._risk_data) + self._regularisation * x

    def excess_risk(self, x: Array, risk: Callable[[Array], Array] | None = None) -> np.ndarray:
        """``F(x) - min F`` in float64 on the host, shape ``(R,)``; ``risk`` (x) gives F in place of the problem."""
        x = cast(x, self.xp.float64)
        excess = self.problem.excess_risk(x, self._risk_data)
        if excess is not None:
            return to_numpy(excess).astype(np.float64)
        if self.minimum is None:
            self.minimum = self.problem.optimal_risk(self.host_data)
        found = self.problem.risk(x, self._risk_data) if risk is None else risk(x)
        return to_numpy(found).astype(np.float64) - self.minimum
