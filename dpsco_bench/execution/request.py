"""From plain keys (``theta=0.01``, ``kappa=8``, ``smoothness=1``) to a cell: every key has one place or none.

`read_config`, `config_cell` and `config_job` lead from the configuration of ``conf/run.yaml`` to a job.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from dpsco_bench.algorithms.registry import CALIBRATIONS, Algorithm, get_algorithm
from dpsco_bench.backend.namespace import get_namespace
from dpsco_bench.errors import DpscoError, InputError, checked_count, integral, nearest
from dpsco_bench.execution.cell import Cell, check_data_sets, located, pinned, without_places
from dpsco_bench.execution.jobs import Job, Settings
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
GROUPS: Mapping[str, Options] = {
    "algorithm": {"id": None, "variant": None, "options": {}},
    "problem": {"name": None, "options": {}},
    "calibration": {"name": None},
    "backend": {"name": None, "dtype": "float64", "fused": True},
    "data": {"root": None},
}
"""Groups of a run's configuration, their keys and these keys' defaults; the first of each has to be given."""
CONFIG_KEYS = (*GROUPS, *CELL_KEYS, "replicates", "data_sets", "seed", "record", "out", "plugins")
DTYPES = ("float64", "float32")
DEFAULT_RECORDS = 4096


def problem_options(problem: type[Problem]) -> dict[str, inspect.Parameter]:
    """Return a problem's constructor options by name (dimension and constants have keys of their own)."""
    parameters = inspect.signature(problem, eval_str=True).parameters
    return {key: p for key, p in parameters.items() if key not in ("d", "constants")}


def place_of(key: str, algorithm: Algorithm, problem: type[Problem]) -> str:
    """Place a plain key: ``algorithm`` (the variant), `SCHEDULE`, `PROBLEM`, `CONSTANT`, or empty for an unknown one.

    An option of the problem's constructor goes before a constant of the same name, because it changes the objective
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
            real = isinstance(value, float) and math.isfinite(value) and value != 0  # others check the rest
            if real and not LEAST_REAL <= abs(value) <= MOST_REAL:
                raise InputError(name, value, f"of a size from {LEAST_REAL:g} to {MOST_REAL:g}")
            sorted_keys[place][name] = value
    options = {k: v for k, v in as_declared(sorted_keys[PROBLEM], problem_options(cls)).items() if v is not None}
    schedule = as_declared(sorted_keys[SCHEDULE], entry.options)
    if sorted_keys[CONSTANT]:
        options["constants"] = {**dict(options.get("constants") or {}), **sorted_keys[CONSTANT]}
    fields.setdefault("n", get_problem(problem, fields.get("d"), **options).records if cls.file_options else None)
    if fields["n"] is None:
        raise InputError("n", "missing", "given, an integer >= 1")
    cell = Cell(entry.id, problem, **fields, **sorted_keys["algorithm"], options=schedule, problem_options=options)
    return _checked(cell)


def _checked(cell: Cell) -> Cell:
    """Refuse an option or a constant out of range, and a problem that the algorithm does not take."""
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
    _check_size("replicates", checked_count("replicates", replicates))
    for key, value in (("seed", seed), ("data_set", data_set)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(key, value, "an integer >= 0")


def check_sampled(cell: Cell) -> None:
    """Check a cell's number of records, where they are told apart: equal ones are only counted.

    Raises InputError above 2^32.
    """
    if not cell.problem_entry.shares_records:
        _check_size("n", cell.n)


def _check_size(key: str, value: int) -> None:
    """Refuse a number of records or replicates that the random streams cannot count."""
    if value > MOST:
        raise InputError(key, value, "at most 2^32 in a run, the range of the random streams' counters")


def as_declared(values: Options, parameters: Mapping[str, inspect.Parameter]) -> Options:
    """Options as their signature means them.

    An option that takes integers and no real numbers takes ``1e4`` too. One that takes text alone keeps a number as
    text (a folder called 2017), unlike one that takes either (p = 4 or inf).
    """
    found = dict(values)
    for key, value in values.items():
        declared = parameters.get(key)
        kinds = {declared.annotation, *get_args(declared.annotation)} if declared else set()
        if int in kinds and float not in kinds:
            found[key] = integral(value)
        elif declared and isinstance(declared.default, str) and not kinds & {int, float}:
            found[key] = str(value) if isinstance(value, int | float) else value
    return found


def read_config(config: Options) -> Options:
    """Check the keys of a run's configuration (``conf/run.yaml``), as Hydra resolves it.

    Returns it with counts and options as their signatures mean them (``n=1e4``). Raises InputError for a missing or
    unknown key.
    """
    for key in sorted(set(config) ^ set(CONFIG_KEYS)):
        allowed = "given" if key in CONFIG_KEYS else "one of the keys " + ", ".join(CONFIG_KEYS)
        raise InputError(key, config.get(key, "missing"), allowed)
    for group, usual in GROUPS.items():
        given, first = config[group], next(iter(usual))
        for key in set(given) - set(usual) or {first} - set(given):
            raise InputError(f"{group}.{key}", given.get(key, "missing"), "one of the keys " + ", ".join(usual))
    found = {key: integral(config[key]) if key in COUNTS else config[key] for key in CONFIG_KEYS}
    found |= {group: {**usual, **config[group]} for group, usual in GROUPS.items()}
    method, problem = found["algorithm"], found["problem"]
    method["options"] = as_declared(method["options"], get_algorithm(method["id"]).options)
    problem["options"] = as_declared(problem["options"], problem_options(problem_class(problem["name"])))
    return found


def config_cell(config: Options) -> Cell:
    """Make the cell of a configuration (`read_config`), whether or not the algorithm takes the problem.

    Raises InputError naming the key, its value and what is allowed.
    """
    check_run(config["calibration"]["name"], config["replicates"], config["seed"])
    method, problem, backend = (config[key] for key in ("algorithm", "problem", "backend"))
    n, d, record, root = config["n"], config["d"], config["record"], config["data"]["root"]
    spacing = isinstance(record, int | float) and not isinstance(record, bool) and 0 < record < math.inf
    for key, value, fits, allowed in (
        ("data.root", root, isinstance(root, str), "a folder"),
        ("record", record, record is None or spacing, "null or a finite number > 0 (checkpoint spacing in units of n)"),
        ("backend.dtype", backend["dtype"], backend["dtype"] in DTYPES, "one of " + ", ".join(DTYPES)),
        ("backend.fused", backend["fused"], isinstance(backend["fused"], bool), "true or false"),
    ):
        if not fits:
            raise InputError(key, value, allowed)
    get_namespace(backend["name"])
    cls = problem_class(problem["name"])
    check_data_sets(cls.name, checked_count("data_sets", config["data_sets"]))
    if isinstance(d, int):
        _check_size("d", d)
    schedule, options = ({k: v for k, v in of["options"].items() if v is not None} for of in (method, problem))
    if not cls.needs_data_root:
        options.pop("root", None)
    if n is None:
        n = get_problem(cls.name, d, **options).records or DEFAULT_RECORDS
    cell = Cell(method["id"], cls.name, n, config["epsilon"], config["delta"], d, method["variant"], schedule, options)
    check_sampled(cell)
    if reason := cls.unavailable(Path(root)):
        raise DpscoError(f"problem = {cell.problem}, data.root = {root}: {reason}")
    return cell


def config_job(config: Options, cell: Cell) -> Job:
    """Check that the algorithm takes the problem of a cell (`config_cell`), and has a plan there; make the run's job.

    Raises InputError or Refusal naming the key, its value and what is allowed.
    """
    _checked(cell)
    settings, calibration = Settings.of(config), config["calibration"]["name"]
    cell = replace(  # as plans have it: named by its method, over n, and without the place of its data
        cell,
        problem_options={k: v for k, v in cell.problem_options.items() if k != "root"},
        d=cell.problem_entry.dimension,
        epsilon=float(cell.epsilon),
        delta=float(cell.delta),
        method=cell.algorithm.partition(".")[2],
        parameter="n",
        value=float(cell.n),
    )
    located(cell, settings.data_root).plan(calibration, settings.seed)
    job = settings.job(
        claim="run",
        part=cell.algorithm,
        kind="run",
        calibration=calibration,
        cells=(pinned(cell.to_json(), settings.data_root),),
        **{key: config[key] for key in ("replicates", "data_sets", "record")},
    )
    return replace(job, key=digest(job.numbers([without_places(cell) for cell in job.cells]))[:16])
