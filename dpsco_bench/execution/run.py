"""Run one cell: all its replicates at once, in blocks whose size depends on the cell alone.

However work is split, random words and noise are equal bit for bit. Results are equal bytes on one machine, because the
cell alone decides the blocks; between other block sizes or BLAS kernels, which round a product of two rows and one of
six in different ways, they agree to 1e-12.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.algorithms.info import Info, extra, split
from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.backend.namespace import array_namespace, get_namespace, to_numpy, tuned
from dpsco_bench.errors import DpscoError, InputError, NumericalFailure
from dpsco_bench.execution.cell import AlgorithmError, Cell, ChargedCell
from dpsco_bench.execution.plugins import is_own
from dpsco_bench.fused.registry import run_of
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery, Plan, Query
from dpsco_bench.privacy.records import RandomAllocation
from dpsco_bench.problems.base import Data, Problem
from dpsco_bench.problems.objective import Objective, Observer
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.registry import Registry

BLOCK_SCORES = 1 << 23
"""Most numbers (mostly margins: rows times records) held at once."""
WHOLE = 24
"""Blocks of more replicates than this have a multiple of it: compiled passes over all records take as many at once."""

KEPT_BYTES = 2**28
"""Most bytes of data sets that are kept for the cells after them."""

Array = Any

_SCHEDULE_ONLY = ("initial_gap", "initial_distance")
"""Constants that schedules alone look at: where the schedules are equal, these may differ."""
NO_ROUNDS = "none"
"""Name of the observer of a part that wants none, whatever its algorithms name."""
OUTSIDE = 1e-5
"""Distance from a domain, over the size of the output, that rounding may leave, in float32 too."""


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
    certificate: float | None
    extras: Mapping[str, np.ndarray]
    demoted: np.ndarray
    rounded: np.ndarray


class Reuse:
    """Data sets and minima of the cells that were run before, by the objective that they belong to.

    Drawing a large data set and minimising over it again would cost more than many a run. Nothing depends on whether
    something was kept.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._data: dict[str, Data] = {}
        self.minima: dict[str, Any] = {}

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
    rounds: str = "",
    measure: Measure | None = None,
    reuse: Reuse | None = None,
) -> Trace:
    """Run replicates ``first_replicate .. first_replicate + replicates - 1`` of a cell on one data set.

    The ``plan`` is the one whose noise ``scales`` were fixed (`CalibratedCell.plan_for`): none is made here. With
    ``signals`` at each of these signal strengths at once, in place of the cell's own; the rows of the trace are then
    signal-major. ``rounds`` names an observer of the rounds, and ``measure`` measures, in place of the algorithm's own.
    ``reuse`` lends the minimum over data that replicates share.

    Raises AlgorithmError for a run that fails, or does not do what its plan declares. Raises NumericalFailure on
    non-finite outputs, naming the cell. Raises InputError for an unknown observer.
    """
    xp, problem, every = get_namespace(backend), cell.problem_entry, None if record is None else record * cell.n
    measure = measure or get_measure(cell.algorithm_entry.measure, every)
    where, name = (root_seed, data_set, first_replicate, replicates), rounds or cell.algorithm_entry.rounds
    seen = None if name in ("", NO_ROUNDS) else OBSERVERS.get(name)()
    objective = make_objective(cell, data, where, xp, dtype, measure if measure.watches else None, signals, seen)
    key = cell.objective_key(data_set) if reuse and not (signals or problem.draws_per_replicate) else ""
    if reuse and key:
        objective.minimum = reuse.minima.get(key)
    make = partial(SharedNoise, len(signals)) if signals else Mechanism
    source = make(plan, scales, cell.run_key(data_set), root_seed, first_replicate, replicates, xp, dtype)
    start_risk = measure.at_start(objective)
    if not objective.problem.draws_per_replicate:  # replicates that share their data share its very digits
        start_risk = np.repeat(start_risk[::replicates], replicates)
    with tuned():
        output, info = call_run(cell.algorithm_entry, objective, plan, source, fused=fused)
    noted = {} if seen is None else seen.finish(objective, output)
    measure.record(objective, output)
    if reuse and key:
        reuse.minima[key] = objective.minimum
    return _trace(cell, objective, measure, start_risk, to_numpy(output), info, noted)


def _trace(
    cell: Cell,
    objective: Objective,
    measure: Measure,
    start_risk: np.ndarray,
    output: np.ndarray,
    info: Info,
    noted: Mapping[str, Any],
) -> Trace:
    """Gather what a block found; NumericalFailure where it is not finite."""
    risk, rows = np.stack(measure.risk, axis=1), objective.replicates
    if not (np.isfinite(risk).all() and np.isfinite(output).all()):
        at = f"n = {cell.n}, d = {cell.problem_entry.dimension}, epsilon = {cell.epsilon:g}, delta = {cell.delta:g}"
        raise NumericalFailure(f"non-finite iterates: {cell.algorithm} on {cell.problem}, {at}")
    extras = {**info.extras, **noted, **objective.problem.beside(output, objective.host_data)}
    return Trace(
        output=output,
        risk=risk,
        evaluations=np.stack(measure.evaluations, axis=1),
        start_risk=start_risk,
        certificate=info.certificate,
        extras={name: extra(name, values, rows) for name, values in extras.items()},
        demoted=info.rows("demoted", rows),
        rounded=info.rows("rounded", rows),
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
        assert several is not None
        problem = several
    rows = max(1, len(signals)) * where[3]
    if not problem.draws_per_replicate:
        return Objective(problem, data, rows, xp, dtype, observer, rounds=rounds)
    sample = problem.sample(cell.n, cell.draws(*where, xp))
    return Objective(problem, sample, rows, xp, dtype, observer, cell.n, rounds)


def replicate_blocks(row_size: int, replicates: int) -> list[tuple[int, int]]:
    """Split replicates into ``(first, count)`` blocks of bounded memory.

    One replicate holds ``row_size`` numbers at once (`Problem.row_size`, times the signals that are run at once).
    """
    size = max(1, min(replicates, BLOCK_SCORES // row_size))
    if WHOLE < size < replicates:
        size -= size % WHOLE
    return [(first, min(size, replicates - first)) for first in range(0, replicates, size)]


class SharedNoise(Mechanism):
    """A mechanism whose draws for R replicates serve the rows of every signal, ``(S R, ...)``, signal-major."""

    answers_steps: ClassVar[bool] = True

    def __init__(self, signals: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._signals = self.copies = signals

    def choose(self, name: str, high: int) -> Array:
        return self.xp.tile(super().choose(name, high), (self._signals,))

    def permutation(self, name: str, size: int) -> Array:
        return self.xp.tile(super().permutation(name, size), (self._signals, 1))

    def _lazy_minimum(self, query: NoisyMinimumQuery, value: Array, step: int) -> Array:
        signals, size, answers = self._signals, self._replicates, []
        self._signals = 1  # a signal at a time: the same draws answer other scores
        try:
            for first in range(0, signals * size, size):
                answers.append(super()._lazy_minimum(query, value[first : first + size, :], step))
        finally:
            self._signals = signals
        return self.xp.concatenate(answers) if hasattr(self.xp, "concatenate") else self.xp.concat(answers)

    def _noise(self, query: Query, step: int, dim: int) -> Array | None:
        noise = super()._noise(query, step, dim)
        return None if noise is None else self.xp.tile(noise, (self._signals, 1))

    def _batch_arrays(self, query: Query, step: int) -> tuple[Array, Array, Array]:
        indices, weights, sizes = super()._batch_arrays(query, step)
        several = (self._signals, 1)
        return self.xp.tile(indices, several), self.xp.tile(weights, several), self.xp.tile(sizes, several[:1])


def signal_groups(entries: Iterable[ChargedCell]) -> Iterator[list[ChargedCell]]:
    """Split a job's (cell, calibration) pairs into runs of neighbours that may be run at once.

    Such cells differ in their problem's signal only, and have the same plan, noise and constants.
    """
    for _, group in groupby(entries, lambda entry: id(entry[0]) if entry[0].signal is None else _kind(entry)):
        yield list(group)


def _kind(entry: ChargedCell) -> str:
    cell, calibrated = entry
    option = problem_class(cell.problem).signal_option
    common = {key: value for key, value in cell.to_json().items() if key not in ("cell", "signal", "problem_options")}
    options = {key: value for key, value in cell.problem_options.items() if key != option}
    constants = {key: value for key, value in asdict(calibrated.constants).items() if key not in _SCHEDULE_ONLY}
    same = [calibrated.variant, calibrated.charged, calibrated.scales, calibrated.warnings]
    return dumps_canonical([common, options, constants, same])


class RoundObserver:
    """Sees the rounds of one block of replicates; one object per block.

    It may know what the algorithm must not, such as the optimum, and it hands nothing back. `noted` are extras by name.
    """

    def __init__(self) -> None:
        self.noted: dict[str, Any] = {}

    def __call__(self, objective: Objective, **state: Any) -> None:
        """See the state of a round: arrays by name, ``(R, ...)``, as the algorithm shows them."""

    def finish(self, objective: Objective, output: Any) -> Mapping[str, Any]:
        """See the output ``(R, d)``, and give what the rounds came to: extras, as of `Info`."""
        return self.noted


OBSERVERS: Registry[type[RoundObserver]] = Registry("rounds", "observers")


def round_observer(name: str) -> Callable[[type[RoundObserver]], type[RoundObserver]]:
    """Register a class as the observer of that name (used as a decorator)."""
    return lambda cls: OBSERVERS.add(name, cls, cls.__module__)


def call_run(
    algorithm: Algorithm, objective: Any, plan: Plan, mechanism: Any, counted: bool = True, fused: bool = True
) -> tuple[Any, Info]:
    """Run an algorithm, by compiled steps where these may run (`fused.registry.run_of`).

    Returns its output, of the shape of the objective's start, and its diagnostics: empty ones where it has none.
    ``counted`` says whether every query has to be released as often as the plan declares.

    Raises AlgorithmError for an exception within the run, an output of another shape, or too few releases; for a user's
    method also for an output outside of the domain. Raises InputError for an algorithm without a run.
    """
    id = algorithm.id
    run = run_of(algorithm, objective, plan, mechanism, fused) if algorithm.run_function else None
    if run is None:
        raise InputError("algorithm", id, "one with a run, attached by @plan.run")
    expected = tuple(objective.start.shape)
    try:
        output, info = split(run(objective, plan, mechanism))
    except (DpscoError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise AlgorithmError(f"algorithm {id}: its run failed with {what}{_place(error, run)}") from error
    shape = getattr(output, "shape", None)
    if shape is None or tuple(shape) != expected:
        found = type(output).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        allowed = f"(replicates, d) = {expected}, alone or as x, Info(extras)"
        raise AlgorithmError(f"algorithm {id}: its run returned {found}, must be {allowed}")
    if is_own(algorithm.plan_function.__module__):
        _check_inside(id, objective, output)
    if counted:
        check_released(id, plan, mechanism, objective.problem)
    return output, info


def undrawn(query: Query, mechanism: Any, problem: Problem) -> str:
    """Say which random choice of records a query is charged for and the run never made; empty if it made all.

    Records that every replicate draws anew are in random order already.
    """
    shuffled = problem.draws_per_replicate and isinstance(query.records, RandomAllocation)
    return "" if shuffled else str(mechanism.undrawn(query))


def check_released(id: str, plan: Plan, mechanism: Any, problem: Problem) -> None:
    """Check at the end of a run that it released what was charged, and drew the records that were charged for.

    Raises AlgorithmError naming the query, how often it was released or drawn, and how often it is declared.
    """
    for query in plan.queries:
        released = mechanism.released[query.name]
        if released != query.releases:
            raise AlgorithmError(
                f"algorithm {id}: query {query.name} was released {released} times, but its plan declares "
                f"{query.releases}: its privacy is not that of the plan"
            )
        if found := undrawn(query, mechanism, problem):
            raise AlgorithmError(f"algorithm {id}: query {found}: its privacy is not that of the plan")


def _check_inside(id: str, objective: Any, output: Any) -> None:
    """Stop a method whose output leaves the domain: its risk may be below the least of the domain."""
    if not hasattr(objective.domain, "project"):  # a polytope has none
        return
    xp = array_namespace(output)
    beyond = float(xp.max(xp.abs(output - objective.project(output))))
    if beyond > OUTSIDE * float(xp.max(xp.abs(output))):
        raise AlgorithmError(
            f"algorithm {id}: output: must be in the domain {objective.domain.name} (farthest coordinate {beyond:.3g} "
            "beyond it): objective.project(x) projects; or it asks for needs=(Trait.UNCONSTRAINED,)"
        )


def _place(error: BaseException, run: Any) -> str:
    """Where in the file of the run an error arose."""
    file = getattr(getattr(run, "__code__", None), "co_filename", "")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({file.rsplit('/', 1)[-1]}, line {lines[-1]})" if lines else ""


class Measure:
    """A number per replicate, in float64 on the host: ``F(x) - min F``, or what a subclass has in its place.

    There is one object per block of replicates. It is recorded for the output, and before that each time another
    ``every`` gradients have been evaluated, where this is given.

    Attributes
    ----------
    along_the_run : bool, whether it needs the iterates that the run observes, and not the output alone
    risk, evaluations : list of array (R,), what was recorded, and the gradients that had been evaluated by then
    """

    label: ClassVar[str] = "excess empirical risk"
    along_the_run: ClassVar[bool] = False

    def __init__(self, every: float | None = None) -> None:
        self._every, self._next = every, 0.0
        self.watches = self.along_the_run or every is not None
        self.risk: list[np.ndarray] = []
        self.evaluations: list[np.ndarray] = []

    def __call__(self, objective: Objective, x: Array) -> None:
        """See an iterate ``(R, d)``, and record it where it is due."""
        self.observe(objective, x)
        if self._every is not None and (done := float(to_numpy(objective.evaluations).mean())) >= self._next:
            self._next = (done // self._every + 1) * self._every
            self.record(objective, x)

    def unseen(self, objective: Objective) -> float:
        """Gradients until the next iterate that counts: 1 where all of them do."""
        if self.along_the_run:
            return 1
        if self._every is None:
            return 1 << 62
        return math.ceil(self._next - float(to_numpy(objective.evaluations).mean()))

    def record(self, objective: Objective, x: Array) -> None:
        """Record its value now."""
        self.risk.append(self.value(objective, x))
        self.evaluations.append(to_numpy(objective.evaluations).astype(np.float64))

    def observe(self, objective: Objective, x: Array) -> None:
        """Take an iterate into account."""

    def value(self, objective: Objective, x: Array) -> np.ndarray:
        """Measure the output (or the present iterate) ``x (R, d)``, shape ``(R,)``."""
        from dpsco_bench.fused.sparse import excess_risk  # loads Numba

        return excess_risk(objective, x)

    def at_start(self, objective: Objective) -> np.ndarray:
        """Measure the trivial run, which stays at the starting point, shape ``(R,)``."""
        return self.value(objective, objective.start)

    def closed_form(self, problem: Problem, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """Its exact expectation for an algorithm with its schedule and noise, where the problem knows it."""
        return problem.expected_gap(algorithm, schedule, scales)


class MeanSquaredGradient(Measure):
    """``mean_k ||grad F(x_k)||^2`` over the observed iterates.

    This is the exact expectation over an output drawn uniformly from them. The gradients are evaluated again in float64
    and not counted.
    """

    label: ClassVar[str] = "mean squared gradient norm"
    along_the_run: ClassVar[bool] = True

    def __init__(self, every: float | None = None) -> None:
        super().__init__(every)
        self._total: Any = 0.0
        self._count = 0

    def observe(self, objective: Objective, x: Array) -> None:
        """Add an iterate to the mean."""
        self._total = self._total + _squared_gradient(objective, x)
        self._count += 1

    def value(self, objective: Objective, x: Array) -> np.ndarray:
        """Return the mean so far; before any iterate, the value at ``x``."""
        total = self._total / self._count if self._count else _squared_gradient(objective, x)
        return to_numpy(total).astype(np.float64)

    def closed_form(self, problem: Problem, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        return problem.expected_mean_squared_gradient(schedule["step"], schedule["steps"], scales["gradient"])


def get_measure(name: str, every: float | None = None) -> Measure:
    """Make a measure by name. Raises InputError for an unknown name."""
    if name not in MEASURES:
        raise InputError("measure", name, "one of " + ", ".join(MEASURES))
    return MEASURES[name](every)


MEASURES: dict[str, type[Measure]] = {"excess_risk": Measure, "mean_squared_gradient": MeanSquaredGradient}


def _squared_gradient(objective: Objective, x: Array) -> Array:
    gradient = objective.exact_gradient(x)
    return objective.xp.sum(gradient * gradient, axis=-1)
