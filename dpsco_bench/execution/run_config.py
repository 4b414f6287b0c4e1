"""What a single run is asked to be: a resolved configuration of ``conf/run.yaml``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, integral
from dpsco_bench.execution.request import as_declared, problem_options
from dpsco_bench.plain import Options
from dpsco_bench.problems.registry import problem_class

COUNTS = ("n", "d", "replicates", "data_sets", "seed")
NAMED = ("calibration", "data")
"""Groups of a configuration that have one key."""


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
    """Where it runs: array library, type of numbers, whether compiled steps may take a listing's place."""

    name: str = "numpy"
    dtype: str = "float64"
    fused: bool = True


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """A run's configuration, as it is written; nothing is checked here but its keys.

    Attributes
    ----------
    n, d : int or None, None for all records of a file, and for the problem's own dimension
    record : float or None, spacing of risk checkpoints in units of n gradient evaluations
    out : str or None, file for the rows
    plugins : tuple of str, files of one's own methods and problems
    data_root : str, folder of the data sets
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
        """The configuration of plain data, as Hydra resolves it. Raises InputError for a missing or unknown key."""
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
        return cls(**{**plain, **made, **named, "plugins": tuple(config["plugins"])})

    def to_json(self) -> Options:
        """Inverse of `from_json`; keys as in ``conf/run.yaml``."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "data_root"}
        parts = {key: dict(vars(plain[key])) for key in ("algorithm", "problem", "backend")}
        named = {"calibration": {"name": self.calibration}, "plugins": list(self.plugins)}
        return {**plain, **parts, **named, "data": {"root": self.data_root}}

    def as_declared(self) -> RunConfig:
        """With counts and options as their signatures mean them: ``n=1e4`` is 10,000."""
        schedule = as_declared(self.algorithm.options, get_algorithm(self.algorithm.id).options)
        options = as_declared(self.problem.options, problem_options(problem_class(self.problem.name)))
        return replace(
            self,
            **{key: integral(getattr(self, key)) for key in COUNTS},
            algorithm=replace(self.algorithm, options=schedule),
            problem=replace(self.problem, options=options),
        )


def _check_keys(group: str, config: Options, known: Sequence[str]) -> None:
    """A group has its name, and no key that nothing reads."""
    for key in set(config) - set(known) or {known[0]} - set(config):
        raise InputError(f"{group}.{key}", config.get(key, "missing"), "one of the keys " + ", ".join(known))
