"""From plain keys (``theta=0.01``, ``kappa=8``, ``smoothness=1``) to a cell: every key has one place or none.

`RunConfig` does the same for the configuration of ``conf/run.yaml``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from dpsco_bench.algorithms.registry import CALIBRATIONS, Algorithm, get_algorithm
from dpsco_bench.backend.namespace import get_namespace
from dpsco_bench.errors import DpscoError, InputError, checked_count, integral, nearest
from dpsco_bench.execution.cell import Cell, check_data_sets, located, pinned, without_places
from dpsco_bench.execution.jobs import Job
from dpsco_bench.jsonio import digest
from dpsco_bench.plain import Options, unboxed
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.constants import constant_names
from dpsco_bench.problems.registry import get_problem, problem_class

CONSTANTS = constant_names()
OTHER_NAMES = {"ridge": "regularisation", "lambda": "regularisation", "eps": "epsilon", "random_state": "seed"}
"""Names that other libraries use -> the key here."""
CELL_KEYS = ("n", "d", "epsilon", "delta")
LEAST_REAL, MOST_REAL = 1e-100, 1e100
"""Sizes of real numbers that a schedule can square and divide."""
MOST = 1 << 32
SCHEDULE, PROBLEM, CONSTANT = "algorithm.options", "problem.options", "problem.options.constants"
COUNTS = ("n", "d", "replicates", "data_sets", "seed")
NAMED = ("calibration", "data")
"""Groups of a configuration that have one key."""
DTYPES = ("float64", "float32")
DEFAULT_RECORDS = 4096


def problem_options(problem: type[Problem]) -> dict[str, inspect.Parameter]:
    """Return a problem's constructor options by name (dimension and constants have keys of their own)."""
    parameters = inspect.signature(problem, eval_str=True).parameters
    return {key: p for key, p in parameters.items() if key not in ("d", "constants")}


def place_of(key: str, algorithm: Algorithm, problem: type[Problem]) -> str:
    """Where a plain key belongs, for an algorithm on a problem.

    Returns ``algorithm`` (the variant), `SCHEDULE`, `PROBLEM`, `CONSTANT`, or an empty string for an unknown key. An
    option of the problem's constructor goes before a constant of the same name, because it changes the objective
    itself. Raises InputError for a key that both the algorithm and the problem have.
    """
    if key == "variant":
        return "algorithm"
    schedule, options = key in algorithm.options, key in problem_options(problem)
    if schedule and (options or key in CONSTANTS):
        raise InputError(key, "ambiguous", f"written {SCHEDULE}.{key} or {PROBLEM if options else CONSTANT}.{key}")
    return SCHEDULE if schedule else PROBLEM if options else CONSTANT if key in CONSTANTS else ""


def known_keys(algorithm: Algorithm, problem: type[Problem]) -> list[str]:
    """Every plain key that a pair takes, cell keys first, each once."""
    return list(dict.fromkeys([*CELL_KEYS, "variant", *algorithm.options, *problem_options(problem), *CONSTANTS]))


def unknown_key(key: str, value: object, known: Iterable[str], algorithm: str, problem: str) -> InputError:
    listing = f"dpsco show {algorithm}` and `dpsco show {problem}"
    name = key.rpartition(".")[2]
    allowed = f"written {OTHER_NAMES[name]}" if name in OTHER_NAMES else nearest(name, known, listing, "key")
    return InputError(key, value, allowed, f"{algorithm} on {problem}")


def make_cell(algorithm: str, problem: str, keys: Options) -> Cell:
    """Sort keys into a cell and build its problem.

    Keys are ``n`` (required unless a file has the records), ``d``, ``epsilon``, ``delta``, ``variant``, schedule
    options, problem options and problem constants, plain or with their prefix (``algorithm.options.theta``,
    ``problem.options.kappa``). Raises InputError for a missing, unknown or ambiguous key, or a value outside its range.
    """
    entry, cls = get_algorithm(algorithm), problem_class(problem)
    fields = dict[str, Any](epsilon=1.0, delta=1e-5)
    sorted_keys = {place: dict[str, Any]() for place in (SCHEDULE, PROBLEM, CONSTANT, "algorithm")}
    for key, value in unboxed(keys).items():
        prefix, _, name = key.rpartition(".")
        place = prefix if prefix in sorted_keys else "" if prefix else place_of(key, entry, cls)
        if key in CELL_KEYS:
            fields[key] = value
        elif not place or (place == "algorithm" and name != "variant"):
            raise unknown_key(key, value, known_keys(entry, cls), entry.id, problem)
        else:
            check_size_of_real(name, value)
            sorted_keys[place][name] = value
    options = {k: v for k, v in as_declared(sorted_keys[PROBLEM], problem_options(cls)).items() if v is not None}
    schedule = as_declared(sorted_keys[SCHEDULE], entry.options)
    if sorted_keys[CONSTANT]:
        options["constants"] = {**dict(options.get("constants") or {}), **sorted_keys[CONSTANT]}
    fields.setdefault("n", get_problem(problem, fields.get("d"), **options).records if cls.file_options else None)
    if fields["n"] is None:
        raise InputError("n", "missing", "given, an integer >= 1")
    cell = Cell(entry.id, problem, **fields, **sorted_keys["algorithm"], options=schedule, problem_options=options)
    return check_cell(cell)


def check_size_of_real(key: str, value: Any) -> None:
    """Refuse a finite number whose square, or its inverse, is no number; 0 and infinity are for others to check."""
    real = isinstance(value, float) and math.isfinite(value) and value != 0
    if real and not LEAST_REAL <= abs(value) <= MOST_REAL:
        raise InputError(key, value, f"of a size from {LEAST_REAL:g} to {MOST_REAL:g}")


def check_cell(cell: Cell) -> Cell:
    """Build the cell's problem and check its options' types; returns the cell.

    Raises InputError or Refusal for an option or a constant out of range, or a problem that the algorithm does not
    take.
    """
    constants = cell.problem_options.get("constants")
    if constants is not None and not isinstance(constants, Mapping):
        raise InputError("constants", constants, "a mapping of " + ", ".join(CONSTANTS))
    if cell.variant is not None and not isinstance(cell.variant, str):
        raise InputError("variant", cell.variant, "one of " + ", ".join(cell.algorithm_entry.variants))
    cell.algorithm_entry.check_problem(cell.problem_entry)
    cell.problem_entry.check_records(cell.n)
    return cell


def check_run(calibration: str, replicates: int, seed: int, data_set: int = 0) -> None:
    """Check what is not part of a cell. Raises InputError naming the key."""
    if calibration not in CALIBRATIONS:
        raise InputError("calibration", calibration, "one of " + ", ".join(CALIBRATIONS))
    check_size("replicates", checked_count("replicates", replicates))
    for key, value in (("seed", seed), ("data_set", data_set)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(key, value, "an integer >= 0")


def check_sampled(cell: Cell) -> None:
    """Check a cell's number of records, where they are told apart: equal ones are only counted.

    Raises InputError above 2^32.
    """
    if not cell.problem_entry.shares_records:
        check_size("n", cell.n)


def check_size(key: str, value: int) -> None:
    """Check a number of records or replicates against what the random streams can count.

    Raises InputError above 2^32.
    """
    if value > MOST:
        raise InputError(key, value, "at most 2^32 in a run, the range of the random streams' counters")


def as_declared(values: Options, parameters: Mapping[str, inspect.Parameter]) -> Options:
    """Options as their signature means them.

    An option that takes integers and no real numbers takes ``1e4`` too. One that takes text alone keeps a number as
    text (a folder called 2017), unlike one that takes either (p = 4 or inf).
    """
    return {key: _as_declared(value, parameters[key]) if key in parameters else value for key, value in values.items()}


def _as_declared(value: Any, parameter: inspect.Parameter) -> Any:
    kinds = {parameter.annotation, *get_args(parameter.annotation)}
    if int in kinds and float not in kinds:
        return integral(value)
    is_text = isinstance(parameter.default, str) and not kinds & {int, float}
    return str(value) if is_text and isinstance(value, int | float) else value


@dataclass(frozen=True)
class ConfigMethod:
    """An algorithm: its id, variant (None: the calibration's default) and schedule options."""

    id: str
    variant: str | None = None
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class ConfigProblem:
    """A problem and its constructor options."""

    name: str
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class AskedBackend:
    """Where it runs: array library, type of numbers, whether compiled steps may run."""

    name: str = "numpy"
    dtype: str = "float64"
    fused: bool = True


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """A run as its configuration has it (``conf/run.yaml``); `cell` and `job` check it.

    ``n`` and ``d`` are None for all records of a file, and for the problem's own dimension.
    """

    algorithm: ConfigMethod
    problem: ConfigProblem
    calibration: str
    backend: AskedBackend = AskedBackend()
    n: int | None = None
    d: int | None = None
    epsilon: float = 1.0
    delta: float = 1e-5
    replicates: int = 16
    data_sets: int = 1
    seed: int = 2017
    record: float | None = None
    out: str | None = None
    plugins: tuple[str, ...] = ()
    data_root: str = "data"

    @classmethod
    def from_json(cls, config: Options) -> RunConfig:
        """Read the configuration that Hydra resolves; counts and options as their signatures mean them (``n=1e4``).

        Raises InputError for a missing or unknown key.
        """
        expected = ["data" if f.name == "data_root" else f.name for f in fields(cls)]
        for key in expected:
            if key not in config:
                raise InputError(key, "missing", "given")
        for key in sorted(set(config) - set(expected)):
            raise InputError(key, config[key], "one of the keys " + ", ".join(expected))
        parts = {"algorithm": ConfigMethod, "problem": ConfigProblem, "backend": AskedBackend}
        for key, kind in parts.items():
            _check_keys(key, config[key], [f.name for f in fields(kind)])
        made = {key: kind(**config[key]) for key, kind in parts.items()}
        plain = {key: value for key, value in config.items() if key not in (*parts, *NAMED)}
        named = {"calibration": config["calibration"]["name"], "data_root": config["data"]["root"]}
        found = cls(**{**plain, **made, **named, "plugins": tuple(config["plugins"])})
        method, problem = found.algorithm, found.problem
        declared = problem_options(problem_class(problem.name))
        return replace(
            found,
            **{key: integral(getattr(found, key)) for key in COUNTS},
            algorithm=replace(method, options=as_declared(method.options, get_algorithm(method.id).options)),
            problem=replace(problem, options=as_declared(problem.options, declared)),
        )

    def to_json(self) -> Options:
        """Inverse of `from_json`; keys as in ``conf/run.yaml``."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "data_root"}
        parts = {key: dict(vars(plain[key])) for key in ("algorithm", "problem", "backend")}
        named = {"calibration": {"name": self.calibration}, "plugins": list(self.plugins)}
        return {**plain, **parts, **named, "data": {"root": self.data_root}}

    def cell(self) -> Cell:
        """Check all keys, whether or not the algorithm takes the problem.

        Raises InputError naming the key, its value and what is allowed.
        """
        check_run(self.calibration, self.replicates, self.seed)
        if not isinstance(self.data_root, str):
            raise InputError("data.root", self.data_root, "a folder")
        cls = problem_class(self.problem.name)
        check_data_sets(cls.name, checked_count("data_sets", self.data_sets))
        if isinstance(self.d, int):
            check_size("d", self.d)
        number = isinstance(self.record, int | float) and not isinstance(self.record, bool)
        if self.record is not None and not (number and 0 < self.record < float("inf")):
            raise InputError("record", self.record, "null or a finite number > 0 (checkpoint spacing in units of n)")
        if self.backend.dtype not in DTYPES:
            raise InputError("backend.dtype", self.backend.dtype, "one of " + ", ".join(DTYPES))
        if not isinstance(self.backend.fused, bool):
            raise InputError("backend.fused", self.backend.fused, "true or false")
        get_namespace(self.backend.name)
        cell = self._unchecked()
        check_sampled(cell)
        reason = cls.unavailable(Path(self.data_root))
        if reason:
            raise DpscoError(f"problem = {cell.problem}, data.root = {self.data_root}: {reason}")
        return cell

    def _unchecked(self) -> Cell:
        method, cls, n = self.algorithm, problem_class(self.problem.name), self.n
        options = {k: v for k, v in self.problem.options.items() if v is not None}
        if not cls.needs_data_root:
            options.pop("root", None)
        if n is None:
            n = get_problem(cls.name, self.d, **options).records or DEFAULT_RECORDS
        schedule = {k: v for k, v in method.options.items() if v is not None}
        return Cell(
            method.id, cls.name, n, self.epsilon, self.delta, self.d, method.variant, schedule, problem_options=options
        )

    def job(self, cell: Cell) -> Job:
        """Check that the algorithm takes the problem and has a plan there; make the job, with a key over its numbers.

        Raises InputError or Refusal naming the key, its value and what is allowed.

        Parameters
        ----------
        cell : Cell, of `cell`
        """
        check_cell(cell)
        cell = replace(  # as plans have it: named by its method, over n, and without the place of its data
            cell,
            algorithm=cell.algorithm_entry.id,
            problem_options={k: v for k, v in cell.problem_options.items() if k != "root"},
            d=cell.problem_entry.dimension,
            epsilon=float(cell.epsilon),
            delta=float(cell.delta),
            method=cell.algorithm_entry.id.partition(".")[2],
            parameter="n",
            value=float(cell.n),
        )
        located(cell, self.data_root).plan(self.calibration, self.seed)
        job = Job(
            claim="run",
            part=cell.algorithm,
            kind="run",
            calibration=self.calibration,
            seed=self.seed,
            backend=self.backend.name,
            dtype=self.backend.dtype,
            fused=self.backend.fused,
            replicates=self.replicates,
            data_sets=self.data_sets,
            record=self.record,
            plugins=self.plugins,
            data_root=self.data_root,
            cells=(pinned(cell, self.data_root),),
        )
        return replace(job, key=digest(job.numbers([without_places(cell) for cell in job.cells]))[:16])


def _check_keys(group: str, config: Options, known: Sequence[str]) -> None:
    for key in set(config) - set(known) or {known[0]} - set(config):
        raise InputError(f"{group}.{key}", config.get(key, "missing"), "one of the keys " + ", ".join(known))
