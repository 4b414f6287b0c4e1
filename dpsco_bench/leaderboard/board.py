"""A leaderboard: its file, its points, and the jobs that run its methods there.

A job is a method on an instance: an edit of the method makes its own jobs due, and no other's. What a method refuses,
or what takes too long, is kept with its reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from dpsco_bench.algorithms.registry import ALGORITHMS, NO_VARIANT, get_algorithm, list_algorithms
from dpsco_bench.claims.bounds.registry import BOUNDS, get_bound
from dpsco_bench.claims.catalogue import naming, read_own
from dpsco_bench.claims.files import Slips, build_checked, check_names, listed, read_shipped
from dpsco_bench.claims.jobs import expected_seconds, finished
from dpsco_bench.claims.model import by_profile, check_profile
from dpsco_bench.claims.plan import SEARCH_MARK, BoardEntry, LeftOut
from dpsco_bench.errors import DpscoError, InputError, Refusal, integral
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

    @property
    def run(self) -> tuple[str, str | None, Options]:
        """Algorithm, variant and options, whatever its name."""
        return self.algorithm, self.variant, self.options


@dataclass(frozen=True, kw_only=True)
class Search(Entrant):
    """A method whose step size and number of steps are searched in public: not a private method."""

    grid: Mapping[str, list[float]]  # values of schedule options, all combinations of which are run
    beside: list[Options] = field(default_factory=list)  # further settings; an empty one is the theorem's own

    @property
    def settings(self) -> list[Search]:
        """The search with the options of each of its settings."""
        values = [map(integral, own) if key == "steps" else own for key, own in self.grid.items()]
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
            if (alike := [one.name for one in methods if one.run == setting.run])
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

    def here(methods: Iterable[Any]) -> list[Any]:
        gone = partial(absent_paper, of=ALGORITHMS, left_out="methods of the board")
        return [one for one in methods if one and not gone(one.algorithm)]

    instances = []
    for one in board.instances:
        unbounded = absent_paper(one.lower_bound, of=BOUNDS, left_out="a lower bound of the board")
        reference, bound = next(iter(here([one.without_privacy])), None), "" if unbounded else one.lower_bound
        instances.append(replace(one, searches=here(one.searches), without_privacy=reference, lower_bound=bound))
    return replace(board, methods=here(board.methods), instances=instances)


def shipped_instances(problem: str = "") -> list[Instance]:
    """List the instances of the boards that ship, of all problems or of one."""
    found = (one for id in board_ids() for one in load_board(id).instances)
    return [one for one in found if problem in ("", one.problem)]


def own_boards(files: Sequence[str | Path]) -> dict[str, Board]:
    """Read boards in a user's own files, by id. Raises InputError for a wrong file, or an id that is taken.

    A data file is looked for beside the board, where it does not lie in the working directory.
    """
    found: dict[str, Board] = {}
    for file, entry in read_own(files, "boards"):
        with naming(file):
            board = parse_board(entry, Path(file).stem)
        if board.id in (*board_ids(), *found):
            raise InputError(f"id in {file}", board.id, "one that no other leaderboard has")
        for place, one in enumerate(board.instances):
            path = one.problem_options.get("path")
            beside = Path(file).parent / path if isinstance(path, str) else None
            if beside and beside.is_file() and not Path(str(path)).is_file():
                board.instances[place] = replace(one, problem_options={**one.problem_options, "path": str(beside)})
        found[board.id] = board
    return found


def contestants() -> list[Entrant]:
    """List every method: those of the boards that ship, as they have them, and all others that are registered."""
    found = {method.name: method for id in board_ids() for method in load_board(id).methods}
    known = {method.algorithm for method in found.values()}
    for method in (Entrant(algorithm=id) for id in list_algorithms() if id not in known):
        method = replace(method, label=method.algorithm) if method.name in found else method
        found[method.name] = method
    return list(found.values())


def parse_board(entry: Any, name: str = "") -> Board:
    """Build a board from its file; ``name`` is the id where the file has none. Raises InputError for what is wrong."""
    if not isinstance(entry, Mapping):
        raise InputError("leaderboard", entry, "a mapping of keys to values")
    id = PREFIX + str(entry.get("id", name)).removeprefix(PREFIX)
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
    board = build_checked(Board, _of_profiles(values, BY_PROFILE, id), id)
    Slips(id, (InputError(id + at, value, allowed) for met, at, value, allowed in _needs(board) if not met)).tell()
    return board


def _of_profiles(values: Plain, keys: Sequence[str], where: str) -> Plain:
    """Expand the values of some keys to mappings of single profiles."""
    found = {key: by_profile(values[key], f"{where}: {key}") for key in keys if key in values}
    for profile, key in ((profile, key) for key, own in found.items() for profile in own):
        check_profile(profile, f"{where}: {key}")
    return {**values, **found}


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
    return build_checked(Instance, _of_profiles(values, ("grids", "runs_to"), where), where)


Need = tuple[bool, str, object, str]
"""A rule of a file: whether it is met, where it applies, the value there, and what is allowed."""


def _needs(board: Board) -> Iterator[Need]:
    """List what types do not say: names that are there once, or are known, and the ranges of numbers."""
    methods = [method.name for method in board.methods]
    for key, names in (("methods", methods), ("instances", [instance.id for instance in board.instances])):
        yield 0 < len(names) == len({*names}), f": {key}", names, "distinct names, at least one"
    yield 0 < board.delta < 1, ": delta", board.delta, "in (0, 1)"
    for key in INTEGERS:
        yield from (_count(number, f": {key}") for number in getattr(board, key).values())
    for key in LIMITS:
        yield from ((number > 0, f": {key}", number, "a number > 0") for number in getattr(board, key).values())
    for profile, key in product(board.grids, (*COUNTS, *LIMITS)):
        yield profile in getattr(board, key), f": {key}", profile, "given for every grid's profile"
    yield from _needs_of_grids(board.grids, "")
    for one in board.instances:
        at, named = f", {one.id}", [("excluded", name) for name in one.excluded]
        yield bool(re.fullmatch(r"[\w.-]+", one.id)), f"{at}: id", one.id, "letters, digits, ., - and _"
        yield sorted({*one.signals}) == one.signals, f"{at}: signals", one.signals, "increasing numbers"
        for profile, name, n in [(profile, *own) for profile, to in one.runs_to.items() for own in to.items()]:
            yield _count(n, f"{at}: runs_to, {profile}: {name}")
            named.append(("runs_to", name))
        yield from ((name in methods, f"{at}: {key}", name, "a method of the board") for key, name in named)
        yield from _needs_of_grids(one.grids, at)


def _needs_of_grids(grids: Mapping[str, Sequence[Any]], of: str) -> Iterator[Need]:
    for at, block in [(f"{of}, grid of {profile}", block) for profile, own in grids.items() for block in own]:
        keys = {*block} if isinstance(block, Mapping) else set()
        known = {"n", "epsilon"} <= keys <= {"n", "d", "epsilon"}
        yield known, at, block, "a mapping with lists n, epsilon and, where it is free, d"
        for key, values in block.items() if known else ():
            numbers = isinstance(values, list) and all(isinstance(value, int | float) for value in values)
            met = numbers and values and sorted({*values}) == values and 0 < values[0] <= values[-1] < math.inf
            yield bool(met), f"{at}: {key}", values, "increasing numbers > 0"
            yield from (_count(value, f"{at}: {key}") for value in (values if met and key != "epsilon" else ()))


def _count(number: Any, at: str) -> Need:
    return isinstance(integral(number), int) and number >= 1, at, number, "an integer >= 1"


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
    _check_names(board, profile, settings)
    jobs: dict[tuple[str, str], tuple[Job, list[tuple[Cell, float]]]] = {}
    left_out: list[LeftOut] = []
    for one in tried(board, profile, settings):
        _, cells = jobs.setdefault((one.job.part, one.job.calibration), (one.job, []))
        if one.unfit:
            left_out.append(LeftOut.of(one.cell, one.unfit.status, str(one.unfit), one.unfit.seconds))
        else:
            cells += [(one.cell.at_signal(signal), one.seconds) for signal in one.instance.signals]
            cells += [] if one.instance.signals else [(one.cell, one.seconds)]
    made = tuple(with_cells(job, cells) for job, cells in jobs.values() if cells)
    shared = tuple(one for instance in board.instances for one in board.shared(instance))
    return BoardEntry(board.id, made, digest([board, profile, left_out]), to_jsonable(board), tuple(left_out), shared)


def _check_names(board: Board, profile: str, settings: Settings) -> None:
    """Stop a board at what its problems and methods do not have; what a method refuses is shown at its points."""
    methods = [(method, f"{board.id}, method {method.name}") for method in board.methods]
    for one in board.instances:
        where, cls = f"{board.id}, instance {one.id}", problem_class(one.problem)
        if one.lower_bound:
            get_bound(one.lower_bound)
        if one.signals and not cls.signal_option:
            raise InputError(f"signals of {one.id}", one.signals, f"none: {one.problem} has no free signal")
        if not (cls.needs_data_root and cls.unavailable(Path(settings.data_root))):
            for d in {point.d for point in board.points(one, profile)}:
                with naming(where):
                    problem_at(one.problem, d, one.problem_options, settings.data_root)
        more = filter(None, (*one.searches, one.without_privacy))
        methods += [(method, f"{where}, {method.name}") for method in more]
    for method, where in methods:
        entry = get_algorithm(method.algorithm)
        if method.variant is not None and method.variant not in entry.variants:
            raise InputError(f"{where}: variant", method.variant, "one of " + ", ".join(entry.variants))
        for setting in method.settings if isinstance(method, Search) else [method]:
            with naming(where):
                entry.checked_options(setting.options)


def problem_at(name: str, d: int | None, options: Options, data_root: str) -> Problem:
    """Make a problem of a dimension; one on real data finds them in the data root."""
    root = {"root": data_root} if problem_class(name).needs_data_root else {}
    return get_problem(name, d, **{**options, **root})


class Tried(NamedTuple):
    """A method, or a setting of a search, at a point of an instance: its cell and its job, which has no cells yet.

    It has a plan and the seconds that it is predicted to take on one core, or the reason why it does not run there. Of
    data that are absent nothing is known: no plan, no reason and 0 seconds.
    """

    instance: Instance
    job: Job
    cell: Cell
    plan: Plan | None = None
    seconds: float = 0.0
    unfit: Unfit | None = None

    @property
    def name(self) -> str:
        return self.cell.method.partition("/")[2]


def tried(board: Board, profile: str, settings: Settings, absent: bool = False) -> Iterator[Tried]:
    """Try all that an instance runs at each of its points, instance by instance; with ``absent`` without data too."""
    counts = {"replicates": board.replicates.get(profile, 1), "data_sets": board.data_sets.get(profile, 1)}
    shared = {"claim": board.id, "profile": profile, **counts, "kind": RANKING, "rounds": NO_ROUNDS}
    for instance in board.instances:
        points = board.points(instance, profile)
        for (number, point), (calibration, name, method) in product(enumerate(points), board.entrants(instance)):
            label, mark, _ = name.partition(SEARCH_MARK)
            plain = re.sub(r"[^\w.-]", lambda found: f"{OF}{ord(found[0]):x}", label)  # as the name of a file may be
            part = OF.join([instance.id, plain, *([SEARCHED] if mark else [])])
            job = settings.job(**shared, part=part, calibration=calibration)
            variant = method.variant
            with suppress(Refusal):  # a method without an accounted variant is refused when it is planned
                variant = variant or get_algorithm(method.algorithm).variant_for(CALIBRATION)
            cell = Cell(
                problem=instance.problem,
                problem_options=dict(instance.problem_options),
                delta=board.delta,
                parameter="point",
                value=float(number),
                method=f"{instance.id}/{name}",
                algorithm=method.algorithm,
                variant=variant,
                options=dict(method.options),
                **point._asdict(),
            )
            yield _fitted(board, Tried(instance, job, cell), absent)


def with_cells(job: Job, cells: Sequence[tuple[Cell, float]]) -> Job:
    """Give a job its cells, numbered, with the seconds that each is predicted to take, and its keys."""
    own = (pinned(replace(cell, cell=number).to_json(), job.data_root) for number, (cell, _) in enumerate(cells))
    return finished(replace(job, cells=tuple(own), seconds=tuple(seconds for _, seconds in cells)))


class Unfit(DpscoError):
    """A cell that is not run: its status as in `claims.plan.Unrun`, and the reason, in full and in brief."""

    def __init__(self, status: str, reason: str, brief: str = "", seconds: float = 0.0) -> None:
        super().__init__(" ".join(reason.split()))
        self.status, self.brief, self.seconds = status, " ".join((brief or reason).split()), seconds


def _fitted(board: Board, one: Tried, absent: bool) -> Tried:
    """Plan a cell, predict its seconds and hold them against the limits of the board."""
    instance, job, n, profile = one.instance, one.job, one.cell.n, one.job.profile
    if one.name in instance.excluded:
        return one._replace(unfit=Unfit("refused", instance.excluded[one.name]))
    if not absent and problem_class(instance.problem).unavailable(Path(job.data_root)):
        return one
    try:
        cell, plan = planned(one.cell, job)
    except Unfit as unfit:
        return one._replace(unfit=unfit)
    seconds = expected_seconds(cell, plan, job.replicates * job.data_sets, job.fused)
    if n > instance.runs_to.get(profile, {}).get(one.name, 0):
        smallest = min(point.n for point in board.points(instance, profile))
        most = (board.most_seconds_at_smallest_n if n == smallest else board.most_seconds)[profile]
        beyond = n > board.quadratic_to.get(profile, math.inf) and seconds > QUICK
        if seconds > most or (beyond and is_quadratic(one.cell, job, plan)):
            total = max(1, len(instance.signals)) * seconds  # the limits are of one signal
            reason = f"about {duration(total)} on one core: {steps_text(plan)}"
            return one._replace(unfit=Unfit("too_long", reason, seconds=total))
    if unwanted := next((method.why for method in board.methods if method.name == one.name), ""):
        return one._replace(unfit=Unfit("not_run", unwanted))
    return one._replace(plan=plan, seconds=seconds)


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

    def count(plan: Plan) -> float:
        return max(rounds_of(plan), plan.gradient_evaluations)

    n = cell.n
    for other in (n // 2, 2 * n):
        with suppress(Unfit):
            grown = count(planned(replace(cell, n=other), job)[1]) / count(plan)
            return math.log(grown) / math.log(other / n) > QUADRATIC
    return count(plan) > n**QUADRATIC
