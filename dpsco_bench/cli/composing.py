"""Composition of runs with Hydra: everything is checked before anything runs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsco_bench.cli.options import Override, parse_value
from dpsco_bench.cli.overrides import FOLDERS, complete
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.cell import ImpurePlan
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.results import check_replaceable, read_metadata, read_table
from dpsco_bench.execution.run_config import RunConfig
from dpsco_bench.execution.store import damaged
from dpsco_bench.execution.summary import Summary, summarise
from dpsco_bench.paths import conf_dir

RUNS = Path("results/runs")
LAUNCHERS = ("joblib", "submitit_local", "submitit_slurm")
LAUNCHERS_FROM = "it comes with the extra cluster (in a checkout: make cluster)"
PLACES = ("out", "plugins", "data")
"""Keys of a configuration that say where things are; results do not store them."""


@dataclass(frozen=True)
class Request:
    """One checked run.

    Attributes
    ----------
    job : Job or None, None where the pair is refused
    asked : RunConfig, the configuration
    out : Path, the file for the rows
    swept : mapping, key -> value of what a sweep varies
    refused : DpscoError or None, why the algorithm does not run on the problem, in a sweep, which it does not end
    """

    job: Job | None
    asked: RunConfig
    out: Path
    swept: Mapping[str, str]
    refused: DpscoError | None = None

    @property
    def stored(self) -> Summary:
        """Summary of the run from its rows on disk, wherever the launcher ran it."""
        assert self.job is not None
        return summarise(self.job, read_table(self.out)[0])

    @property
    def label(self) -> str:
        """What tells it from the others of a sweep."""
        return " ".join(f"{key}={value}" for key, value in self.swept.items())


@dataclass(frozen=True)
class Requests:
    """What the arguments of `dpsco run` ask for.

    Attributes
    ----------
    runs : list of Request, in the order in which Hydra's sweeper would run them
    overrides : list of str, the same arguments as Hydra reads them
    folder : Path or None, where result files go, None where none is named
    """

    runs: list[Request]
    overrides: list[str]
    folder: Path | None


def requests(arguments: Sequence[str], multirun: bool) -> Requests:
    """Compose and check every run that the arguments ask for.

    Raises DpscoError in one line, for the first run that cannot be made; in a sweep a pair that is refused is none.
    """
    overrides = complete(arguments)
    for override in overrides:
        if override.key == FOLDERS[not multirun]:
            mine = f"{FOLDERS[multirun]}=FOLDER {'of a sweep' if multirun else 'of a run without -m'}"
            raise InputError(override.key, override.text, f"written {mine}")
        if override.sweep and not multirun:
            raise InputError(override.key.rpartition(".")[2], override.text, "one value; several need -m (a sweep)")
    folder = _folder(overrides, multirun)
    made = list(_composed(overrides, multirun, folder or RUNS))
    places = [entry.out for entry in made if not entry.refused]
    for entry in made:
        if entry.asked.out is not None and not entry.refused and places.count(entry.out) > 1:
            raise InputError("out", entry.out, "null in a sweep, or different for each run")
    kept = [str(override) for override in overrides if override.key not in FOLDERS.values()]
    return Requests(made, kept, folder)


def _folder(overrides: Sequence[Override], sweep: bool) -> Path | None:
    """The folder that Hydra is told to use, its interpolations (``${now:%Y-%m-%d}``) resolved; None without one."""
    from omegaconf import OmegaConf

    given = [override for override in overrides if override.key == FOLDERS[sweep]]
    if not given:
        return None
    asked = given[-1]
    allowed = "a folder, the same for all runs"
    if re.search(r"\$\{(?!now:)", asked.text):
        raise InputError(asked.key, asked.text, f"{allowed}; ${{now:%Y-%m-%d}} alone may stand in it")
    try:
        found = _hydra([str(asked)], lambda config: OmegaConf.select(config, asked.key), return_hydra_config=True)
    except DpscoError as error:
        raise InputError(asked.key, asked.text, allowed, str(error)) from None
    if not isinstance(found, str) or not found or Path(found).is_file():
        raise InputError(asked.key, asked.text, "a folder")
    return Path(found)


def _hydra(choice: list[str], read: Callable[[Any], Any], **options: Any) -> Any:
    """Compose ``conf/run.yaml`` and read what is asked for. Raises DpscoError with Hydra's reason in one line."""
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            return read(compose("run", choice, **options))
    except (HydraException, OmegaConfBaseException, ValueError, TypeError, AssertionError) as error:
        raise DpscoError(" ".join(str(error).split("\n\n")[0].split())) from None


def _composed(overrides: Sequence[Override], sweep: bool = False, folder: Path = RUNS) -> Iterator[Request]:
    from omegaconf import OmegaConf

    unique = list({override.key: override for override in overrides}.values())
    read = partial(OmegaConf.to_container, resolve=True, throw_on_missing=True)
    for values in itertools.product(*(override.values for override in unique)):
        chosen = [*zip(unique, values, strict=True)]
        choice = [f"{o.sign}{o.key}={value}" if o.sweep else str(o) for o, value in chosen]
        swept = {o.key.split(".")[-1]: _shown(value) for o, value in chosen if o.sweep}
        try:
            config = _hydra(choice, read)
        except DpscoError as error:
            hint = f"; {LAUNCHERS_FROM}" * any(f"hydra/launcher/{name}'" in str(error) for name in LAUNCHERS)
            raise DpscoError(f"configuration {' '.join(choice)}: {error}{hint}") from None
        yield request(config, swept, sweep, folder)


def _shown(text: str) -> str:
    """A swept value as it is named: a count without a point."""
    value = parse_value(text)
    return str(value) if type(value) is int else text


def request(config: Any, swept: Mapping[str, str] | None = None, sweep: bool = False, folder: Path = RUNS) -> Request:
    """Check one resolved configuration. Raises DpscoError naming the key that is wrong.

    In a ``sweep``, an algorithm that does not take the problem is no error. The rows go to ``out`` of the
    configuration, else to a file in the ``folder`` that is named by their digest.
    """
    asked = RunConfig.from_json(config)
    cell, out, swept = asked.cell(), asked.out, swept or {}
    if out is not None:
        _check_out(out, [*asked.plugins, *cell.problem_options.values()])
    try:
        job = asked.job(cell)
    except DpscoError as refused:
        if not sweep or isinstance(refused, ImpurePlan):
            raise
        return Request(None, asked, Path(out or ""), swept, refused)
    return Request(job, asked, Path(out) if out else folder / f"{job.key}.parquet", swept)


def set_damaged_aside(path: Path) -> None:
    """Name and remove a damaged table in a place that is not the user's."""
    if path.is_file() and not path.is_symlink():
        try:
            read_metadata(path)
        except (pa.ArrowException, OSError, ValueError):
            damaged(path, "it is no result table")
            path.unlink()


def _check_out(out: Any, inputs: Sequence[Any]) -> None:
    """Results go to a new file or replace earlier ones, and never what the run reads."""
    if not isinstance(out, str) or not out or Path(out).is_dir():
        raise InputError("out", out, "null or the path of a file")
    check_replaceable("out", Path(out))
    for name in inputs:
        if isinstance(name, str) and Path(out).is_file() and Path(name).is_file() and Path(name).samefile(out):
            raise InputError("out", out, "another file than those that the run reads")
