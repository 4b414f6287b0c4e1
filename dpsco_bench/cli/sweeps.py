"""The end of a sweep: one table, one Parquet file and one plot of all its runs, refused ones among them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from dpsco_bench.claims.costs import expected_seconds
from dpsco_bench.claims.jobs import finished
from dpsco_bench.cli.claiming import say
from dpsco_bench.cli.composing import Request
from dpsco_bench.cli.output import HELD_OUT, Heading, Row, beside_text, bounded, labelled, number, print_json, table
from dpsco_bench.errors import DpscoError, Refusal
from dpsco_bench.execution.cell import located
from dpsco_bench.execution.job import job_metadata
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.progress import Pace, shown
from dpsco_bench.execution.results import RESULT_SCHEMA, check_replaceable, join_blocks, write_table
from dpsco_bench.execution.store import Store
from dpsco_bench.execution.summary import HeldOutBeside, SweptRun
from dpsco_bench.execution.worker import make, sharing
from dpsco_bench.jsonio import is_draft, write_atomic
from dpsco_bench.leaderboard.choose import OVERHEAD
from dpsco_bench.plain import Plain
from dpsco_bench.report.marks import check_figure

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
        """What is known of a run, whatever has ended it."""
        error = request.refused or (failures.get(request.job.key) if request.job else None)
        if error is None and request.job and request.out.is_file():
            return cls(request, SweptRun(request.swept, request.stored))
        return cls(request, None, " ".join(str(error or "it left no rows: its launcher says why").split()))

    def to_json(self) -> Plain:
        """The run's summary and file, or what was asked for and why there is none."""
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
    """What the store has of a job, or else calibrate and run it; what is finished stays there for the next call.

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
    """The store of all verbs; where none can be written, one that goes when the run is done."""
    here = Layout("").measured
    with suppress(OSError):
        here.store.root.mkdir(parents=True, exist_ok=True)
    if os.access(here.store.root, os.W_OK):
        yield here
    else:
        with TemporaryDirectory() as folder:
            yield replace(here, store=Store(Path(folder)))


def _seconds(job: Job) -> float:
    """What a single run is predicted to take on one core."""
    cell = located(job.cells[0], job.data_root)
    _, plan = cell.plan(job.calibration, job.seed, twice=False)
    return OVERHEAD + expected_seconds(cell, plan, job.replicates * job.data_sets, job.fused)


def sweep_files(folder: Path) -> dict[str, Path]:
    """The files at the end of a sweep, by what they are."""
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
    """The table, and below it each reason of what was refused, once."""
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
    """What held-out numbers are to be held against, once for all runs on the same records."""
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
    """The files that were written: no plot where nothing ran."""
    from dpsco_bench.report.sweep import write_figure

    flat = [row.columns() for row in rows]
    names = dict.fromkeys(key for row in flat for key in row)
    table = pa.table({name: [row.get(name) for row in flat] for name in names})
    write_table(join_blocks([table], {"job": {"claim": "sweep"}}), files["sweep"])
    if runs := [row.run for row in rows if row.run]:
        write_figure(runs, files["figure"])
        return dict(files)
    return {"sweep": files["sweep"]}
