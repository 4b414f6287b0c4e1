"""What a job of the workflow does. Needs neither Hydra nor Snakemake; only `calibrate` needs an accountant."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.calibrated import Calibrated, CalibratedCell, RefusedCell
from dpsco_bench.execution.compiling import compiled_seconds, listen
from dpsco_bench.execution.evaluations import executed
from dpsco_bench.execution.job import Shard, least_units
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.measured import Measured, item
from dpsco_bench.execution.packs import Piece
from dpsco_bench.execution.planning import NOT_PURE
from dpsco_bench.execution.plugins import check_given
from dpsco_bench.execution.progress import JobLog, Pace, Ticker, duration
from dpsco_bench.execution.results import table_bytes, without_names
from dpsco_bench.execution.sharing import sharing
from dpsco_bench.execution.store import Meter
from dpsco_bench.jsonio import NO_PLACE, dumps_canonical

Progress = Callable[[int, int], None]
Find = Callable[[str, str], Job]
Weigh = Callable[[str, Job], Sequence[float]]
SHARE_SECONDS = 30.0
"""Predicted seconds of a share of a long job."""


def equal_cells(_: str, job: Job) -> list[float]:
    """A second for each cell, where nothing is known."""
    return [1.0] * len(job.cells)


@dataclass(frozen=True)
class Failure:
    """A job that could not be done.

    Attributes
    ----------
    job : Job
    step : str
    reason : str
        One line.
    trace : str
        Traceback, empty for an error that explains itself.
    """

    job: Job
    step: str
    reason: str
    trace: str = ""

    def __str__(self) -> str:
        """One line for the terminal."""
        return f"{self.step} {self.job.title}: {self.reason}"


def reason_of(failure: str) -> str:
    """The reason in the text of a `Failure`; of an impure plan, which never says the same twice, its algorithm."""
    reason = failure.partition(": ")[2]
    return reason.partition(": ")[0] if reason.endswith(NOT_PURE) else reason


def told(failures: Iterable[str]) -> list[str]:
    """Texts of failures, a line for each reason: the first job that has it, and how many more."""
    found: dict[str, list[str]] = {}
    for failure in failures:
        found.setdefault(reason_of(failure), []).append(failure)
    lines = []
    for same in found.values():
        job, _, reason = same[0].partition(": ")
        lines.append(f"{job}{f' and {len(same) - 1} more' if len(same) > 1 else ''}: {reason}")
    return lines


def read_failures(files: Layout, jobs: Iterable[Job] | None = None) -> list[str]:
    """Texts of what failed in the last run, by default of all of it."""
    paths = sorted(files.failures.glob("*")) if jobs is None else map(files.failure, jobs)
    return [path.read_text(encoding="utf-8").strip() for path in paths if path.is_file()]


def make(step: str, job: Job, measured: Measured, progress: Progress = lambda done, all: None, **share: int) -> bool:
    """Make what a step gives of a job, unless the store has it; one process makes each item.

    Parameters
    ----------
    step : str
        ``calibrate``, ``run`` or ``time``.
    job : Job
        With its plugins loaded, not skipped.
    measured : Measured
        Where calibrations are found and items go.
    progress : callable
        Called with cells done and cells in all.
    **share
        ``number`` and ``of`` of a `Shard` of a run.

    Returns
    -------
    bool
        Whether something was made.

    Raises
    ------
    InputError
        If the calibrations of a run are missing.
    CodeChanged
        If its code is not that of its key any more: nothing is written.
    DpscoError
        As the job raises it.
    """
    shard, store = Shard(**share), measured.store
    address = item(step, job, shard)
    with store.lock(*address):
        if store.has(*item(step, job)) or store.has(*address):
            return False
        meter = Meter()
        content = _content(step, job, measured, progress, shard, meter)
        store.write(*address, content, meter.costs)
    if shard.of > 1:
        measured.join(job, shard.of)
    return True


def _content(step: str, job: Job, measured: Measured, progress: Progress, shard: Shard, meter: Meter) -> str | bytes:
    if step == "calibrate":
        return dumps_canonical(calibrate(job, progress, meter))
    calibrations = measured.calibrations(job)
    if calibrations is None:
        raise InputError("calibrations", job.title, "in the store: calibrate it first")
    if step == "run":
        listen()
        return table_bytes(without_names(executed(job, calibrations, progress, shard=shard, meter=meter.measure)))
    from dpsco_bench.execution.timing import time_cells

    with meter.measure(range(len(job.cells))):
        return dumps_canonical(time_cells(job, calibrations, progress))


def calibrate(job: Job, progress: Progress = lambda done, all: None, meter: Meter | None = None) -> Calibrated:
    """Calibrations of a job as they are stored, made cell by cell."""
    from dpsco_bench.execution.calibration import calibrate_job

    meter, found = meter or Meter(), list[CalibratedCell | RefusedCell]()
    for number, cell in enumerate(job.cells):
        with meter.measure([number]):
            found += calibrate_job(replace(job, cells=(cell,)))
        progress(number + 1, len(job.cells))
    return Calibrated(tuple(found))


def work(step: str, find: Find, pieces: Sequence[Piece], measured: Measured, log: JobLog) -> list[Failure]:
    """Do a step of several jobs one after the other.

    Parameters
    ----------
    step : str
        ``calibrate``, ``run`` or ``time``.
    find : callable, (claim, name) -> job
    pieces : sequence of Piece
    measured : Measured
    log : JobLog
        Gets a line for each.

    Returns
    -------
    list of Failure
        Jobs that failed; the others are done. A run whose calibration is missing is no failure of its own.

    Raises
    ------
    OSError
        If the file system takes no more files.
    CodeChanged
        If code that is loaded here is not that of the plan; what was done before stays.
    """
    with sharing():
        found = [_work(step, find(piece.claim, piece.job), piece, measured, log) for piece in pieces]
    return [failure for failure in found if failure is not None]


def _work(step: str, job: Job, piece: Piece, measured: Measured, log: JobLog) -> Failure | None:
    """Do a step of one job."""
    begun = time.monotonic()
    if step != "calibrate" and measured.calibrations(job) is None:
        log.write(f"{job.title}: not calibrated")
        return None
    log.begin(f"{step} {job.title}", job.seconds)
    try:
        check_given(job.plugins)
        made = make(step, job, measured, log.progress, number=piece.number, of=piece.of)
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.errno in NO_PLACE:  # the other jobs would meet it too
            raise
        failure = _failure(step, job, error)
        log.write(f"failed: {failure.trace or failure.reason}")
        return failure
    log.write(f"made in {duration(time.monotonic() - begun)}" if made else "is there")
    return None


def _failure(step: str, job: Job, error: BaseException) -> Failure:
    if isinstance(error, DpscoError):
        return Failure(job, step, " ".join(str(error).split()))
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return Failure(job, step, line, "".join(traceback.format_exception(error)).rstrip())


def make_all(
    jobs: Iterable[Job],
    measured: Measured,
    say: Callable[[str], object],
    weigh: Weigh = equal_cells,
    lost: Callable[[Job, DpscoError], object] | None = None,
) -> None:
    """Calibrate and run whatever the store lacks of some jobs, in this process; a line for each run that is made.

    A job that is predicted to take long is run in shares, so that an interrupt loses one of them and no more.

    Parameters
    ----------
    weigh : callable, (step, job) -> predicted seconds of each cell
    lost : callable, optional
        What is told of a job that fails; the others are made then.

    Raises
    ------
    DpscoError
        As the first job that fails raises it, without ``lost``.
    """
    todo = [(step, job, weigh(step, job)) for step, job in _lacking(jobs, measured, say)]
    of = [shares(job, sum(own)) if step == "run" else 1 for step, job, own in todo]
    pieces = [piece for (_, _, own), count in zip(todo, of, strict=True) for piece in _pieces(own, count)]
    pace = Pace(
        [seconds for seconds, _ in pieces],
        unit="cells",
        sizes=[size for _, size in pieces],
        apart=compiled_seconds,
        kinds=[step for (step, _, own), count in zip(todo, of, strict=True) for _ in _pieces(own, count)],
        worked=time.process_time,
    )
    pace.reach(0)
    failed: set[str] = set()
    with Ticker(pace, say, todo[0][1].claim if todo else ""), sharing():
        first = 0
        for (step, job, own), count in zip(todo, of, strict=True):
            begun, made = time.monotonic(), False
            try:
                made = job.key not in failed and _make_shares(step, job, measured, count, pace, first)
            except DpscoError as error:
                if lost is None:
                    error.args = (f"{job.title}: {error}",)
                    raise
                failed.add(job.key)
                lost(job, error)
            first += len(_pieces(own, count))
            pace.reach(first)
            if made and step == "run":
                say(f"{job.claim} {job.name}: {duration(time.monotonic() - begun)}")


def _pieces(cells: Sequence[float], shares: int) -> list[tuple[float, float]]:
    """What a job is told to consist of: predicted seconds of each piece, and how many cells it is.

    A share may be of one cell or of many, so that a job in shares has no other pieces.
    """
    if shares == 1:
        return [(seconds, 1.0) for seconds in cells]
    return [(sum(cells) / shares, len(cells) / shares)] * shares


def _make_shares(step: str, job: Job, measured: Measured, of: int, pace: Pace, first: int) -> bool:
    """Make a job in so many shares, its pieces from the ``first`` on; whether anything was made."""
    if of == 1:
        return make(step, job, measured, lambda done, _: pace.reach(first + done))
    made = False
    for number in range(of):
        made = make(step, job, measured, number=number, of=of) or made
        pace.reach(first + number + 1)
    return made


def _lacking(jobs: Iterable[Job], measured: Measured, say: Callable[[str], object]) -> Iterator[tuple[str, Job]]:
    """Steps that are to be made, in their order; jobs that share a key are made once."""
    seen: set[tuple[str, str]] = set()
    for job in jobs:
        if job.skipped:
            say(f"{job.claim} {job.name}: {job.skipped}")
            continue
        for step in ("calibrate", "run") if job.has_run else ("calibrate",):
            address = item(step, job)
            if not (job.present or address in seen or measured.store.has(*address)):
                seen.add(address)
                yield step, job


def shares(job: Job, seconds: float) -> int:
    """In how many shares a job is run that is predicted to take so long."""
    return max(1, min(int(seconds / SHARE_SECONDS), least_units(job)))
