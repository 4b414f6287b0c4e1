"""The end of a sweep: one table, one Parquet file and one plot of all its runs, refused ones among them."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from dpsco_bench.claims.costs import expected_seconds
from dpsco_bench.claims.jobs import finished
from dpsco_bench.cli.claiming import say
from dpsco_bench.cli.options import Override, parse_value
from dpsco_bench.cli.output import HELD_OUT, Heading, Row, beside_text, bounded, labelled, number, print_json, table
from dpsco_bench.cli.overrides import FOLDERS, complete
from dpsco_bench.errors import DpscoError, InputError, Refusal
from dpsco_bench.execution.cell import ImpurePlan, located
from dpsco_bench.execution.job import job_metadata
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.progress import Pace, shown
from dpsco_bench.execution.results import (
    RESULT_SCHEMA,
    check_replaceable,
    join_blocks,
    read_metadata,
    read_table,
    write_table,
)
from dpsco_bench.execution.run_config import RunConfig
from dpsco_bench.execution.store import Store, damaged
from dpsco_bench.execution.summary import HeldOutBeside, Summary, SweptRun, summarise
from dpsco_bench.execution.worker import make, sharing
from dpsco_bench.jsonio import check_figure, is_draft, write_atomic
from dpsco_bench.leaderboard.choose import OVERHEAD
from dpsco_bench.paths import conf_dir
from dpsco_bench.plain import Plain

COLUMNS = (
    Heading("risk", "risk", numeric=True),
    Heading("ci", "+- (95 %)", numeric=True),
    *HELD_OUT,
    Heading("kind", "risk is"),
    Heading("epsilon", "real epsilon", numeric=True),
    Heading("privacy", "privacy"),
    Heading("gradients", "gradients", numeric=True),
)
REFUSED = "refused"
CLOCK_SECONDS = 2.0
"""How far clocks of other machines, which may write the files, may be behind."""
NOTES = ".dpsco-failures"
"""Folder of the notes: the folder of a sweep may be one of the user's, with files of any name in it."""
_KEY = re.compile("[0-9a-f]{16,}")
TICKS = 100
"""Steps in which a single run tells how far it is."""


@dataclass(frozen=True)
class Failures:
    """Why runs of a sweep left no rows: notes in a folder, since a launcher may run them in other processes.

    Parameters
    ----------
    folder : Path, of this sweep alone, and named `NOTES`
    """

    folder: Path

    def forget(self) -> None:
        """Remove the notes of an earlier sweep, and nothing else."""
        with suppress(OSError):
            drafts = [path for path in self.folder.glob(".*") if is_draft(path)]
            for path in (*self._notes(), *drafts):
                path.unlink(missing_ok=True)
            self.folder.rmdir()

    def _notes(self) -> list[Path]:
        return [path for path in sorted(self.folder.glob("*")) if _KEY.fullmatch(path.name)]

    def note(self, key: str, error: DpscoError) -> None:
        """Note what ended the job of a key."""
        kind = REFUSED if isinstance(error, Refusal) else "failed"
        write_atomic(self.folder / key, f"{kind} {' '.join(str(error).split())}")

    def read(self) -> dict[str, DpscoError]:
        """Key of a job -> what ended it."""
        notes = {path.name: path.read_text(encoding="utf-8") for path in self._notes()}
        kinds = {REFUSED: _Refused, "failed": DpscoError}
        return {key: kinds[text.partition(" ")[0]](text.partition(" ")[2]) for key, text in notes.items()}


class _Refused(Refusal):
    """A refusal that was noted."""

    __init__ = DpscoError.__init__


@dataclass(frozen=True)
class SweepRow:
    """A run of a sweep, with a result or the reason why it has none.

    Attributes
    ----------
    run : SweptRun or None, None where it is refused, or has failed
    refused : str, why; empty where there is a result
    """

    request: Request
    run: SweptRun | None
    refused: str = ""

    @classmethod
    def of(cls, request: Request, failures: Mapping[str, DpscoError]) -> SweepRow:
        """Collect what is known of a run, however it ended."""
        error = request.refused or (failures.get(request.job.key) if request.job else None)
        if error is None and request.job and request.out.is_file():
            return cls(request, SweptRun(request.swept, request.stored))
        return cls(request, None, " ".join(str(error or "it left no rows: its launcher says why").split()))

    def to_json(self) -> Plain:
        """Return the run's summary and file, or the request and why nothing ran."""
        if self.run:
            return {**self.run.summary.to_json(), "out": self.request.out}
        return {**self._asked(), REFUSED: self.refused}

    def _asked(self) -> Plain:
        asked = self.request.asked
        return {
            "algorithm": asked.algorithm.id,
            "problem": asked.problem.name,
            **{key: getattr(asked, key) for key in ("n", "d", "delta", "replicates", "data_sets", "seed")},
            "calibration": asked.calibration,
            "epsilon_claimed": asked.epsilon,
        }

    def columns(self) -> Plain:
        """Its row of the Parquet file: swept keys as ``swept.<key>``, held-out numbers as ``held_out.<name>``.

        Those of the starting point and of the minimiser are ``held_out.trivial.<name>`` and so on.
        """
        swept = {f"swept.{key}": value for key, value in self.request.swept.items()}
        if self.run is None:
            return {**swept, **self._asked(), REFUSED: self.refused, "out": ""}
        summary = self.run.summary
        plain = {key: value for key, value in summary.to_json().items() if key != "held_out"}
        held = _flat(summary.held_out) if summary.held_out else {}
        return {
            **{**swept, **plain, "ci_half": summary.half_interval, REFUSED: None, "out": str(self.request.out)},
            **{f"held_out.{key}": value for key, value in held.items()},
        }

    def line(self) -> Row:
        """Its line of the table on the terminal."""
        cells = {f"swept.{key}": value for key, value in self.request.swept.items()}
        if self.run is None:
            return {**cells, "algorithm": self.request.asked.algorithm.id, "risk": REFUSED}
        found = self.run.summary
        return {
            **cells,
            "algorithm": found.algorithm,
            "risk": number(found.risk),
            "loss": number(found.held_out and found.held_out.own.loss, 3),
            "accuracy": number(found.held_out and found.held_out.own.accuracy, 3),
            "ci": number(found.half_interval, 2),
            "kind": found.risk_kind,
            "epsilon": bounded(found.epsilon_real, found.epsilon_real_kind, 3),
            "privacy": found.privacy_status,
            "gradients": number(found.gradient_evaluations, 3),
        }


def _flat(held: HeldOutBeside) -> Plain:
    """Held-out numbers by one name each: ``loss``, ``trivial.loss``, ``without_privacy.loss``."""
    beside = {"": held.own, "trivial.": held.trivial, "without_privacy.": held.without_privacy}
    return {f"{of}{name}": value for of, values in beside.items() for name, value in values.to_json().items()}


@contextmanager
def running(made: Sequence[Request], failures: Failures) -> Iterator[None]:
    """Tell on stderr how far some runs are where they take long, by the files that they leave, wherever they run."""
    jobs = [(entry.job, entry.out) for entry in made if entry.job]
    begun = time.time() - CLOCK_SECONDS
    pace = Pace([_seconds(job) for job, _ in jobs], unit="runs")

    def look() -> list[int]:
        lost = failures.read()
        new = (job.key in lost or (out.is_file() and out.stat().st_mtime >= begun) for job, out in jobs)
        return [number for number, ended in enumerate(new) if ended]

    with shown(pace, say, look=look):
        yield


def run_table(job: Job, alone: bool) -> pa.Table:
    """Read a job from the store, or calibrate and run it; finished work stays there for the next call.

    One that takes long tells how far it is where it is ``alone``.
    """
    keyed = finished(job)
    pace = Pace([_seconds(job) / TICKS] * TICKS, sizes=[1 / TICKS] * TICKS, unit="runs")
    with _measured() as measured, sharing(), shown(pace, say) if alone else nullcontext():
        make("calibrate", keyed, measured)
        make("run", keyed, measured, lambda done, every: pace.reach(TICKS * done // every))
        table, calibrations = measured.load(keyed)
    assert table is not None
    return join_blocks([table.cast(RESULT_SCHEMA)], job_metadata(job, calibrations))


@contextmanager
def _measured() -> Iterator[Measured]:
    """Open the store of all verbs, or a temporary one if it cannot be written."""
    here = Layout("").measured
    with suppress(OSError):
        here.store.root.mkdir(parents=True, exist_ok=True)
    if os.access(here.store.root, os.W_OK):
        yield here
    else:
        with TemporaryDirectory() as folder:
            yield replace(here, store=Store(Path(folder)))


def _seconds(job: Job) -> float:
    """Predict the seconds of a single run on one core."""
    cell = located(job.cells[0], job.data_root)
    _, plan = cell.plan(job.calibration, job.seed, twice=False)
    return OVERHEAD + expected_seconds(cell, plan, job.replicates * job.data_sets, job.fused)


def sweep_files(folder: Path) -> dict[str, Path]:
    """Name the files at the end of a sweep, by what they are."""
    return {"sweep": folder.with_suffix(".parquet"), "figure": folder.with_suffix(".svg")}


def check_sweep_files(key: str, folder: Path) -> None:
    """Refuse a user's folder where the files of a sweep would replace any that is not of one.

    Raises InputError under the name ``key``.
    """
    files = sweep_files(folder)
    check_replaceable(key, files["sweep"])
    check_figure(key, files["figure"])


def end_sweep(made: Sequence[Request], failures: Mapping[str, DpscoError], folder: Path, as_json: bool) -> None:
    """Print the table (or JSON), and write file and plot, of what a sweep left.

    Raises the first failure of a run that was no refusal, and a DpscoError where all runs are refused. Where none has a
    result since one failed, nothing is written.

    Parameters
    ----------
    made : sequence of Request, all runs in their order
    failures : mapping, key of a job -> what ended it
    folder : Path, whose name the files take
    """
    rows = [SweepRow.of(entry, failures) for entry in made]
    failed = next((error for error in failures.values() if not isinstance(error, Refusal)), None)
    if failed and not any(row.run for row in rows):
        raise failed
    files = _written(rows, sweep_files(folder))
    if as_json:
        print_json(rows)
    else:
        print("\n".join(["", *printed(rows)]))
    for name, path in files.items():
        say(f"{name}: {path}")
    if failed:
        raise failed
    if not any(row.run for row in rows):
        raise DpscoError(f"none of the {len(rows)} runs of the sweep has a result: all are refused")


def printed(rows: Sequence[SweepRow]) -> list[str]:
    """Print the table, and below it each reason for a refusal once."""
    keys = list(rows[0].request.swept)
    columns = [Heading(f"swept.{key}", key) for key in keys] or [Heading("algorithm", "algorithm")]
    lines = [table([*columns, *COLUMNS], [row.line() for row in rows]), *_held_out_beside(rows)]
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.refused:
            reasons.setdefault(row.refused, []).append(row.request.label)
    for reason, names in reasons.items():
        more = f" and {len(names) - 1} more" * (len(names) > 1)
        lines.append(labelled("refused:", f"{names[0]}{more}: {reason}", 9))
    return lines


def _held_out_beside(rows: Sequence[SweepRow]) -> list[str]:
    """Compute what held-out numbers are compared with, once for all runs on the same records."""
    told: dict[str, list[str]] = {}
    for run in (row.run for row in rows if row.run):
        if found := run.summary.held_out:
            told.setdefault(beside_text(found), []).append(f"n = {run.summary.n}, d = {run.summary.d}")
    several = len(told) > 1
    return [
        labelled("held out:", text + (f" (at {'; '.join(dict.fromkeys(places))})" if several else ""), 10)
        for text, places in told.items()
    ]


def _written(rows: Sequence[SweepRow], files: Mapping[str, Path]) -> dict[str, Path]:
    """List the files that were written: no plot if nothing ran."""
    from dpsco_bench.report.sweep import write_figure

    flat = [row.columns() for row in rows]
    names = dict.fromkeys(key for row in flat for key in row)
    table = pa.table({name: [row.get(name) for row in flat] for name in names})
    write_table(join_blocks([table], {"job": {"claim": "sweep"}}), files["sweep"])
    if runs := [row.run for row in rows if row.run]:
        write_figure(runs, files["figure"])
        return dict(files)
    return {"sweep": files["sweep"]}


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
        """Label that tells it from the others of a sweep."""
        return " ".join(f"{key}={value}" for key, value in self.swept.items())


@dataclass(frozen=True)
class Requests:
    """Runs that the arguments of `dpsco run` ask for.

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
    """Resolve the folder that Hydra is told to use (``${now:%Y-%m-%d}``); None without one."""
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
    """Format a swept value; a count has no decimal point."""
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
