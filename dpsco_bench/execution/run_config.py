"""A single run: the configuration of ``conf/run.yaml`` as it is written, the checked cell, and the job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.backend.namespace import get_namespace
from dpsco_bench.errors import DpscoError, InputError, checked_count, integral
from dpsco_bench.execution.cell import Cell, check_data_sets, located, pinned, without_places
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.request import (
    as_declared,
    check_cell,
    check_run,
    check_sampled,
    check_size,
    problem_options,
)
from dpsco_bench.jsonio import digest
from dpsco_bench.plain import Options
from dpsco_bench.problems.registry import get_problem, problem_class

COUNTS = ("n", "d", "replicates", "data_sets", "seed")
NAMED = ("calibration", "data")
"""Groups of a configuration that have one key."""
DTYPES = ("float64", "float32")
DEFAULT_RECORDS = 4096


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
    """Check that a group has its name, and no unknown key."""
    for key in set(config) - set(known) or {known[0]} - set(config):
        raise InputError(f"{group}.{key}", config.get(key, "missing"), "one of the keys " + ", ".join(known))
