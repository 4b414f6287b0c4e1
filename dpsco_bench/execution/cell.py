"""A cell: one algorithm on one problem at one (n, d, epsilon, delta), as plain data, and what calibrating it gives.

Plan functions are called here alone: an error in one, or a difference between two calls, is one line.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm, get_algorithm
from dpsco_bench.errors import DpscoError, InputError, checked_count
from dpsco_bench.jsonio import restore
from dpsco_bench.plain import UNWRITTEN, Options, Plain, Record, Schedule
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.privacy.plan import Plan, PrivacySpec
from dpsco_bench.privacy.records import Disjoint, Poisson, RandomAllocation
from dpsco_bench.problems.base import Constants, Data, Draws, Problem, StreamFactory
from dpsco_bench.problems.registry import get_problem, problem_class
from dpsco_bench.rng.streams import Stream, stream_key

EPSILON_VALUES = ("epsilon_real", "epsilon_output", "epsilon_sequence")
EPSILONS = (*EPSILON_VALUES, *(f"{name}_kind" for name in EPSILON_VALUES), "epsilon_of")
"""Fields of whatever has a real epsilon: that of the output where it is known, else that of all answers; and which of
the two it is, ``output``, ``sequence``, or ``release`` where there is one answer."""


class AlgorithmError(DpscoError):
    """An algorithm that fails or does not do what its plan declares; the original error, if any, is its cause."""


class ImpurePlan(AlgorithmError):
    """A plan function that gives two plans for one set of arguments: what is charged need not be what runs."""


@dataclass(frozen=True)
class Cell(Record):
    """Everything that identifies one cell of a claim or one run; its numbers are checked when it is made.

    Attributes
    ----------
    method : str, label of the method within its part
    parameter, value : the swept parameter and its value, for slopes
    cell : int, number within the job
    signal : float or None, value of the problem's free signal strength, where the cell belongs to a grid of it
    """

    algorithm: str
    problem: str
    n: int
    epsilon: float
    delta: float
    d: int | None = None
    variant: str | None = None
    options: Options = field(default_factory=dict)
    problem_options: Options = field(default_factory=dict)
    method: str = ""
    parameter: str = ""
    value: float = math.nan
    cell: int = 0
    signal: float | None = None

    def __post_init__(self) -> None:
        for key in ("n", "d") if self.d is not None else ("n",):
            object.__setattr__(self, key, checked_count(key, getattr(self, key)))
        for key in ("options", "problem_options"):  # streams are named by these: p = inf is one thing, however written
            object.__setattr__(self, key, restore(dict(getattr(self, key))))
        PrivacySpec(self.epsilon, self.delta)

    def at_signal(self, signal: float) -> Cell:
        """Set the signal of a cell whose problem has one."""
        options = {**self.problem_options, str(problem_class(self.problem).signal_option): float(signal)}
        return replace(self, problem_options=options, signal=float(signal))

    @property
    def place(self) -> str:
        """Its n and claimed privacy, as errors name them."""
        return f"n = {self.n}, epsilon = {self.epsilon:g}, delta = {self.delta:g}"

    @cached_property
    def privacy(self) -> PrivacySpec:
        return PrivacySpec(self.epsilon, self.delta)

    @cached_property
    def algorithm_entry(self) -> Algorithm:
        return get_algorithm(self.algorithm)

    @cached_property
    def problem_entry(self) -> Problem:
        problem = get_problem(self.problem, self.d, **dict(self.problem_options))
        return problem.at(self.n, float(self.epsilon), float(self.delta))

    def data_key(self) -> str:
        """Key of the data streams: neither algorithm, privacy, calibration nor signal."""
        return _canonical(data=self.problem, options=self._data_options(), n=self.n, d=self.problem_entry.dimension)

    def objective_key(self, data_set: int) -> str:
        """Key of objective and data: all options of the problem, and what a family of them reads of the cell."""
        options, place = self.problem_options, (self.n, self.d, float(self.epsilon), float(self.delta))
        family = type(self.problem_entry).at is not Problem.at
        return _canonical(problem=self.problem, options=options, at=place if family else place[:2], data_set=data_set)

    def run_key(self, data_set: int) -> str:
        """Key of the noise streams: neither calibration, variant nor schedule, hence common random numbers."""
        return _canonical(
            run=self.algorithm_entry.id,
            problem=self.problem,
            options=self._data_options(),
            n=self.n,
            d=self.problem_entry.dimension,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            data_set=data_set,
        )

    def _data_options(self) -> Options:
        """Return the constructor options that can change the data: a file's content, not its place; no constants.

        One form per meaning, since streams are keyed by it: defaults are left out, ``8`` for a real option is ``8.0``.
        """
        defaults = {k: p.default for k, p in inspect.signature(problem_class(self.problem)).parameters.items()}
        options = {
            k: float(v) if isinstance(defaults.get(k), float) and isinstance(v, int) else v
            for k, v in placeless(self.problem, {**self.problem_options, **self.problem_entry.pins}).items()
            if k not in ("constants", self.problem_entry.signal_option, *self.problem_entry.unkeyed_options)
        }
        return {k: v for k, v in options.items() if v != defaults.get(k, inspect.Parameter.empty)}

    def draw_data(self, root_seed: int, data_set: int) -> Data:
        """Draw one data set from its keyed streams; only its size where every replicate has its own sample."""
        if self.problem_entry.draws_per_replicate:
            return Data(self.n)
        return self.problem_entry.draw(self.n, self._data_streams(root_seed, data_set, np))

    def draws(
        self, root_seed: int, data_set: int = 0, first_replicate: int = 0, replicates: int = 1, xp: Any = np
    ) -> Draws:
        """Make the random numbers of the samples of some replicates, for `Problem.sample`."""
        return Draws(self._data_streams(root_seed, data_set, xp), first_replicate, replicates)

    def _data_streams(self, root_seed: int, data_set: int, xp: Any) -> StreamFactory:
        what = self.data_key()
        return lambda name: Stream(stream_key(root_seed, what, f"data/{data_set}/{name}"), xp)

    def constants(self, root_seed: int) -> Constants:
        """Return the constants that the algorithm sees; draw data only if the constants depend on them."""
        problem = self.problem_entry
        if problem.data_dependent_constants:  # a schedule that looks at the data is never private
            known = problem.constants_of(self.draw_data(root_seed, 0)).but(status="nominal")
        else:
            known = problem.constants
        return self.algorithm_entry.visible_constants(known, problem)

    def plan(self, calibration: str, root_seed: int, twice: bool = True) -> tuple[str, Plan]:
        """Resolve the variant and make the plan, by default twice: both have to be the same.

        Raises InputError or Refusal for an impossible pair, combination or schedule. Raises AlgorithmError for a plan
        function that fails, or gives two plans.
        """
        entry = self.algorithm_entry
        variant = entry.variant_for(calibration, self.variant)
        entry.check_problem(self.problem_entry)
        constants = self.constants(root_seed)
        plan = self.make_plan(variant, constants, calibration)
        if twice:
            again = self.make_plan(variant, constants, calibration)
            _check_same(entry.id, PlanRecord.of(plan), PlanRecord.of(again), "when it was first made")
        return variant, plan

    def make_plan(self, variant: str, constants: Constants, calibration: str) -> Plan:
        """One call of the plan function, at constants that are known; as `plan`."""
        entry, d = self.algorithm_entry, self.problem_entry.effective_dimension
        try:
            plan = entry.plan(constants, self.n, d, self.privacy, variant, calibration, **dict(self.options))
        except DpscoError:
            raise
        except (Exception, SystemExit) as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise AlgorithmError(f"algorithm {entry.id}: its plan failed at {self.place} with {what}") from error
        if not isinstance(plan, Plan):
            found = type(plan).__name__
            raise AlgorithmError(f"algorithm {entry.id}: its plan returned {found}, must be what make_plan returns")
        check_records(entry.id, plan, self.n)
        return plan


def located(cell: Cell, data_root: str) -> Cell:
    """Add the data root to a cell whose problem asks for one; no result stores that place."""
    root = {"root": data_root} if problem_class(cell.problem).needs_data_root else {}
    return replace(cell, problem_options={**cell.problem_options, **root})


def placeless(problem: str, options: Options) -> Options:
    """Drop the places of files from a problem's constructor options."""
    places = ("root", *problem_class(problem).file_options)
    return {key: value for key, value in options.items() if key not in places}


def pinned(given: Plain, data_root: str) -> Cell:
    """Make a cell of its fields, pinned to the files that are there now, by default with all their records.

    Raises InputError if there is no such file, or a number is missing.
    """
    found = {"n": None, "d": None, "problem_options": {}, **given}
    if problem_class(found["problem"]).file_options:
        problem = get_problem(found["problem"], found["d"], **{"root": data_root, **found["problem_options"]})
        found["problem_options"] = {**found["problem_options"], **problem.pins}
        found["n"] = problem.records if found["n"] is None else found["n"]
    for key, allowed in (("n", "given, an integer >= 1"), ("epsilon", "given"), ("delta", "given")):
        if found.get(key) is None:
            raise InputError(key, "missing", allowed)
    return Cell(**found)


def check_data_sets(problem: str, data_sets: int) -> None:
    """Check a number of data sets: a file holds one, and others would repeat its rows.

    Raises InputError above 1 for a problem on a file.
    """
    if problem_class(problem).file_options and data_sets > 1:
        raise InputError("data_sets", data_sets, f"1 for {problem}: a file is one data set")


def without_places(cell: Cell) -> Cell:
    """Strip places from a plan's cell, as results keep it and keys digest it: content counts, places do not."""
    return replace(cell, problem_options=placeless(cell.problem, cell.problem_options))


def check_records(id: str, plan: Plan, n: int) -> None:
    """Check that a plan samples from the ``n`` records of its run, and from no more of them than there are.

    Raises AlgorithmError naming the query, the number and what it must be.
    """

    def refuse(what: str, value: Any, allowed: str) -> None:
        raise AlgorithmError(f"algorithm {id}: {what} = {value}: must be {allowed}{n}, the records of its run")

    if plan.schedule.get("n", n) != n:
        refuse("n of its plan", plan.schedule["n"], "")
    for query in plan.queries:
        records: Any = query.records
        if isinstance(records, Poisson) and "n" not in plan.schedule:
            refuse("n of its plan", "missing", "given to make_plan: ")
        if getattr(records, "population", n) != n:
            refuse(f"population of {query.name}", records.population, "")
        if getattr(records, "count", 0) > n:
            refuse(f"count of {query.name}", records.count, "at most ")
    blocks = [q.records.size * q.releases for q in plan.queries if isinstance(q.records, Disjoint | RandomAllocation)]
    if sum(blocks) > n:
        refuse("sizes of its blocks", f"{sum(blocks)} in all", "at most ")


def _check_same(id: str, first: PlanRecord, second: PlanRecord, when: str) -> None:
    """Refuse two plans for one set of arguments that differ; ``when`` says when the first was made."""
    found = None if repr(first) == repr(second) else first.difference(second)  # nearly all are equal to the letter
    if found:
        key, was, now = (" ".join(str(item).split()) for item in found)
        raise ImpurePlan(f"algorithm {id}: {key} = {now}: must be {was}, as {when}: its plan function is not pure")


def _canonical(**entries: Any) -> str:
    return json.dumps(entries, sort_keys=True, separators=(",", ":"))


def epsilons(of: Any) -> dict[str, Any]:
    """Read the fields of `EPSILONS`; None for an unknown epsilon of the output or the sequence."""
    values = {name: getattr(of, name) for name in EPSILONS}
    return {k: None if k != "epsilon_real" and isinstance(v, float) and math.isnan(v) else v for k, v in values.items()}


@dataclass(frozen=True)
class CalibratedCell(Record):
    """Result of calibrating a cell.

    Attributes
    ----------
    charged : PlanRecord, the plan as the accountant saw it
    scales : mapping, noise scale per query; of a normal its standard deviation
    epsilon_real, epsilon_real_kind, accountant : float, str, str
        The accountant's value (NaN without one), ``exact``, ``upper`` or ``lower``, and who says so; others of
        `EPSILONS`.
    constants : Constants, what the schedule saw of the problem
    dimension : int, the one that schedules and bounds use
    warnings : tuple of str, of the plan, then of the problem
    epsilon_law, tau, sampler_status : float, float, str, as in `privacy.plan.Charge`
    attained : bool, whether records of this problem are known to attain that value (`privacy.attained.attains`)
    plan : Plan or None, the charged plan itself, where this was not read from data
    """

    calibration: str
    variant: str
    charged: PlanRecord
    scales: Mapping[str, float]
    epsilon_real: float
    epsilon_real_kind: str
    accountant: str
    privacy_status: str
    constants: Constants
    dimension: int
    signal_capped: bool
    warnings: tuple[str, ...]
    epsilon_law: float = math.nan
    tau: float = math.nan
    sampler_status: str = ""
    attained: bool = True
    epsilon_of: str = ""
    epsilon_output: float = math.nan
    epsilon_output_kind: str = ""
    epsilon_sequence: float = math.nan
    epsilon_sequence_kind: str = ""
    plan: Plan | None = field(default=None, repr=False, compare=False, metadata=UNWRITTEN)

    @property
    def schedule(self) -> Schedule:
        """The theorem's named quantities."""
        return self.charged.schedule

    @property
    def gradient_evaluations(self) -> float:
        return self.charged.gradient_evaluations

    @property
    def leaks(self) -> tuple[str, ...]:
        """Uses of the data that no query covers; empty for a private algorithm."""
        return tuple(leak for leak in (self.charged.unprotected, *self.charged.leaks) if leak)

    @property
    def law(self) -> dict[str, float | str | None]:
        """Columns of results on a draw: None if nothing is known."""
        known = {"epsilon_law": self.epsilon_law, "tau": self.tau}
        return {**{k: None if math.isnan(v) else v for k, v in known.items()}, "sampler_status": self.sampler_status}

    def plan_for(self, cell: Cell) -> Plan:
        """Return the charged plan: handed over, or made from the same constants and compared whole.

        The cell is the one that was calibrated, or one of another signal with the same calibration. Raises
        AlgorithmError where the plan function gives another plan than the one that was charged.
        """
        if self.plan is not None:
            return self.plan
        plan = cell.make_plan(self.variant, self.constants, self.calibration)
        _check_same(cell.algorithm_entry.id, self.charged, PlanRecord.of(plan), "when it was charged")
        return plan


ChargedCell = tuple[Cell, CalibratedCell]


@dataclass(frozen=True)
class RefusedCell(Record):
    """A cell that cannot be calibrated, which on a leaderboard is a result: why not."""

    refused: str


Calibrations = tuple[CalibratedCell | RefusedCell, ...]
"""Calibrations of the cells of a job, in their order."""


@dataclass(frozen=True)
class Calibrated(Record):
    """Calibrations of a job as they are stored."""

    cells: Calibrations
