"""A leaderboard: its file, its points, and the jobs that run its methods there.

A job is a method on an instance: an edit of the method makes its own jobs due, and no other's. What a method refuses,
or what takes too long, is kept with its reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from dpsco_bench.algorithms.registry import ALGORITHMS, NO_VARIANT, get_algorithm, list_algorithms
from dpsco_bench.claims.bounds.registry import BOUNDS, get_bound
from dpsco_bench.claims.catalogue import naming, read_own
from dpsco_bench.claims.files import build_checked, check_names, listed, read_shipped
from dpsco_bench.claims.jobs import expected_seconds, finished
from dpsco_bench.claims.model import by_profile, check_profile
from dpsco_bench.claims.plan import SEARCH_MARK, BoardEntry, LeftOut
from dpsco_bench.errors import DpscoError, InputError, Refusal, checked_count
from dpsco_bench.execution.cell import Cell, located, pinned
from dpsco_bench.execution.jobs import OF, RANKING, SEARCHED, Job, Settings
from dpsco_bench.execution.predict import rounds_of
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.run import NO_ROUNDS
from dpsco_bench.jsonio import digest, restore, to_jsonable
from dpsco_bench.paths import conf_dir
from dpsco_bench.plain import Options, Plain, Record
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.constants import need_text
from dpsco_bench.problems.registry import get_problem, problem_class
from dpsco_bench.registry import absent_paper, say_once

PREFIX = "leaderboard."
COUNTS, LIMITS = ("replicates", "data_sets"), ("most_seconds", "most_seconds_at_smallest_n")
INTEGERS = (*COUNTS, "quadratic_to")
BY_PROFILE = ("grids", *INTEGERS, *LIMITS)  # keys with a value for each profile; a value alone is that of all profiles
USUAL = {"replicates": 16, "data_sets": 1, "most_seconds": 60.0}  # values where a file has none
EVERY = "all"  # in place of the methods: every one that is registered, with the settings of the boards that ship
CALIBRATION, SILENT = "accounted", "none"
REFERENCE = "without_privacy"  # name of the runs without noise among the methods
RISK_MEASURE = "excess_risk"
QUADRATIC = 11 / 6
"""Counts that grow by a larger power of n are of order n^2.

Theorems have powers up to 5/3, and 2. Halfway between them a factor ln n, which adds or takes 1/ln n, tips neither from
n = 404 on.
"""
QUICK = 10.0  # a cell that is predicted to take no longer than this runs, whatever the order of its steps


@dataclass(frozen=True, kw_only=True)
class Entrant(Record):
    """A method of a board: an algorithm with the hyper-parameters of its theorem."""

    algorithm: str
    label: str = ""
    variant: str | None = None
    options: Options = field(default_factory=dict)  # constants that the paper leaves to the user, and nothing else
    why: str = ""  # it is not run; the reason

    @property
    def name(self) -> str:
        return self.label or self.algorithm.split(".", 1)[-1]

    def runs_as(self, other: Entrant) -> bool:
        """Tell whether both run the same, whatever they are called."""
        return all(getattr(self, key) == getattr(other, key) for key in ("algorithm", "variant", "options"))


@dataclass(frozen=True, kw_only=True)
class Search(Entrant):
    """A method whose step size and number of steps are searched in public: not a private method."""

    grid: Mapping[str, list[float]]  # values of schedule options, all combinations of which are run
    beside: list[Options] = field(default_factory=list)  # further settings; an empty one is the theorem's own

    @property
    def settings(self) -> list[Search]:
        """The search with the options of each of its settings."""
        values = [[int(v) if float(v).is_integer() and k == "steps" else v for v in vs] for k, vs in self.grid.items()]
        combinations = [dict(zip(self.grid, chosen, strict=True)) for chosen in product(*values)]
        return [replace(self, options={**self.options, **setting}) for setting in (*combinations, *self.beside)]


@dataclass(frozen=True)
class Instance(Record):
    """A common instance.

    ``without_privacy`` is run without noise and is (near) the optimum without privacy, where that has a positive risk:
    the sample's minimiser under the population's risk. None where the risk is the sample's own, whose minimum is 0.
    """

    id: str
    title: str
    problem: str
    problem_options: Options = field(default_factory=dict)
    signals: list[float] = field(default_factory=list)
    grids: Mapping[str, list[Any]] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)
    excluded: Mapping[str, str] = field(default_factory=dict)  # methods that cannot be run here -> the reason
    without_privacy: Entrant | None = None
    lower_bound: str = ""  # formula that every private method respects, up to constants
    runs_to: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Profile -> method -> the n to which it runs here whatever it takes: its run alone decides a point."""
    note: str = ""


class GridPoint(NamedTuple):
    """A place of an instance's grid; d is None where it is not free."""

    n: int
    epsilon: float
    d: int | None = None


@dataclass(frozen=True)
class Board(Record):
    """A leaderboard; mappings are from profiles.

    A grid has blocks ``{n: [...], d: [...], epsilon: [...]}``, whose points are all combinations. A cell that is
    predicted to take more than ``most_seconds`` is left out, and shown as such; at the smallest n of an instance the
    limit is another one: of what runs nowhere on it, nothing is known. Methods whose rounds or gradients are of order
    n^2 (`is_quadratic`) run up to ``quadratic_to``, if it is given, unless they are quick.
    """

    id: str
    title: str
    delta: float
    methods: list[Entrant]  # every one is tried on every instance
    instances: list[Instance]
    grids: Mapping[str, list[Any]]
    replicates: Mapping[str, int]
    data_sets: Mapping[str, int]
    most_seconds: Mapping[str, float]
    most_seconds_at_smallest_n: Mapping[str, float]
    quadratic_to: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, entry: BoardEntry) -> Board:
        return cls.from_json(restore(entry.board))

    def shared(self, instance: Instance) -> list[tuple[str, str, int, str]]:
        """List (instance, search, number of a setting, method) of the settings that a method's own run serves."""
        methods = [one for one in self.methods if not one.why and one.name not in instance.excluded]
        return [
            (instance.id, search.name, number, alike[0])
            for search in instance.searches
            for number, setting in enumerate(search.settings)
            if (alike := [one.name for one in methods if one.runs_as(setting)])
        ]

    def entrants(self, instance: Instance) -> list[tuple[str, str, Entrant]]:
        """List (calibration, name, method) of all that an instance runs at each of its points."""
        shared = {(search, number) for _, search, number, _ in self.shared(instance)}
        found: list[tuple[str, str, Entrant]] = [(CALIBRATION, one.name, one) for one in self.methods]
        for search in instance.searches:
            own = [(k, one) for k, one in enumerate(search.settings) if (search.name, k) not in shared]
            found += [(CALIBRATION, f"{search.name}{SEARCH_MARK}{k}", one) for k, one in own]
        return found + ([(SILENT, REFERENCE, instance.without_privacy)] if instance.without_privacy else [])

    def points(self, instance: Instance, profile: str) -> list[GridPoint]:
        """List the distinct (n, d, epsilon) of an instance in a profile, in the order of its blocks."""
        found = (
            GridPoint(**dict(zip(block, chosen, strict=True)))
            for block in (instance.grids or self.grids).get(profile, [])
            for chosen in product(*block.values())
        )
        return list(dict.fromkeys(found))


def board_ids() -> list[str]:
    """List the ids of the boards that ship, from their files ``conf/leaderboard/<name>.yaml``."""
    return sorted(PREFIX + path.stem for path in (conf_dir() / "leaderboard").glob("*.yaml"))


def load_board(id: str) -> Board:
    """Read a board that ships, without methods and bounds of papers that are not installed."""
    name = id.removeprefix(PREFIX)
    board = parse_board(read_shipped(conf_dir() / "leaderboard" / f"{name}.yaml"), name)

    def absent(method: Entrant) -> bool:
        return bool(absent_paper(method.algorithm, of=ALGORITHMS, left_out="methods of the board"))

    methods, instances = [one for one in board.methods if not absent(one)], []
    for one in board.instances:
        searches = [search for search in one.searches if not absent(search)]
        reference = None if one.without_privacy and absent(one.without_privacy) else one.without_privacy
        unbounded = absent_paper(one.lower_bound, of=BOUNDS, left_out="a lower bound of the board")
        bound = "" if unbounded else one.lower_bound
        instances.append(replace(one, searches=searches, without_privacy=reference, lower_bound=bound))
    return replace(board, methods=methods, instances=instances)


def shipped_instances(problem: str = "") -> list[Instance]:
    """List the instances of the boards that ship, of all problems or of one."""
    found = (one for id in board_ids() for one in load_board(id).instances)
    return [one for one in found if problem in ("", one.problem)]


def own_boards(files: Sequence[str | Path]) -> dict[str, Board]:
    """Read boards in a user's own files, by id. Raises InputError for a wrong file, or an id that is taken."""
    found: dict[str, Board] = {}
    for file, entry in read_own(files, "boards"):
        with naming(file):
            board = parse_board(entry, Path(file).stem)
        if board.id in (*board_ids(), *found):
            raise InputError(f"id in {file}", board.id, "one that no other leaderboard has")
        found[board.id] = replace(board, instances=[_beside(one, Path(file).parent) for one in board.instances])
    return found


def _beside(instance: Instance, folder: Path) -> Instance:
    """Find the data file of an instance beside its board, where it does not lie in the working directory."""
    path = instance.problem_options.get("path")
    if not isinstance(path, str) or Path(path).is_file() or not (folder / path).is_file():
        return instance
    return replace(instance, problem_options={**instance.problem_options, "path": str(folder / path)})


def contestants() -> list[Entrant]:
    """List every method: those of the boards that ship, as they have them, and all others that are registered."""
    found = {method.name: method for id in board_ids() for method in load_board(id).methods}
    known = {method.algorithm for method in found.values()}
    for method in (Entrant(algorithm=id) for id in list_algorithms() if id not in known):
        method = replace(method, label=method.algorithm) if method.name in found else method
        found[method.name] = method
    return list(found.values())


def parse_board(entry: Any, name: str = "") -> Board:
    """Build a board from its file; ``name`` is the id where the file has none. Raises InputError for a wrong key."""
    if not isinstance(entry, Mapping):
        raise InputError("leaderboard", entry, "a mapping of keys to values")
    id = str(entry.get("id", name))
    id = id if id.startswith(PREFIX) else PREFIX + id
    if not re.fullmatch(r"leaderboard\.[\w-]+", id):
        raise InputError("id", id, "letters, digits, - and _")
    values = {**USUAL, "title": id.removeprefix(PREFIX).replace("_", " "), **entry, "id": id}
    values.setdefault("most_seconds_at_smallest_n", values["most_seconds"])
    if values.get("methods") == EVERY:
        values["methods"] = contestants()
    else:
        methods = listed(values.get("methods"), f"{id}: methods")
        values["methods"] = [_entrant(Entrant, one, f"{id}, method") for one in methods]
    values["instances"] = [_instance(one, id) for one in listed(values.get("instances"), f"{id}: instances")]
    values |= {key: _by_profile(values[key], f"{id}: {key}") for key in BY_PROFILE if key in values}
    board: Board = build_checked(Board, values, id)
    _check(board)
    return board


def _by_profile(values: Any, where: str) -> Plain:
    return {check_profile(profile, where): value for profile, value in by_profile(values, where).items()}


def _entrant(cls: type[Entrant], entry: Any, where: str) -> Any:
    """Build a method; its algorithm alone may stand for it."""
    made = build_checked(cls, {"algorithm": entry} if isinstance(entry, str) else entry, where)
    for options in (made.grid, *made.beside) if isinstance(made, Search) else ():
        check_names("options", options, where)
    return made


def _instance(entry: Any, board: str) -> Instance:
    where = f"{board}, instance {entry.get('id', '?') if isinstance(entry, Mapping) else '?'}"
    if not isinstance(entry, Mapping):
        raise InputError(where, entry, "a mapping of keys to values")
    values = {"title": str(entry.get("id", "")), **entry}
    searches = listed(values.get("searches"), f"{where}: searches")
    values["searches"] = [_entrant(Search, one, f"{where}, search") for one in searches]
    if values.get("without_privacy"):
        values["without_privacy"] = _entrant(Entrant, values["without_privacy"], f"{where}, without_privacy")
    values |= {key: _by_profile(values[key], f"{where}: {key}") for key in ("grids", "runs_to") if key in values}
    instance: Instance = build_checked(Instance, values, where)
    if not re.fullmatch(r"[\w.-]+", instance.id):
        raise InputError(f"{where}: id", instance.id, "letters, digits, ., - and _")
    if sorted(set(instance.signals)) != instance.signals:
        raise InputError(f"{where}: signals", instance.signals, "increasing numbers")
    return instance


def _check(board: Board) -> None:
    """Refuse what types do not say: names that are there twice or nowhere, and numbers out of range."""
    where, methods = board.id, [method.name for method in board.methods]
    for key, names in (("methods", methods), ("instances", [instance.id for instance in board.instances])):
        if len(set(names)) != len(names) or not names:
            raise InputError(f"{where}: {key}", names, "distinct names, at least one")
    if not 0 < board.delta < 1:
        raise InputError(f"{where}: delta", board.delta, "in (0, 1)")
    for key, number in [(name, own) for name in (*INTEGERS, *LIMITS) for own in getattr(board, name).values()]:
        if key in INTEGERS:
            checked_count(f"{where}: {key}", number)
        elif not number > 0:
            raise InputError(f"{where}: {key}", number, "a number > 0")
    for profile, key in product(board.grids, (*COUNTS, *LIMITS)):
        if profile not in getattr(board, key):
            raise InputError(f"{where}: {key}", profile, "given for every grid's profile")
    for instance in board.instances:
        here, named = f"{where}, {instance.id}", [("excluded", name) for name in instance.excluded]
        for profile, name, n in [(at, *own) for at, to in instance.runs_to.items() for own in to.items()]:
            checked_count(f"{here}: runs_to, {profile}: {name}", n)
            named.append(("runs_to", name))
        for key, name in named:
            if name not in methods:
                raise InputError(f"{here}: {key}", name, "a method of the board")
        for profile, blocks in {**board.grids, **instance.grids}.items():
            for block in blocks:
                _check_block(block, f"{here}, grid of {profile}")


def _check_block(block: Any, where: str) -> None:
    if not isinstance(block, Mapping) or not {"n", "epsilon"} <= set(block) <= {"n", "d", "epsilon"}:
        raise InputError(where, block, "a mapping with lists n, epsilon and, where it is free, d")
    for key, values in block.items():
        numbers = isinstance(values, list) and all(isinstance(v, int | float) and v is not True for v in values)
        if not numbers or not values or sorted(set(values)) != values or not 0 < values[0] <= values[-1] < math.inf:
            raise InputError(f"{where}: {key}", values, "increasing numbers > 0")
        for value in values if key != "epsilon" else ():
            checked_count(f"{where}: {key}", value)


def plan_boards(profile: str, settings: Settings, ids: Sequence[str] | None = None) -> list[BoardEntry]:
    """Plan boards of some ids: by default all. Raises InputError for one that is asked for and has no points here."""
    own = own_boards(settings.boards)
    boards, files = {id: load_board(id) for id in board_ids()} | own, dict(zip(own, settings.boards, strict=True))
    for id in ids or ():
        if not any(boards[id].points(instance, profile) for instance in boards[id].instances):
            raise InputError("profile", profile, f"one in whose grids {id} has points: {', '.join(boards[id].grids)}")
    entries = []
    for id in boards if ids is None else ids:
        with naming(files.get(id, "")):
            entries.append(board_plan(boards[id], profile, settings))
    return entries


def board_plan(board: Board, profile: str, settings: Settings) -> BoardEntry:
    """Plan the jobs of a board in a profile; ``left_out`` has each (instance, method, point) that is not run."""
    found: dict[tuple[str, str], tuple[Job, list[tuple[Cell, float]]]] = {}
    left_out: list[LeftOut] = []
    for method in board.methods:
        _check_method(method, f"{board.id}, method {method.name}")
    for instance in board.instances:
        points = board.points(instance, profile)
        _check_instance(board, instance, points, settings)
        for place, (calibration, name, one) in product(enumerate(points), board.entrants(instance)):
            draft, part = draft_at(board, instance, name, one, *place), _part(instance, name)
            job = ranking_job(board, profile, settings, part, calibration)
            job, drafts = found.setdefault((part, calibration), (job, []))
            try:
                seconds = _seconds(board, instance, draft, job)
            except Unfit as unfit:
                left_out.append(LeftOut.of(draft, unfit.status, unfit.reason, unfit.seconds))
            else:
                drafts += [(at, seconds) for at in [draft.at_signal(one) for one in instance.signals] or [draft]]
    jobs = tuple(with_cells(job, drafts) for job, drafts in found.values() if drafts)
    shared = tuple(one for instance in board.instances for one in board.shared(instance))
    return BoardEntry(board.id, jobs, digest([board, profile, left_out]), to_jsonable(board), tuple(left_out), shared)


def draft_at(board: Board, instance: Instance, name: str, one: Entrant, number: int, at: GridPoint) -> Cell:
    """Make the cell of a method, or of a setting of a search, at a point of an instance and its number."""
    return Cell(
        problem=instance.problem,
        problem_options=dict(instance.problem_options),
        delta=board.delta,
        parameter="point",
        value=float(number),
        method=f"{instance.id}/{name}",
        algorithm=one.algorithm,
        variant=_variant(one),
        options=dict(one.options),
        **at._asdict(),
    )


def ranking_job(board: Board, profile: str, settings: Settings, part: str, calibration: str) -> Job:
    """Make a job of a board, still without its cells."""
    counts = {"replicates": board.replicates.get(profile, 1), "data_sets": board.data_sets.get(profile, 1)}
    where = {"claim": board.id, "part": part, "profile": profile}
    return settings.job(**where, **counts, kind=RANKING, calibration=calibration, rounds=NO_ROUNDS)


def with_cells(job: Job, drafts: Sequence[tuple[Cell, float]]) -> Job:
    """Give a job its cells, numbered, with the seconds that each is predicted to take, and its keys."""
    cells = (pinned(replace(draft, cell=number).to_json(), job.data_root) for number, (draft, _) in enumerate(drafts))
    return finished(replace(job, cells=tuple(cells), seconds=tuple(seconds for _, seconds in drafts)))


def _check_instance(board: Board, instance: Instance, points: Sequence[GridPoint], settings: Settings) -> None:
    """Stop the board at what a problem or a method of its instance does not have."""
    where, cls = f"{board.id}, instance {instance.id}", problem_class(instance.problem)
    if instance.lower_bound:
        get_bound(instance.lower_bound)
    if instance.signals and not cls.signal_option:
        raise InputError(f"signals of {instance.id}", instance.signals, f"none: {instance.problem} has no free signal")
    if not (cls.needs_data_root and cls.unavailable(Path(settings.data_root))):
        for d in {point.d for point in points}:
            with naming(where):
                problem_at(instance.problem, d, instance.problem_options, settings.data_root)
    for entrant in filter(None, (*instance.searches, instance.without_privacy)):
        _check_method(entrant, f"{where}, {entrant.name}")


def problem_at(name: str, d: int | None, options: Options, data_root: str) -> Problem:
    """Make a problem of a dimension; one on real data finds them in the data root."""
    root = {"root": data_root} if problem_class(name).needs_data_root else {}
    return get_problem(name, d, **{**options, **root})


def _check_method(method: Entrant, where: str) -> None:
    """Stop the board at what an algorithm does not have; what it refuses on an instance is shown there."""
    entry = get_algorithm(method.algorithm)
    if method.variant is not None and method.variant not in entry.variants:
        raise InputError(f"{where}: variant", method.variant, "one of " + ", ".join(entry.variants))
    for one in method.settings if isinstance(method, Search) else [method]:
        with naming(where):
            entry.checked_options(one.options)


def _variant(entrant: Entrant) -> str | None:
    """Find the variant that is named, or that of the accounted calibration; None for a method that has none."""
    with suppress(Refusal):  # a method without an accounted variant is refused when it is planned
        return entrant.variant or get_algorithm(entrant.algorithm).variant_for(CALIBRATION)
    return None


def _part(instance: Instance, name: str) -> str:
    """Name the job of a method on an instance, in letters that the name of a file may have."""
    method, mark, _ = name.partition(SEARCH_MARK)
    plain = re.sub(r"[^\w.-]", lambda found: f"{OF}{ord(found[0]):x}", method)
    return OF.join([instance.id, plain, *([SEARCHED] if mark else [])])


class Unfit(DpscoError):
    """A cell that is not run: its status as in `claims.plan.Unrun`, and the reason, in full and in brief."""

    def __init__(self, status: str, reason: str, brief: str = "", seconds: float = 0.0) -> None:
        super().__init__(" ".join(reason.split()))
        self.status, self.reason, self.brief = status, str(self), " ".join((brief or reason).split())
        self.seconds = seconds


def _seconds(board: Board, instance: Instance, draft: Cell, job: Job) -> float:
    """Predict the seconds of a cell, 0 where its data are absent. Raises Unfit for one that is not run."""
    name, profile = draft.method.partition("/")[2], job.profile
    if name not in instance.excluded and problem_class(instance.problem).unavailable(Path(job.data_root)):
        return 0.0
    plan, seconds = fitted(instance, draft, job)
    if (here := draft.n) > instance.runs_to.get(profile, {}).get(name, 0):
        smallest = min(point.n for point in board.points(instance, profile))
        most = (board.most_seconds_at_smallest_n if here == smallest else board.most_seconds)[profile]
        beyond = here > board.quadratic_to.get(profile, math.inf) and seconds > QUICK
        if seconds > most or (beyond and is_quadratic(draft, job, plan)):
            total = max(1, len(instance.signals)) * seconds  # the limits are of one signal
            raise Unfit("too_long", f"about {duration(total)} on one core: {steps_text(plan)}", seconds=total)
    if unwanted := next((method.why for method in board.methods if method.name == name), ""):
        raise Unfit("not_run", unwanted)
    return seconds


def fitted(instance: Instance, draft: Cell, job: Job) -> tuple[Plan, float]:
    """Plan a cell of an instance, and predict its seconds on one core. Raises Unfit where it cannot be run there."""
    name = draft.method.partition("/")[2]
    if name in instance.excluded:
        raise Unfit("refused", instance.excluded[name])
    cell, plan = planned(draft, job)
    return plan, expected_seconds(cell, plan, job.replicates * job.data_sets, job.fused)


def planned(asked: Cell, job: Job) -> tuple[Cell, Plan]:
    """Plan a cell. Raises Unfit where it cannot be held against the others."""
    measure = get_algorithm(asked.algorithm).measure
    if measure != RISK_MEASURE:
        reason = f"its theorem bounds another quantity than the risk: {measure.replace('_', ' ')}"
        raise Unfit("incomparable", reason)
    lacking: list[str] = []
    try:
        cell = located(pinned(asked.to_json(), job.data_root), job.data_root)
        cell.problem_entry.check_records(cell.n)
        lacking = [need_text(need) for need in cell.algorithm_entry.needs if cell.problem_entry.lacks(need)]
        _, plan = cell.plan(job.calibration, job.seed, twice=False)
    except DpscoError as error:
        if isinstance(error, InputError) and error.key in asked.options:  # which another instance may take
            say_once(DpscoError(f"left out: {asked.method}: {error}"))
        raise Unfit("refused", str(error), _brief(error, lacking)) from error
    leaks = [text for text in (plan.unprotected, *plan.leaks) if text]
    if leaks and job.calibration != SILENT:
        raise Unfit("refused", f"no noise makes it private: {leaks[0]}")
    return cell, plan


def _brief(error: DpscoError, lacking: Sequence[str]) -> str:
    """Shorten a refusal by the pair that it speaks of, and by its source."""
    if isinstance(error, InputError):
        return f"{error.key} = {error.value}: must be {error.allowed}"
    if not isinstance(error, Refusal):
        return str(error)
    if error.reason == NO_VARIANT:
        return "no variant of it has noise that is accounted for"
    return f"needs {' and '.join(lacking)}" if lacking else error.reason


def steps_text(plan: Plan) -> str:
    return f"{rounds_of(plan):.3g} rounds and {plan.gradient_evaluations:.3g} gradients"


def is_quadratic(cell: Cell, job: Job, plan: Plan) -> bool:
    """Tell whether a plan's rounds or gradients are of order n^2: by growth to half or twice n, else by number."""
    n = cell.n
    for other in (n // 2, 2 * n):
        with suppress(Unfit):
            count = _count(planned(replace(cell, n=other), job)[1])
            return math.log(count / _count(plan)) / math.log(other / n) > QUADRATIC
    return _count(plan) > n**QUADRATIC


def _count(plan: Plan) -> float:
    return max(rounds_of(plan), plan.gradient_evaluations)
