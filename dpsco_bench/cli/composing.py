"""Composition of runs with Hydra: everything is checked before anything runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.cli.options import Parsed, parse_value
from dpsco_bench.cli.overrides import GROUPS, SETTINGS, complete
from dpsco_bench.errors import DpscoError, InputError, integral
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.planning import ImpurePlan
from dpsco_bench.execution.request import as_declared, problem_options
from dpsco_bench.execution.results import check_replaceable, read_metadata
from dpsco_bench.execution.single import check_pair, single_cell, single_job
from dpsco_bench.execution.store import damaged
from dpsco_bench.paths import conf_dir
from dpsco_bench.problems.registry import problem_class

RUNS = Path("results/runs")
COUNTS = ("n", "d", "replicates", "data_sets", "seed")
PLACES = ("out", "plugins", "data")
"""Keys of a configuration that say where things are; results do not store them."""


@dataclass(frozen=True)
class Request:
    """One checked run.

    Attributes
    ----------
    job : Job or None, None where the pair is refused
    swept : mapping, key -> value of what a sweep varies
    refused : DpscoError or None, why the algorithm does not run on the problem, in a sweep, which it does not end
    """

    job: Job | None
    config: dict[str, Any]
    out: Path
    swept: Mapping[str, Any]
    refused: DpscoError | None = None

    @property
    def label(self) -> str:
        """What tells it from the others of a sweep."""
        return " ".join(f"{key}={value}" for key, value in self.swept.items())


def requests(arguments: Sequence[str], multirun: bool) -> tuple[list[Request], list[str]]:
    """Compose and check every run that the arguments ask for.

    Raises DpscoError in one line, for the first run that cannot be made; in a sweep a pair that is refused is none,
    unless all are.

    Returns
    -------
    runs : list of Request, in the order in which Hydra's sweeper would run them
    overrides : list of str, the same arguments as Hydra reads them
    """
    overrides = complete(arguments)
    for override in overrides:
        if override.sweep and not multirun:
            raise InputError(override.key.rpartition(".")[2], override.text, "one value; several need -m (a sweep)")
    made = list(_composed(overrides, multirun))
    if all(entry.refused for entry in made):
        raise next(entry.refused for entry in made if entry.refused)
    _check_places([entry for entry in made if not entry.refused])
    return made, [str(override) for override in overrides]


def _composed(overrides: Sequence[Parsed], sweep: bool = False) -> Iterator[Request]:
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    unique = list({override.key: override for override in overrides}.values())
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        for values in itertools.product(*(override.values for override in unique)):
            choice = [_fixed(o, value) if o.sweep else str(o) for o, value in zip(unique, values, strict=True)]
            swept = {o.key.split(".")[-1]: _shown(v) for o, v in zip(unique, values, strict=True) if o.sweep}
            try:
                config = OmegaConf.to_container(compose("run", choice), resolve=True, throw_on_missing=True)
            except (HydraException, OmegaConfBaseException, ValueError, TypeError, AssertionError) as error:
                reason = " ".join(str(error).split("\n\n")[0].split())
                raise DpscoError(f"configuration {' '.join(choice)}: {reason}") from None
            yield request(config, swept, sweep)


def _shown(text: str) -> str:
    """A swept value as it is named: a count without a point."""
    value = parse_value(text)
    return str(value) if type(value) is int else text


def _fixed(override: Parsed, value: str) -> str:
    return f"{override.sign}{override.key}={value}"


def request(config: Any, swept: Mapping[str, Any] | None = None, sweep: bool = False) -> Request:
    """Check one resolved configuration. Raises DpscoError naming the key that is wrong.

    In a ``sweep``, an algorithm that does not take the problem is no error.
    """
    expected = (*GROUPS, *SETTINGS, "data")
    for key in expected:
        if key not in config:
            raise InputError(key, "missing", "given")
    for key in sorted(set(config) - set(expected)):
        raise InputError(key, config[key], "one of the keys " + ", ".join(expected))
    config = _as_declared(config)
    cell, out, swept = single_cell(config), config["out"], swept or {}
    if out is not None:
        _check_out(out, [*config["plugins"], *cell.problem_options.values()])
    if sweep:
        try:
            check_pair(cell, config)
        except ImpurePlan:
            raise
        except DpscoError as refused:
            return Request(None, config, Path(out or ""), swept, refused)
    job = single_job(config)
    return Request(job, config, Path(out) if out else RUNS / f"{job.key}.parquet", swept)


def _as_declared(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration whose counts and options are as their signatures mean them: ``n=1e4`` is 10,000."""
    algorithm, problem = config["algorithm"], config["problem"]
    schedule = as_declared(algorithm["options"], get_algorithm(algorithm["id"]).options)
    options = as_declared(problem["options"], problem_options(problem_class(problem["name"])))
    return {
        **config,
        **{key: integral(config[key]) for key in COUNTS},
        "algorithm": {**algorithm, "options": schedule},
        "problem": {**problem, "options": options},
    }


def set_damaged_aside(path: Path) -> None:
    """Name a damaged table in a place that is not the user's and set it aside, as the store does with its own."""
    if path.is_file() and not path.is_symlink():
        try:
            read_metadata(path)
        except (pa.ArrowException, OSError, ValueError):
            damaged(path, "it is no result table")


def _check_out(out: Any, inputs: Sequence[Any]) -> None:
    """Results go to a new file or replace earlier ones, and never what the run reads."""
    if not isinstance(out, str) or not out or Path(out).is_dir():
        raise InputError("out", out, "null or the path of a file")
    check_replaceable("out", Path(out))
    for name in inputs:
        if isinstance(name, str) and Path(out).is_file() and Path(name).is_file() and Path(name).samefile(out):
            raise InputError("out", out, "another file than those that the run reads")


def _check_places(made: Sequence[Request]) -> None:
    seen: set[Path] = set()
    for entry in made:
        if entry.config["out"] is not None and entry.out in seen:
            raise InputError("out", entry.out, "null in a sweep, or different for each run")
        seen.add(entry.out)
