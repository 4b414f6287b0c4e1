"""Leaderboards as data: which methods run on which instances, over which grid, checked key by key."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from dpsco_bench.algorithms.registry import ALGORITHMS
from dpsco_bench.claims.bounds.registry import BOUNDS
from dpsco_bench.claims.entries import build_checked, check_names, listed
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.grids import by_profile
from dpsco_bench.claims.model import PROFILES
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.paths import conf_dir
from dpsco_bench.plain import Options, Plain, Record
from dpsco_bench.registry import absent_paper

GRID_KEYS = ("n", "d", "epsilon")
PREFIX = "leaderboard."
BY_PROFILE = frozenset({"replicates", "data_sets", "most_seconds", "most_seconds_at_smallest_n"})
"""Keys that every profile of the grids has; a value without profiles is that of all."""


@dataclass(frozen=True)
class Entrant(Record):
    """A method of a board: an algorithm with the hyper-parameters of its theorem.

    Attributes
    ----------
    variant, options
        As for a run; an option may replace a constant that the paper leaves to the user, and nothing else.
    """

    algorithm: str
    label: str = ""
    variant: str | None = None
    options: Options = field(default_factory=dict)
    profiles: list[str] = field(default_factory=lambda: list(PROFILES))
    why: str = ""

    @property
    def name(self) -> str:
        """Name on the board."""
        return self.label or self.algorithm.split(".", 1)[-1]


@dataclass(frozen=True)
class Search(Record):
    """A method whose step size and number of steps are searched in public: not a private method.

    Attributes
    ----------
    algorithm, label, options
        As for `Entrant`.
    grid : mapping of str to list, values of schedule options, all combinations of which are run
    beside : list of options, further settings, outside the grid; an empty one is the theorem's own
    """

    algorithm: str
    grid: Mapping[str, list[float]]
    label: str = ""
    options: Options = field(default_factory=dict)
    beside: list[Options] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name on the board."""
        return self.label or self.algorithm.split(".", 1)[-1]

    def settings(self) -> list[Options]:
        """Options of every combination, and those beside them."""
        values = [[int(v) if float(v).is_integer() and k == "steps" else v for v in vs] for k, vs in self.grid.items()]
        combinations = [dict(zip(self.grid, chosen, strict=True)) for chosen in product(*values)]
        return [{**self.options, **setting} for setting in (*combinations, *self.beside)]


@dataclass(frozen=True)
class Instance(Record):
    """A common instance.

    Attributes
    ----------
    id, title : str, name, and what it is in words
    problem, problem_options
        As for a run.
    excluded : mapping of str to str, methods that cannot be run on the instance as it is written, with the reason
    without_privacy : Entrant or None
        A method run without noise that is (near) the optimum without privacy, where that has a positive risk: the
        sample's minimiser under the population's risk. None where the risk is the sample's own, whose minimum is 0.
    lower_bound : str, name of a formula that every private method has to respect, up to constants; empty for none
    runs_to : mapping of str to mapping of str to int
        Profile -> method -> the n to which it runs here whatever it takes: its run alone decides a point.
    """

    id: str
    title: str
    problem: str
    problem_options: Options = field(default_factory=dict)
    signals: list[float] = field(default_factory=list)
    grids: Mapping[str, list[Any]] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)
    excluded: Mapping[str, str] = field(default_factory=dict)
    without_privacy: Entrant | None = None
    lower_bound: str = ""
    runs_to: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    note: str = ""

    @property
    def entrants(self) -> list[Entrant | Search]:
        """What runs here beside the board's methods."""
        return [*self.searches, *([self.without_privacy] if self.without_privacy else [])]


@dataclass(frozen=True)
class GridPoint:
    """A place of an instance's grid; d is None where it is not free."""

    n: int
    epsilon: float
    d: int | None = None


@dataclass(frozen=True)
class Board(Record):
    """A leaderboard.

    Attributes
    ----------
    id, title : str, ``leaderboard.<name>``, and a title
    delta : float, of the (epsilon, delta) that every method is calibrated to by its accountant
    methods : list of Entrant
        Every one is tried on every instance; the instances that it refuses are shown with its reason.
    grids : mapping of str to list
        Profile -> blocks ``{n: [...], d: [...], epsilon: [...]}``; a block's points are all combinations.
    most_seconds : mapping of str to float, per profile: a cell predicted to take longer is left out, and shown as such
    most_seconds_at_smallest_n : mapping of str to float
        The same at the smallest n of an instance: of what runs nowhere on it, nothing is known.
    quadratic_to : mapping of str to int
        Per profile the largest n at which a method runs of which rounds or gradients are of order
        n^2 (`board_jobs.is_quadratic`), unless it is quick; no limit for profiles without an entry.
    """

    id: str
    title: str
    delta: float
    methods: list[Entrant]
    instances: list[Instance]
    grids: Mapping[str, list[Any]]
    replicates: Mapping[str, int]
    data_sets: Mapping[str, int]
    most_seconds: Mapping[str, float]
    most_seconds_at_smallest_n: Mapping[str, float]
    quadratic_to: Mapping[str, int] = field(default_factory=dict)

    def runs_anyway(self, instance: Instance, search: Search, options: Options, profile: str) -> str:
        """Name of the method that a setting of a search is, whose run serves for both; empty where none is."""
        alike = (
            method.name
            for method in self.methods
            if (method.algorithm, method.variant, dict(method.options)) == (search.algorithm, None, dict(options))
            and profile in method.profiles
            and method.name not in instance.excluded
        )
        return next(alike, "")

    def seconds(self, instance: Instance, profile: str, n: int | None) -> float:
        """What a cell of an instance may take."""
        smallest = min(point.n for point in self.points(instance, profile))
        return (self.most_seconds_at_smallest_n if n == smallest else self.most_seconds)[profile]

    def points(self, instance: Instance, profile: str) -> list[GridPoint]:
        """The distinct (n, d, epsilon) of an instance in a profile, in the order of its blocks."""
        found = (
            GridPoint(**dict(zip(block, chosen, strict=True)))
            for block in self.blocks(instance, profile)
            for chosen in product(*block.values())
        )
        return list(dict.fromkeys(found))

    def blocks(self, instance: Instance, profile: str) -> list[dict[str, list[Any]]]:
        """The grid of an instance in a profile."""
        return list((instance.grids or self.grids).get(profile, []))


def board_ids() -> list[str]:
    """Ids of all boards, from their files ``conf/leaderboard/<name>.yaml``."""
    return sorted(PREFIX + path.stem for path in (conf_dir() / "leaderboard").glob("*.yaml"))


def load_board(id: str) -> Board:
    """Read a board. Raises InputError for an unknown id, or what `parse_board` refuses."""
    if id not in board_ids():
        raise InputError("leaderboard", id, nearest(id, board_ids()))
    path = conf_dir() / "leaderboard" / f"{id.removeprefix(PREFIX)}.yaml"
    entry = read_shipped(path)
    if not isinstance(entry, dict):
        raise InputError("leaderboard", str(path), "a mapping of keys to values")
    return parse_board({"id": id, **_of_present_papers(entry)})


def _of_present_papers(entry: Plain) -> Plain:
    """A board of the house without what names methods or bounds of papers that are not there."""

    def absent(method: Any) -> bool:
        algorithm = method.get("algorithm") if isinstance(method, Mapping) else method
        names = [algorithm] if isinstance(algorithm, str) else []
        return bool(absent_paper(*names, of=ALGORITHMS, left_out="methods of the board"))

    def kept(value: Any) -> Any:
        if isinstance(value, list):
            return [kept(item) for item in value if not absent(item)]
        if isinstance(value, Mapping):
            return {key: kept(item) for key, item in value.items() if key not in lost and not unusable(key, item)}
        return value

    def unusable(key: str, item: Any) -> bool:
        if key == "lower_bound":
            return bool(absent_paper(item, of=BOUNDS, left_out="a lower bound of the board"))
        return key == "without_privacy" and absent(item)

    lost = {_entrant(method, "method").name for method in listed(entry.get("methods"), "methods") if absent(method)}
    return {key: kept(value) for key, value in entry.items()}


def parse_board(entry: Plain) -> Board:
    """Build a board from its file.

    Raises InputError naming the instance and key that is missing, unknown or out of range.
    """
    where, values = str(entry.get("id", "leaderboard")), dict(entry)
    values["methods"] = [_entrant(m, f"{where}, method") for m in listed(values.get("methods"), f"{where}: methods")]
    values["instances"] = [_instance(i, where) for i in listed(values.get("instances"), f"{where}: instances")]
    for key in BY_PROFILE & values.keys():
        given, grids = values[key], values.get("grids")
        shared = dict.fromkeys(grids if isinstance(grids, Mapping) else PROFILES, given)
        values[key] = by_profile(given, f"{where}: {key}") if isinstance(given, Mapping) else shared
    board: Board = build_checked(Board, values, where)
    for name, names in (("methods", [m.name for m in board.methods]), ("instances", [i.id for i in board.instances])):
        if len(set(names)) != len(names) or not names:
            raise InputError(f"{where}: {name}", names, "distinct names, at least one")
    for instance in board.instances:
        for key, named in (("excluded", [*instance.excluded]), ("runs_to", _run_further(instance, where))):
            for name in named:
                if name not in [m.name for m in board.methods]:
                    raise InputError(f"{where}, {instance.id}: {key}", name, "a method of the board")
        for profile in (*board.grids, *instance.grids):
            for block in board.blocks(instance, profile):
                _check_block(block, f"{where}, {instance.id}, grid of {profile}")
    for profile in board.grids:
        for key in sorted(BY_PROFILE):
            if profile not in getattr(board, key):
                raise InputError(f"{where}: {key}", profile, "given for every grid's profile")
    for profile, n in board.quadratic_to.items():
        if profile not in PROFILES or n < 1:
            allowed = f"{', '.join(PROFILES)}, each with an integer >= 1"
            raise InputError(f"{where}: quadratic_to", {profile: n}, allowed)
    return board


def _run_further(instance: Instance, board: str) -> list[str]:
    """Methods of `runs_to`, whose profiles and sizes are checked."""
    where = f"{board}, {instance.id}: runs_to"
    for profile, sizes in instance.runs_to.items():
        if profile not in PROFILES:
            raise InputError(where, profile, "one of " + ", ".join(PROFILES))
        for name, n in sizes.items():
            if n < 1:
                raise InputError(f"{where}, {profile}: {name}", n, "an integer >= 1")
    return [name for sizes in instance.runs_to.values() for name in sizes]


def _instance(entry: Any, board: str) -> Instance:
    where = f"{board}, instance {entry.get('id', '?') if isinstance(entry, Mapping) else '?'}"
    if not isinstance(entry, Mapping):
        raise InputError(where, entry, "a mapping of keys to values")
    values = dict(entry)
    searches = listed(values.get("searches"), f"{where}: searches")
    values["searches"] = [build_checked(Search, search, f"{where}, search") for search in searches]
    for search in values["searches"]:
        for options in (search.grid, *search.beside):
            check_names("options", options, f"{where}, search")
    if values.get("without_privacy"):
        values["without_privacy"] = _entrant(values["without_privacy"], f"{where}, without_privacy")
    instance: Instance = build_checked(Instance, values, where)
    if not re.fullmatch(r"[\w.-]+", instance.id):
        raise InputError(f"{where}: id", instance.id, "letters, digits, ., - and _")
    if sorted(set(instance.signals)) != instance.signals:
        raise InputError(f"{where}: signals", instance.signals, "increasing numbers")
    return instance


def _entrant(entry: Any, where: str) -> Entrant:
    made: Entrant = build_checked(Entrant, {"algorithm": entry} if isinstance(entry, str) else entry, where)
    if not set(made.profiles) <= set(PROFILES):
        raise InputError(f"{where} {made.name}: profiles", made.profiles, "some of " + ", ".join(PROFILES))
    if set(made.profiles) != set(PROFILES) and not made.why:
        raise InputError(f"{where} {made.name}: why", "missing", "given where profiles are left out")
    return made


def _check_block(block: Any, where: str) -> None:
    profile = where.rsplit(" ", 1)[-1]
    if profile not in PROFILES:
        raise InputError(where, profile, "one of " + ", ".join(PROFILES))
    if not isinstance(block, Mapping) or not {"n", "epsilon"} <= set(block) <= set(GRID_KEYS):
        raise InputError(where, block, "a mapping with lists n, epsilon and, where it is free, d")
    for key, values in block.items():
        if not isinstance(values, list) or not values or not all(map(_is_positive, values)):
            raise InputError(f"{where}: {key}", values, "increasing numbers > 0")
        if sorted(set(values)) != values:
            raise InputError(f"{where}: {key}", values, "increasing numbers > 0")


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
