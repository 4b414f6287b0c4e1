"""Runs of ``dpsco run``: checked before any begins, one by one or as a sweep through Hydra's launcher.

A sweep ends with one table, one Parquet file and one plot of all its runs, refused ones among them.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import hydra
import pyarrow as pa
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dpsco_bench.claims.jobs import expected_seconds, finished
from dpsco_bench.cli import console as ui
from dpsco_bench.cli.overrides import FOLDERS, complete
from dpsco_bench.errors import DpscoError, InputError, Refusal
from dpsco_bench.execution import results
from dpsco_bench.execution.cell import ImpurePlan, located, placeless
from dpsco_bench.execution.job import job_metadata
from dpsco_bench.execution.job_results import Summary, SweptRun, summarise
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.progress import Pace, shown
from dpsco_bench.execution.request import config_cell, config_job, read_config
from dpsco_bench.execution.worker import make
from dpsco_bench.jsonio import check_figure, dumps_canonical, loads, write_atomic
from dpsco_bench.leaderboard.choose import NOMINAL, OVERHEAD
from dpsco_bench.paths import conf_dir
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.ledger import OF, STATUS_WORDS, draw_statement
from dpsco_bench.report.tables import Column, Number

Failure = tuple[str, bool]
"""Why a run of a sweep ended without rows, and whether its pair is refused."""
RUNS = Path("results/runs")
LAUNCHERS = ("joblib", "submitit_local", "submitit_slurm")
PLACES = ("out", "plugins", "data")
"""Keys of a configuration that say where things are; results do not store them."""
REFUSED = "refused"
NOTES = ".dpsco-failures"
"""Folder of the failures of a sweep: its own folder may be one of the user's, with files of any name in it."""
TICKS = 100  # steps in which a single run tells how far it is


@dataclass(frozen=True)
class Request:
    """One checked run: its job, its configuration, the file for its rows, and the values of what a sweep varies.

    In a sweep, ``refused`` says why the algorithm does not run on the problem; then there is no job. When the sweep has
    ended it says why there are no rows, and without it there are.
    """

    job: Job | None
    asked: Plain
    out: Path
    swept: Mapping[str, str]
    refused: str = ""

    @cached_property
    def summary(self) -> Summary | None:
        """Summary of the run from its rows on disk, wherever the launcher ran it; None where there are none."""
        return None if self.refused or self.job is None else summarise(self.job, results.read_table(self.out)[0])

    @property
    def label(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.swept.items())

    def ended(self, failures: Mapping[str, Failure]) -> Request:
        """Note why it has no rows, where it has none."""
        reason = self.refused or (failures.get(self.job.key, ("",))[0] if self.job else "")
        if not reason and not self.out.is_file():
            reason = "it left no rows: its launcher says why"
        return replace(self, refused=" ".join(reason.split()))

    def to_json(self) -> Plain:
        """Return the run's summary and file, or what was asked for and why nothing ran."""
        if self.summary:
            return {**self.summary.to_json(), "out": self.out}
        asked = self.asked
        return {
            "algorithm": asked["algorithm"]["id"],
            "problem": asked["problem"]["name"],
            **{key: asked[key] for key in ("n", "d", "delta", "replicates", "data_sets", "seed")},
            "calibration": asked["calibration"]["name"],
            "epsilon_claimed": asked["epsilon"],
            REFUSED: self.refused,
        }

    def columns(self) -> Plain:
        """Make its row of the file: swept keys as ``swept.<key>``, held-out numbers as ``held_out.[<of>.]<name>``."""
        row = {**{f"swept.{key}": value for key, value in self.swept.items()}, **self.to_json()}
        if not self.summary:
            return {**row, "out": ""}
        held = row.pop("held_out", None)
        row |= {"ci_half": self.summary.half_interval, REFUSED: None, "out": str(row.pop("out"))}
        for of in ("own", "trivial", "without_privacy") if held else ():
            place = "held_out" if of == "own" else f"held_out.{of}"
            row |= {f"{place}.{name}": value for name, value in getattr(held, of).to_json().items()}
        return row


def _real(row: Request) -> str | None:
    found = row.summary
    return ui.bounded(found.epsilon_real, found.epsilon_real_kind, 3) if found else None


COLUMNS = {
    "risk": Number(lambda row: row.summary.risk if row.summary else REFUSED, ui.digits()),
    "+- (95 %)": Number("summary.half_interval", ui.digits(2)),
    **ui.held_out("summary.held_out.own."),
    **{"risk is": Column("summary.risk_kind"), "real epsilon": Number(_real)},
    "privacy": Column("summary.privacy_status", lambda status: STATUS_WORDS.get(status, "")),
    "gradients": Number("summary.gradient_evaluations", ui.digits(3)),
}


class Requests(NamedTuple):
    """Runs in the order of Hydra's sweeper, the same arguments as Hydra reads them, and the folder that they name."""

    runs: list[Request]
    overrides: list[str]
    folder: Path | None


def requests(arguments: Sequence[str], multirun: bool) -> Requests:
    """Compose and check every run that the arguments ask for.

    Raises DpscoError in one line, for the first run that cannot be made; in a sweep a pair that is refused is none.
    """
    overrides, folder = complete(arguments), None
    for override in overrides:
        if override.key == FOLDERS[not multirun]:
            mine = f"{FOLDERS[multirun]}=FOLDER {'of a sweep' if multirun else 'of a run without -m'}"
            raise InputError(override.key, override.text, f"written {mine}")
        if override.sweep and not multirun:
            raise InputError(override.key.rpartition(".")[2], override.text, "one value; several need -m (a sweep)")
        if override.key == FOLDERS[multirun]:
            folder = Path(given := str(override.value or ""))
            if not given or "${" in given or folder.is_file():
                raise InputError(override.key, override.text, "a folder, the same for all runs")
    made = list(_composed(overrides, multirun, folder or RUNS))
    places = [entry.out for entry in made if not entry.refused]
    for entry in made:
        if entry.asked["out"] is not None and not entry.refused and places.count(entry.out) > 1:
            raise InputError("out", entry.out, "null in a sweep, or different for each run")
    kept = [str(override) for override in overrides if override.key not in FOLDERS.values()]
    return Requests(made, kept, folder)


def _composed(overrides: Sequence[ui.Override], sweep: bool, folder: Path) -> Iterator[Request]:
    unique = list({override.key: override for override in overrides}.values())
    read = partial(OmegaConf.to_container, resolve=True, throw_on_missing=True)
    for values in itertools.product(*(override.values for override in unique)):
        chosen = [*zip(unique, values, strict=True)]
        choice = [f"{o.sign}{o.key}={value}" if o.sweep else str(o) for o, value in chosen]
        counts = {text: value for _, text in chosen if type(value := ui.parse_value(text)) is int}  # no decimal point
        swept = {o.key.split(".")[-1]: str(counts.get(text, text)) for o, text in chosen if o.sweep}
        try:
            with hydra.initialize_config_dir(str(conf_dir()), version_base="1.3"):
                config = read(hydra.compose("run", choice))
        except (HydraException, OmegaConfBaseException, ValueError, TypeError, AssertionError) as error:
            reason = " ".join(str(error).split("\n\n")[0].split())
            extra = "; it comes with the extra cluster (in a checkout: make cluster)"
            hint = extra * any(f"hydra/launcher/{name}'" in reason for name in LAUNCHERS)
            raise DpscoError(f"configuration {' '.join(choice)}: {reason}{hint}") from None
        yield _request(config, swept, sweep, folder)


def _request(config: Any, swept: Mapping[str, str], sweep: bool, folder: Path) -> Request:
    """Check a resolved configuration, whose rows go to ``out`` or into a folder; a sweep may have refused pairs."""
    asked = read_config(config)
    cell, out = config_cell(asked), asked["out"]
    if out is not None:
        if not isinstance(out, str) or not out or Path(out).is_dir():
            raise InputError("out", out, "null or the path of a file")
        results.check_replaceable("out", Path(out))
    try:
        job = config_job(asked, cell)
    except DpscoError as refused:
        if not sweep or isinstance(refused, ImpurePlan):
            raise
        return Request(None, asked, Path(out or ""), swept, str(refused))
    return Request(job, asked, Path(out) if out else folder / f"{job.key}.parquet", swept)


def run_request(entry: Request, quiet: bool, label: str = "", alone: bool = True) -> None:
    """Calibrate, run, write the rows and print one line; a run that is ``alone`` tells how far it is."""
    assert entry.job is not None  # a refused pair is not run
    results.check_writable("out", entry.out)
    cell, rows = entry.job.cells[0], _rows(entry.job, alone)
    summary = summarise(entry.job, rows)
    results.write_table(_with_config(rows, entry.asked, summary.risk_kind), entry.out)
    if not quiet:
        asked = bool(summary.sampler_status) or summary.privacy_status == "unproven"
        nominal = asked and located(cell, entry.job.data_root).constants(entry.job.seed).status == "nominal"
        print(line(summary, label or cell.method, nominal), flush=True)
        ui.say(f"rows: {entry.out}")


def _rows(job: Job, alone: bool) -> pa.Table:
    """Read a job from the store, or calibrate and run it; finished work stays there for the next call."""
    keyed, measured = finished(job), Layout("").measured
    pace = Pace([_seconds(job) / TICKS] * TICKS, unit="%")
    with shown(pace, ui.say) if alone else nullcontext():
        make("calibrate", keyed, measured)
        make("run", keyed, measured, lambda done, every: pace.reach(TICKS * done // every))
        rows, calibrations = measured.load(keyed)
    assert rows is not None
    return results.join_blocks([rows.cast(results.RESULT_SCHEMA)], job_metadata(job, calibrations))


def _seconds(job: Job) -> float:
    cell = located(job.cells[0], job.data_root)
    _, plan = cell.plan(job.calibration, job.seed, twice=False)
    return OVERHEAD + expected_seconds(cell, plan, job.replicates * job.data_sets, job.fused)


def _with_config(rows: pa.Table, asked: Plain, kind: str) -> pa.Table:
    name, options = asked["problem"]["name"], asked["problem"]["options"]
    kept = {key: value for key, value in asked.items() if key not in PLACES}
    kept["problem"] = {"name": name, "options": placeless(name, options)}
    said = {b"dpsco.config": dumps_canonical(kept).encode(), b"dpsco.risk_kind": dumps_canonical(kind).encode()}
    return rows.replace_schema_metadata({**rows.schema.metadata, **said})


def line(summary: Summary, label: str, nominal: bool = False) -> str:
    """One line per run: risk, privacy claimed and real, cost; nominal: whether the constants are only declared."""
    real = f"{ui.bounded(summary.epsilon_real, summary.epsilon_real_kind)} {OF[summary.epsilon_of]}"
    kind = summary.risk_kind + " risk" * summary.risk_kind.startswith("excess")
    half = "" if math.isnan(summary.half_interval) else f" +- {ui.number(summary.half_interval, 2)} (95 %)"
    told = [
        f"{label}: {kind} {ui.number(summary.risk)}{half}, "
        f"epsilon {ui.number(summary.epsilon_claimed)} (real {real.strip()}, {STATUS_WORDS[summary.privacy_status]}), "
        f"delta {summary.delta:g}, {ui.number(summary.gradient_evaluations)} gradients"
    ]
    if summary.sampler_status:
        known = (summary.epsilon_real, summary.epsilon_law, summary.tau, summary.delta)
        told.append(draw_statement(summary.sampler_status, *known, nominal, summary.epsilon_real_kind))
    elif nominal and not summary.warnings:
        told.append(NOMINAL)
    if held := summary.held_out:
        told.append(f"held out: {ui.held_text(held.own)} ({ui.beside_text(held)})")
    return "; ".join([*told, summary.warnings] if summary.warnings else told)


def run_sweep(asked: Requests, as_json: bool) -> None:
    """Hand a checked sweep over to Hydra, whose launcher may run it elsewhere, and end it."""
    labels = {entry.job.key: entry.label for entry in asked.runs if entry.job}
    place = asked.folder or RUNS / "sweeps" / hashlib.sha256("\n".join(asked.overrides).encode()).hexdigest()[:16]
    end = place / "sweep" if asked.folder else place
    files = {"sweep": end.with_suffix(".parquet"), "figure": end.with_suffix(".svg")}
    if asked.folder:
        results.check_replaceable("hydra.sweep.dir", files["sweep"])
        check_figure("hydra.sweep.dir", files["figure"])
    notes = place / NOTES
    shutil.rmtree(notes, ignore_errors=True)

    def task(config: Any) -> None:
        load_plugins(config.plugins)
        entry = _request(OmegaConf.to_container(config, resolve=True), {}, sweep=True, folder=asked.folder or RUNS)
        if entry.job is None:
            return
        try:
            run_request(entry, as_json, labels.get(entry.job.key, ""), alone=False)
        except (DpscoError, MemoryError) as error:  # Hydra would print a page about it
            write_atomic(notes / entry.job.key, dumps_canonical([str(error), isinstance(error, Refusal)]))

    if labels:
        jobs = [(entry.job, entry.out) for entry in asked.runs if entry.job]
        look = partial(_ended, jobs, notes, time.time() - 2.0)  # clocks of other machines may be behind
        with shown(Pace([_seconds(job) for job, _ in jobs], unit="runs"), ui.say, look=look):
            launch([*asked.overrides, f"hydra.sweep.dir={ui.quoted(place)}", "--multirun"], task)
    failures = _noted(notes)
    shutil.rmtree(notes, ignore_errors=True)
    failed = next((DpscoError(reason) for reason, refused in failures.values() if not refused), None)
    _end_sweep([entry.ended(failures) for entry in asked.runs], failed, files, as_json)


def _noted(notes: Path) -> dict[str, Failure]:
    """Read what ended runs of a sweep: files, since a launcher may use other processes."""
    noted = notes.glob("[!.]*")  # none that is half written
    return {path.name: tuple(loads(path.read_text(encoding="utf-8"))) for path in noted}


def _ended(jobs: Sequence[tuple[Job, Path]], notes: Path, begun: float) -> list[int]:
    """Find the jobs that have ended since, by the files that they leave, wherever they run."""
    lost = _noted(notes)
    new = (job.key in lost or (out.is_file() and out.stat().st_mtime >= begun) for job, out in jobs)
    return [number for number, ended in enumerate(new) if ended]


def launch(arguments: list[str], task: Callable[[Any], None]) -> None:
    """Hand arguments over to Hydra. Raises DpscoError where the launcher cannot take them."""
    saved, sys.argv = sys.argv, ["dpsco run", *arguments]
    os.environ["HYDRA_FULL_ERROR"] = "1"  # else Hydra prints a page of its own and leaves
    try:
        hydra.main(config_path=str(conf_dir()), config_name="run", version_base="1.3")(task)()
    except Exception as error:  # of a launcher that cannot launch: no SLURM here, no such number of jobs
        named = [text.partition("=")[2] for text in arguments if text.startswith("hydra/launcher=")]
        if isinstance(error, DpscoError) or not named:
            raise
        raise DpscoError(f"hydra/launcher = {named[-1]!r}: {type(error).__name__}: {error}") from error
    finally:
        sys.argv = saved


def _end_sweep(rows: Sequence[Request], failed: DpscoError | None, files: Mapping[str, Path], as_json: bool) -> None:
    """Print and write what a sweep left; nothing where no run has a result since one failed.

    Raises ``failed``, the first failure that was no refusal, and a DpscoError where all runs are refused.
    """
    some = not all(row.refused for row in rows)
    if failed and not some:
        raise failed
    _write(rows, files)
    if as_json:
        ui.print_json(rows)
    else:
        print("\n".join(["", *_printed(rows)]))
    for name, path in files.items():
        if some or name == "sweep":
            ui.say(f"{name}: {path}")
    if failed:
        raise failed
    if not some:
        raise DpscoError(f"none of the {len(rows)} runs of the sweep has a result: all are refused")


def _write(rows: Sequence[Request], files: Mapping[str, Path]) -> None:
    from dpsco_bench.report.choice import sweep_figure
    from dpsco_bench.report.drawing import write_svg

    flat = [row.columns() for row in rows]
    names = dict.fromkeys(key for row in flat for key in row)
    whole = pa.table({name: [row.get(name) for row in flat] for name in names})
    results.write_table(results.join_blocks([whole], {"job": {"claim": "sweep"}}), files["sweep"])
    if runs := [SweptRun(row.swept, row.summary) for row in rows if row.summary]:
        write_svg(lambda: sweep_figure(runs), files["figure"])


def _printed(rows: Sequence[Request]) -> Iterator[str]:
    """Print the table; below it what held-out numbers are compared with, and each reason for a refusal, once."""
    swept = {key: Column(f"swept.{key}") for key in rows[0].swept} or {"algorithm": Column("asked.algorithm.id")}
    yield ui.table({**swept, **COLUMNS}, rows)
    told: dict[str, list[str]] = {}
    reasons: dict[str, list[str]] = {}
    for row in rows:
        found = row.summary
        if not found:
            reasons.setdefault(row.refused, []).append(row.label)
        elif found.held_out:
            told.setdefault(ui.beside_text(found.held_out), []).append(f"n = {found.n}, d = {found.d}")
    for text, places in told.items():
        where = f" (at {'; '.join(dict.fromkeys(places))})" if len(told) > 1 else ""
        yield ui.labelled("held out:", text + where, 10)
    for reason, names in reasons.items():
        more = f" and {len(names) - 1} more" * (len(names) > 1)
        yield ui.labelled("refused:", f"{names[0]}{more}: {reason}", 9)
