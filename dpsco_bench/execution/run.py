"""Run one cell: all its replicates at once, in blocks whose size depends on the cell alone.

However work is split, random words and noise are equal bit for bit. Results are equal bytes on one machine, because the
cell alone decides the blocks; between other block sizes or BLAS kernels, which round a product of two rows and one of
six in different ways, they agree to 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.algorithms.info import extra
from dpsco_bench.backend.namespace import get_namespace, to_numpy, tuned
from dpsco_bench.errors import InputError, NumericalFailure
from dpsco_bench.execution.calling import call_run
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.measures import Measure, get_measure
from dpsco_bench.execution.rounds import RoundObserver, get_round_observer
from dpsco_bench.execution.signals import SharedNoise
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective, Observer

BLOCK_SCORES = 1 << 23
"""Most numbers (mostly margins: rows times records) held at once."""
WHOLE = 24
"""Blocks of more replicates than this have a multiple of it: compiled passes over all records take as many at once."""

KEPT_BYTES = 2**28
"""Most bytes of data sets that are kept for the cells after them."""

MechanismFactory = Callable[..., Mechanism]


@dataclass(frozen=True)
class Trace:
    """Result of one block of replicates; of several signals run at once, the rows of all.

    Risks are in the algorithm's measure (mostly the excess risk), ``(R, C)`` as the counted gradient evaluations: one
    column for each checkpoint, the last for the output ``(R, d)``. The last four are those of `Info`, ``(R,)``, with
    what the observer of its rounds noted among the extras.
    """

    output: np.ndarray
    risk: np.ndarray
    evaluations: np.ndarray
    start_risk: np.ndarray
    certificate: float | None = None
    extras: Mapping[str, np.ndarray] = field(default_factory=dict)
    demoted: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    rounded: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))


_NEVER = 1 << 62


class Checkpoints:
    """Shows iterates to a measure, and records it each time another ``fraction * n`` gradients have been evaluated.

    Without a fraction only the final output is recorded.
    """

    def __init__(self, measure: Measure, fraction: float | None, n: int) -> None:
        self._measure = measure
        self._every = None if fraction is None else fraction * n
        self._next = 0.0
        self.risk: list[np.ndarray] = []
        self.evaluations: list[np.ndarray] = []

    def __call__(self, objective: Objective, x: Any) -> None:
        """Observe an iterate."""
        self._measure.observe(objective, x)
        if self._every is None:
            return
        done = float(to_numpy(objective.evaluations).mean())
        if done >= self._next:
            self._next = (done // self._every + 1) * self._every
            self.add(objective, x)

    def unseen(self, objective: Objective) -> float:
        """Gradients until the next iterate that counts: 1 where all of them do."""
        if self._measure.along_the_run:
            return 1
        if self._every is None:
            return _NEVER
        return math.ceil(self._next - float(to_numpy(objective.evaluations).mean()))

    def add(self, objective: Objective, x: Any) -> None:
        """Record the measure now."""
        self.risk.append(self._measure.value(objective, x))
        self.evaluations.append(to_numpy(objective.evaluations).astype(np.float64))


class Reuse:
    """Data sets and minima of the cells that were run before, by the objective that they belong to.

    Drawing a large data set and minimising over it again would cost more than many a run. Nothing depends on whether
    something was kept.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._data: dict[str, Data] = {}
        self._minima: dict[str, Any] = {}

    def data(self, cell: Cell, data_set: int) -> Data:
        """`Cell.draw_data`, of the last draws one that was the same."""
        key = cell.objective_key(data_set)
        found = self._data.pop(key, None)
        if found is None:
            found = cell.draw_data(self._seed, data_set)
        while self._data and sum(map(_bytes, self._data.values())) + _bytes(found) > KEPT_BYTES:
            del self._data[next(iter(self._data))]
        self._data[key] = found
        return found

    def minimum(self, cell: Cell, data_set: int) -> Any:
        """Return the minimum that an earlier cell stored, or None."""
        return self._minima.get(cell.objective_key(data_set))

    def keep_minimum(self, cell: Cell, data_set: int, minimum: Any) -> None:
        """Store a minimum; None stores nothing."""
        if minimum is not None:
            self._minima[cell.objective_key(data_set)] = minimum


def _bytes(data: Data) -> int:
    return sum(getattr(array, "nbytes", 0) for array in (data.features, data.labels))


def run_block(
    cell: Cell,
    plan: Plan,
    scales: Mapping[str, float],
    data: Data,
    *,
    root_seed: int,
    data_set: int = 0,
    first_replicate: int = 0,
    replicates: int = 1,
    backend: str = "numpy",
    dtype: str = "float64",
    fused: bool = True,
    record: float | None = None,
    signals: Sequence[float] = (),
    mechanism: MechanismFactory | None = None,
    rounds: str = "",
    reuse: Reuse | None = None,
) -> Trace:
    """Run replicates ``first_replicate .. first_replicate + replicates - 1`` of a cell on one data set.

    The ``plan`` is the one whose noise ``scales`` were fixed (`CalibratedCell.plan_for`): none is made here. With
    ``signals`` at each of these signal strengths at once, in place of the cell's own; the rows of the trace are then
    signal-major, and a ``mechanism`` has to serve all of them. ``rounds`` names an observer of the rounds in place of
    the algorithm's own. ``reuse`` lends the minimum over data that replicates share.

    Raises AlgorithmError for a run that fails, or does not do what its plan declares. Raises NumericalFailure on
    non-finite outputs, naming the cell.
    """
    xp = get_namespace(backend)
    measure = get_measure(cell.algorithm_entry.measure)
    checkpoints = Checkpoints(measure, record, cell.n)
    watched = record is not None or measure.along_the_run
    where = (root_seed, data_set, first_replicate, replicates)
    seen = get_round_observer(rounds or cell.algorithm_entry.rounds)
    objective = make_objective(cell, data, where, xp, dtype, checkpoints if watched else None, signals, seen)
    lent = None if signals or cell.problem_entry.draws_per_replicate else reuse
    if lent is not None:
        objective.minimum = lent.minimum(cell, data_set)
    make = mechanism or (partial(SharedNoise, len(signals)) if signals else Mechanism)
    source = make(plan, scales, cell.run_key(data_set), root_seed, first_replicate, replicates, xp, dtype)
    start_risk = _start_risks(measure, objective, replicates)
    with tuned():
        output, info = call_run(cell.algorithm_entry, objective, plan, source, fused=fused)
    extras = dict(info.extras)
    if seen is not None:
        extras |= seen.finish(objective, output)
    checkpoints.add(objective, output)
    risk = np.stack(checkpoints.risk, axis=1)
    final = to_numpy(output)
    if not (np.isfinite(risk).all() and np.isfinite(final).all()):
        raise NumericalFailure(f"non-finite iterates: {describe(cell)}")
    extras |= objective.problem.beside(final, objective.host_data)
    rows = objective.replicates
    if lent is not None:
        lent.keep_minimum(cell, data_set, objective.minimum)
    evaluations = np.stack(checkpoints.evaluations, axis=1)
    return Trace(
        final,
        risk,
        evaluations,
        start_risk,
        info.certificate,
        {name: extra(name, values, rows) for name, values in extras.items()},
        info.rows("demoted", rows),
        info.rows("rounded", rows),
    )


def make_objective(
    cell: Cell,
    data: Data,
    where: tuple[int, int, int, int],
    xp: Any = np,
    dtype: str = "float64",
    observer: Observer | None = None,
    signals: Sequence[float] = (),
    rounds: RoundObserver | None = None,
) -> Objective:
    """Make the objective of a block of replicates, on the shared data set or on samples of their own.

    ``where`` has the root seed, the number of the data set, the first replicate and how many there are; ``signals`` are
    run at once, in place of the cell's own.
    """
    problem = cell.problem_entry
    if signals:
        several = problem.with_signals(np.asarray(signals, dtype=np.float64))
        if several is None:
            raise InputError("signals", list(signals), f"run one by one on {problem.name}")
        problem = several
    rows = max(1, len(signals)) * where[3]
    if not problem.draws_per_replicate:
        return Objective(problem, data, rows, xp, dtype, observer, rounds=rounds)
    sample = problem.sample(cell.n, cell.draws(*where, xp))
    return Objective(problem, sample, rows, xp, dtype, observer, cell.n, rounds)


def _start_risks(measure: Measure, objective: Objective, replicates: int) -> np.ndarray:
    """Measure the start, per row; replicates that share their data share its very digits."""
    values = measure.at_start(objective)
    return values if objective.problem.draws_per_replicate else np.repeat(values[::replicates], replicates)


def replicate_blocks(row_size: int, replicates: int) -> list[tuple[int, int]]:
    """Split replicates into ``(first, count)`` blocks of bounded memory.

    One replicate holds ``row_size`` numbers at once (`Problem.row_size`, times the signals that are run at once).
    """
    size = max(1, min(replicates, BLOCK_SCORES // row_size))
    if WHOLE < size < replicates:
        size -= size % WHOLE
    return [(first, min(size, replicates - first)) for first in range(0, replicates, size)]


def describe(cell: Cell) -> str:
    """One line that names a cell."""
    return (
        f"{cell.algorithm} on {cell.problem}, n = {cell.n}, d = {cell.problem_entry.dimension}, "
        f"epsilon = {cell.epsilon:g}, delta = {cell.delta:g}"
    )
