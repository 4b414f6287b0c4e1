"""What a job of the workflow does. Needs neither Hydra nor Snakemake; only `calibrate` needs an accountant."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.calibrated import Calibrated, CalibratedCell, Calibrations, RefusedCell
from dpsco_bench.execution.compiling import compiled_seconds, listen
from dpsco_bench.execution.evaluations import executed, is_whole
from dpsco_bench.execution.job import Shard, least_units
from dpsco_bench.execution.jobs import Block, Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.measured import Measured, items, piece_key
from dpsco_bench.execution.packs import Piece
from dpsco_bench.execution.planning import NOT_PURE
from dpsco_bench.execution.plugins import check_given
from dpsco_bench.execution.progress import JobLog, Pace, Ticker, duration
from dpsco_bench.execution.results import join_blocks, table_bytes, without_names
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


def make(step: str, job: Job, measured: Measured, progress: Progress = lambda done, all: None) -> bool:
    """Make what a step gives of a job as far as the store lacks it; one process makes each item.

    Parameters
    ----------
    step : str
        ``calibrate``, ``run`` or ``time``.
    job : Job
        With its plugins loaded, not skipped.
    measured : Measured
        Where calibrations are found and items go.
    progress : callable
        Called with units of work done and units in all.

    Returns
    -------
    bool
        Whether something was made.

    Raises
    ------
    InputError
        If the calibrations of a run are missing.
    DpscoError
        As the job raises it.
    """
    store = measured.store
    if step == "run":
        return _make_blocks(job, measured, progress)
    [address] = items(step, job)
    with store.lock(*address):
        if store.has(*address):
            return False
        meter = Meter()
        if step == "calibrate":
            content = dumps_canonical(calibrate(job, progress, meter))
        else:
            from dpsco_bench.execution.timing import time_cells

            with meter.measure(range(len(job.cells))):
                content = dumps_canonical(time_cells(job, _calibrations(job, measured), progress))
        store.write(*address, content, meter.costs)
    return True


def _calibrations(job: Job, measured: Measured) -> Calibrations:
    found = measured.calibrations(job)
    if found is None:
        raise InputError("calibrations", job.title, "in the store: calibrate it first")
    return found


def _make_blocks(job: Job, measured: Measured, progress: Progress) -> bool:
    """Run the blocks of a job that the store lacks."""
    store, made, every = measured.store, False, len(job.cells) * job.replicates
    for block in job.blocks:
        done = len(job.cells) * block.first
        with store.lock("runs", block.key):
            if not store.has("runs", block.key):
                _make_block(job, block, measured, lambda cells, _: progress(done + cells * block.count, every))  # noqa: B023
                made = True
        progress(done + len(job.cells) * block.count, every)
    return made


def _make_block(job: Job, block: Block, measured: Measured, progress: Progress) -> None:
    """Run a block; a long one in shares that are stored by themselves, so that an interrupt loses little."""
    of = shares(job, sum(job.seconds) * block.count / job.replicates)
    calibrations = _calibrations(job, measured)
    listen()
    for number in range(of):
        address = ("runs", block.key) if of == 1 else ("pieces", piece_key(job, block, Shard(number, of)))
        if of > 1 and measured.store.has(*address):
            continue
        meter = Meter()
        table = executed(job, calibrations, progress, block=block, shard=Shard(number, of), meter=meter.measure)
        stored = join_blocks([table], {"block": block})
        measured.store.write(*address, table_bytes(without_names(stored)), meter.costs)
    if of > 1:
        measured.join(job, block, of)


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
        made = make(step, job, measured, log.progress)
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
    pace = Pace(
        [seconds for _, _, own in todo for seconds in own],
        unit="cells",
        apart=compiled_seconds,
        kinds=[step for step, _, own in todo for _ in own],
        worked=time.process_time,
    )
    pace.reach(0)
    failed: set[str] = set()
    with Ticker(pace, say, todo[0][1].claim if todo else ""), sharing():
        first = 0
        for step, job, own in todo:
            begun, made = time.monotonic(), False
            tell = partial(_tell, pace, first, len(own))
            try:
                made = job.key not in failed and make(step, job, measured, tell)
            except DpscoError as error:
                if lost is None:
                    error.args = (f"{job.title}: {error}",)
                    raise
                failed.add(job.key)
                lost(job, error)
            first += len(own)
            pace.reach(first)
            if made and step == "run":
                say(f"{job.claim} {job.name}: {duration(time.monotonic() - begun)}")


def _tell(pace: Pace, first: int, pieces: int, done: int, every: int) -> None:
    """Tell how many pieces of a job, from the ``first`` on, its share of done work stands for."""
    pace.reach(first + pieces * done // every)


def _lacking(jobs: Iterable[Job], measured: Measured, say: Callable[[str], object]) -> Iterator[tuple[str, Job]]:
    """Steps that are to be made, in their order; jobs that share a key are made once."""
    seen: set[tuple[str, str]] = set()
    for job in jobs:
        if job.skipped:
            say(f"{job.claim} {job.name}: {job.skipped}")
            continue
        for step in ("calibrate", "run") if job.has_run else ("calibrate",):
            key = job.calibration_key if step == "calibrate" else job.key
            if not (job.present or (step, key) in seen or measured.has(step, job)):
                seen.add((step, key))
                yield step, job


def shares(job: Job, seconds: float) -> int:
    """In how many shares a block is run that is predicted to take so long."""
    most = len(job.cells) if is_whole(job) else least_units(job)
    return max(1, min(int(seconds / SHARE_SECONDS), most))
