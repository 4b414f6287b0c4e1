"""One point and every method: which accept it, what they would take, and a job for each that fits into the time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.claims.board import Board, Entrant, Instance, board_ids, load_board
from dpsco_bench.claims.board_jobs import CALIBRATION, REFERENCE, SILENT, Unfit, planned, steps_text
from dpsco_bench.claims.costs import expected_seconds
from dpsco_bench.claims.jobs import finished
from dpsco_bench.claims.lower_bounds import lower_bound_name
from dpsco_bench.claims.other_names import usual
from dpsco_bench.claims.plan import BoardEntry, LeftOut
from dpsco_bench.claims.settings import Settings
from dpsco_bench.errors import DpscoError, InputError, checked_count, nearest
from dpsco_bench.execution.cell import Cell, Draft, check_data_sets, pinned
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.library import check_run, check_sampled
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.request import CELL_KEYS, CONSTANT, CONSTANTS, PROBLEM, as_declared, problem_options
from dpsco_bench.execution.rounds import NO_ROUNDS
from dpsco_bench.jsonio import digest
from dpsco_bench.plain import Options
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.registry import get_problem, problem_class

ID = "choose"
LIMIT = 90.0
"""Seconds."""
OVERHEAD = 0.3
"""Seconds on one core that a method takes beside its steps: its process, its accountant, its data."""
COUNTS = ("replicates", "data_sets")


@dataclass(frozen=True)
class Point:
    """What all methods are run at.

    Attributes
    ----------
    problem : str
    options : mapping, constructor options of the problem, ``constants`` among them
    n : int
    d : int or None, None for the problem's default
    epsilon, delta : float, to which every accountant calibrates
    replicates, data_sets : int
    """

    problem: str
    n: int
    epsilon: float = 1.0
    delta: float = 1e-6
    d: int | None = None
    options: Options = field(default_factory=dict)
    replicates: int = 16
    data_sets: int = 1

    def entry(self, data_root: str) -> Problem:
        """The problem itself."""
        root = {"root": data_root} if problem_class(self.problem).needs_data_root else {}
        return get_problem(self.problem, self.d, **{**self.options, **root})


def make_point(keys: Options, data_root: str = "data") -> Point:
    """Sort plain keys into a point.

    Parameters
    ----------
    keys : mapping
        ``problem``, ``n`` (a file has all its records by default), ``d``, ``epsilon``, ``delta``, ``replicates``,
        ``data_sets``, and options and constants of the problem, plain or with their prefix.

    Raises
    ------
    InputError
        For a key that is missing or unknown, or a value out of range.
    """
    if "problem" not in keys:
        raise InputError("problem", "missing", "given: `dpsco list problems` shows all")
    cls = problem_class(str(keys["problem"]))
    found: dict[str, Any] = {}
    options: dict[str, Any] = {}
    constants: dict[str, Any] = {}
    for key, value in keys.items():
        prefix, _, name = key.rpartition(".")
        if key in (*CELL_KEYS, *COUNTS):
            found[key] = value
        elif name in problem_options(cls) and prefix in ("", PROBLEM):
            options[name] = value
        elif name in CONSTANTS and prefix in ("", CONSTANT):
            constants[name] = value
        elif key != "problem":
            known = (*CELL_KEYS, *COUNTS, *problem_options(cls), *CONSTANTS)
            allowed = nearest(usual(name, known), known, f"dpsco show {cls.name}", "key of the problem")
            raise InputError(key, value, allowed, "methods run with the parameters of their theorems")
    options = {k: v for k, v in as_declared(options, problem_options(cls)).items() if v is not None}
    if constants:
        options["constants"] = constants
    root = {"root": data_root} if cls.needs_data_root else {}
    entry = get_problem(cls.name, found.get("d"), **{**options, **root})
    found.setdefault("n", entry.records if cls.file_options else None)
    if found["n"] is None and cls.file_options:
        raise InputError("path", "missing", "given: a CSV, TSV, Parquet or LIBSVM file; or n and d, with --twin")
    if found["n"] is None:
        raise InputError("n", "missing", "given, an integer >= 1")
    counts = {key: checked_count(key, found[key]) for key in ("n", *COUNTS) if key in found}
    point = Point(cls.name, options=options, **{**found, **counts})
    numbers = (point.n, point.epsilon, point.delta)
    check_run(CALIBRATION, point.replicates, 0)
    check_data_sets(cls.name, point.data_sets)
    entry.check_records(point.n)
    check_sampled(Cell("", point.problem, *numbers, d=point.d, problem_options=point.options))
    return replace(point, d=entry.dimension, epsilon=float(point.epsilon), delta=float(point.delta))


def twin_of(point: Point, data_root: str = "data") -> Point:
    """The point of synthetic records with the shape of one's own: n, d and options, and nothing else of the records.

    Raises
    ------
    InputError
        For a problem that has none, or one whose constants only the data know.
    """
    cls = problem_class(point.problem)
    if not cls.twin:
        raise InputError("twin", point.problem, "a problem on one's own data; on others choosing costs no privacy")
    known = problem_options(problem_class(cls.twin))
    options = {key: value for key, value in point.options.items() if key in known or key == "constants"}
    return replace(point, problem=cls.twin, options={**options, **point.entry(data_root).twin_options})


def contestants() -> list[Entrant]:
    """Every method: those of the boards that ship, as they have them, and all others that are registered."""
    found = {method.name: method for board in shipped_boards() for method in board.methods}
    listed = {method.algorithm for method in found.values()}
    for id in list_algorithms():
        if id not in listed:
            method = Entrant(id)
            method = replace(method, label=id) if method.name in found else method
            found[method.name] = method
    return list(found.values())


def shipped_boards() -> list[Board]:
    """Boards of the configuration tree."""
    return [load_board(id) for id in board_ids()]


def shipped_instances(problem: str | None = None) -> list[Instance]:
    """Their instances, all or those of one problem."""
    found = [instance for board in shipped_boards() for instance in board.instances]
    return [instance for instance in found if problem in (None, instance.problem)]


@dataclass(frozen=True)
class Candidate:
    """A method that accepts the point.

    Attributes
    ----------
    run_seconds : float, what running it is expected to take
    """

    method: Entrant
    cell: Cell
    plan: Plan
    run_seconds: float

    @property
    def seconds(self) -> float:
        """What calibrating and running it is predicted to take on one core."""
        return OVERHEAD + self.run_seconds


def candidates(point: Point, settings: Settings) -> tuple[list[Candidate], list[LeftOut]]:
    """Methods that accept a point, the quickest first, and those that do not, with the reason in a line."""
    excluded = {name: why for one in shipped_instances(point.problem) for name, why in one.excluded.items()}
    job, found, left_out = _job(point, "", CALIBRATION, settings), [], []
    for method in contestants():
        try:
            if method.name in excluded:
                raise Unfit("refused", excluded[method.name])
            cell, plan = planned(_cell(point, method.name, method), job)
            if not method.profiles:
                raise Unfit("not_run", method.why)
        except Unfit as unfit:
            left_out.append(_left_out(point, method, unfit.status, unfit.brief))
        else:
            seconds = expected_seconds(cell, plan, point.replicates * point.data_sets)
            found.append(Candidate(method, cell, plan, seconds))
    kept: list[Candidate] = []
    for one in sorted(found, key=lambda one: one.method.name):  # the name that is kept hangs on no prediction
        twin = next((other for other in kept if _same(one, other)), None)
        if twin is None:
            kept.append(one)
        else:  # two streams of one law would be two chances to be the best
            left_out.append(_left_out(point, one.method, "not_run", f"it is the same mechanism as {twin.method.name}"))
    return sorted(kept, key=lambda one: (one.seconds, one.method.name)), left_out


def _same(one: Candidate, other: Candidate) -> bool:
    """Whether two methods are one mechanism here: one run by one plan."""
    runs = [get_algorithm(each.method.algorithm).run_function for each in (one, other)]
    return runs[0] is runs[1] and one.plan == other.plan


def choice_entry(point: Point, settings: Settings, limit: float = LIMIT) -> BoardEntry:
    """A board of one point: a job for each method that fits, and one without noise where the risk asks for it.

    Parameters
    ----------
    limit : float
        Seconds on one core for all methods together, as predicted; the quickest ones come first.

    Returns
    -------
    BoardEntry
        ``left_out`` has what is refused, and what is too long with what it would take.
    """
    problem = point.entry(settings.data_root)
    reason = problem_class(point.problem).unavailable(Path(settings.data_root))
    if reason:
        raise DpscoError(f"problem = {point.problem}: {reason}")
    found, left_out = candidates(point, settings)
    jobs, spent = [], 0.0
    for one in found:
        if spent + one.seconds > limit:
            text = f"about {duration(one.seconds)}: {steps_text(one.plan)}"
            left_out.append(_left_out(point, one.method, "too_long", text))
            continue
        spent += one.seconds
        jobs.append(_method_job(point, one.method.name, one.method, CALIBRATION, one.seconds, settings))
    reference = _reference(point, problem, settings)
    if reference:
        jobs.insert(0, _method_job(point, REFERENCE, reference, SILENT, OVERHEAD, settings))
    instance = Instance(
        id=point.problem,
        title=type(problem).summary,
        problem=point.problem,
        problem_options=point.options,
        without_privacy=reference,
        lower_bound=lower_bound_name(problem),
    )
    methods = [one.method for one in found]
    board = Board(ID, "Which method?", point.delta, methods, [instance], {}, {}, {}, {}, {})
    return BoardEntry(ID, tuple(jobs), digest([point, [job.key for job in jobs]]), board, tuple(left_out))


def _reference(point: Point, problem: Problem, settings: Settings) -> Entrant | None:
    """The method whose run without noise stands for the optimum without privacy, where that has a positive risk."""
    if not problem.population:
        return None
    ours = [one.without_privacy for one in (*shipped_instances(point.problem), *shipped_instances())]
    job = _job(point, "", SILENT, settings)
    for entrant in dict.fromkeys(one.algorithm for one in ours if one):
        try:
            planned(_cell(point, REFERENCE, Entrant(entrant)), job)
        except Unfit:
            continue
        return Entrant(entrant)
    return None


def _cell(point: Point, name: str, method: Entrant) -> Draft:
    return Draft(
        algorithm=method.algorithm,
        variant=method.variant,
        options=dict(method.options),
        method=f"{point.problem}/{name}",
        parameter="point",
        value=0.0,
        problem=point.problem,
        problem_options=dict(point.options),
        n=point.n,
        d=point.d,
        epsilon=point.epsilon,
        delta=point.delta,
    )


def _job(point: Point, part: str, calibration: str, settings: Settings) -> Job:
    return settings.job(
        claim=ID,
        part=part,
        kind="leaderboard",
        calibration=calibration,
        replicates=point.replicates,
        data_sets=point.data_sets,
        rounds=NO_ROUNDS,
    )


def _method_job(point: Point, name: str, method: Entrant, calibration: str, seconds: float, settings: Settings) -> Job:
    job = _job(point, name, calibration, settings)
    cell = pinned(_cell(point, name, method), settings.data_root)
    return finished(replace(job, cells=(cell,), seconds=(seconds,)))


def _left_out(point: Point, method: Entrant, status: str, reason: str) -> LeftOut:
    place = (point.n, point.d, point.epsilon)
    return LeftOut(point.problem, method.name, get_algorithm(method.algorithm).id, *place, 0.0, status, reason)
