"""Make whatever the store lacks of some jobs. Needs no Hydra and no Snakemake; only calibrating needs an accountant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution import job as job_module
from dpsco_bench.execution.calibrated import Calibrated, Calibrations
from dpsco_bench.execution.compiling import listen
from dpsco_bench.execution.evaluations import executed, is_whole
from dpsco_bench.execution.job import Progress, Shard, least_units
from dpsco_bench.execution.job_results import STEPS, Measured, is_wanted, piece_key
from dpsco_bench.execution.jobs import Block, Job
from dpsco_bench.execution.progress import Pace, duration, shown
from dpsco_bench.execution.results import join_blocks, table_bytes, without_names
from dpsco_bench.execution.stages import Decide
from dpsco_bench.execution.store import Meter
from dpsco_bench.jsonio import dumps_canonical

Say = Callable[[str], object]
Weigh = Callable[[str, Job], Sequence[float]]
Lost = Callable[[Job, DpscoError], object]
SHARE_SECONDS = 30.0
"""Predicted seconds of a share of a long job."""


def equal_cells(_: str, job: Job) -> list[float]:
    """Count a second for each cell, where nothing is known."""
    return [1.0] * len(job.cells)


def make(step: str, job: Job, measured: Measured, progress: Progress = lambda done, all: None) -> bool:
    """Make what a step (``calibrate``, ``run`` or ``time``) gives of a job as far as the store lacks it.

    One process makes each item. The job's plugins are loaded, and it is not skipped; ``progress`` is called with units
    of work done and units in all. Returns whether something was made.

    Raises InputError if the calibrations of a run are missing. Raises DpscoError as the job raises it.
    """
    store = measured.store
    if step == "run":
        return _make_blocks(job, job.blocks, measured, progress)
    [address] = measured.items(step, job)
    with store.lock(*address):
        if store.has(*address):
            return False
        meter = Meter()
        if step == "calibrate":
            from dpsco_bench.execution.calibration import calibrate_job

            content = dumps_canonical(Calibrated(calibrate_job(job, progress, meter.measure)))
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


def make_group(jobs: Sequence[Job], measured: Measured, decide: Decide, progress: Progress) -> bool:
    """Take the jobs of a group through their stages, one process at a time; a resume follows the stored decisions.

    Returns whether something was run.
    """
    key, made, end = jobs[0].decisions, False, 0
    with measured.store.lock("stages", key):
        found = measured.decided(jobs[0]) or decide(jobs, None)
        while True:
            for job in jobs:
                blocks = found.up_to(job)
                made |= _make_blocks(job, blocks, measured)
                end = max(end, blocks[-1].end)
            progress(end, max(job.replicates for job in jobs))
            if found.done:
                return made
            found = decide(jobs, found)
            measured.store.write("stages", key, dumps_canonical(found))


def _make_blocks(
    job: Job, blocks: Sequence[Block], measured: Measured, progress: Progress = lambda done, all: None
) -> bool:
    """Run the blocks of a job that the store lacks."""
    store, made, every = measured.store, False, len(job.cells) * job.replicates
    for block in blocks:
        done = len(job.cells) * block.first
        with store.lock("runs", block.key):
            if not store.has("runs", block.key):
                _make_block(job, block, measured, lambda cells, _: progress(done + cells * block.count, every))  # noqa: B023
                made = True
        progress(done + len(job.cells) * block.count, every)
    return made


def _make_block(job: Job, block: Block, measured: Measured, progress: Progress) -> None:
    """Run a block; a long one in shares that are stored by themselves, so that an interrupt loses little."""
    cells = range(len(job.cells)) if not block.cells else block.cells
    of = shares(job, sum(job.seconds[number] for number in cells if job.seconds) * block.count / job.replicates)
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


def make_all(
    jobs: Iterable[Job],
    measured: Measured,
    say: Say,
    weigh: Weigh = equal_cells,
    lost: Lost | None = None,
    steps: Sequence[str] = ("calibrate", "run"),
    decide: Decide | None = None,
) -> None:
    """Make whatever the store lacks of some jobs, in this process; a line for each run that is made.

    ``weigh`` predicts the seconds of each cell of a step of a job. ``lost`` is told of a job that fails, and the others
    are made; without it the first such error is raised. ``decide`` decides how far the jobs of a group go.
    """
    todo = [
        (step, group, [seconds for job in group for seconds in weigh(step, job)])
        for step, group in _lacking(jobs, measured, say, steps)
    ]
    if not todo:
        return
    pace = Pace([seconds for _, _, own in todo for seconds in own], unit="cells")
    failed: set[str] = set()
    with shown(pace, say, todo[0][1][0].claim), sharing():
        first = 0
        for step, group, own in todo:
            begun, made, job = time.monotonic(), False, group[0]
            tell = partial(_tell, pace, first, len(own))
            try:
                if not failed & {other.key for other in group}:
                    staged = decide if step == "run" and job.decisions else None
                    made = make_group(group, measured, staged, tell) if staged else make(step, job, measured, tell)
            except DpscoError as error:
                if lost is None:
                    error.args = (f"{job.title}: {error}",)
                    raise
                failed.update(other.key for other in group)
                lost(job, error)
            first += len(own)
            pace.reach(first)
            if made and step != "calibrate":
                say(f"{job.claim} {', '.join(j.name for j in group)}: {duration(time.monotonic() - begun)}")


def _tell(pace: Pace, first: int, pieces: int, done: int, every: int) -> None:
    """Tell how many pieces of a job, from the ``first`` on, its share of done work stands for."""
    pace.reach(first + pieces * done // every)


def _lacking(
    jobs: Iterable[Job], measured: Measured, say: Say, steps: Sequence[str]
) -> Iterator[tuple[str, Sequence[Job]]]:
    """List the steps to be made, in their order, each with its job or group; jobs that share a key are made once."""
    seen: set[tuple[str, str]] = set()
    groups: dict[str, list[Job]] = {}
    for number, job in enumerate(jobs):
        if job.skipped:
            say(f"{job.claim} {job.name}: {job.skipped}")
        else:
            groups.setdefault(job.decisions or str(number), []).append(job)
    for group in groups.values():
        for step in steps:
            together = step == "run" and bool(group[0].decisions)
            for job in group:
                key = job.calibration_key if step == "calibrate" else job.decisions if together else job.key
                if job.present or not is_wanted(step, job) or (step, key) in seen or measured.has(step, job):
                    continue
                seen.add((step, key))
                yield step, group if together else [job]


def seconds_left(jobs: Iterable[Job], measured: Measured, predict: Callable[[str, Job], float]) -> float:
    """Predict the CPU seconds of all that the store lacks of some jobs; what they share is made once."""
    lacking = _lacking(jobs, measured, lambda line: None, STEPS)
    return sum(predict(step, job) for step, group in lacking for job in group)


def shares(job: Job, seconds: float) -> int:
    """In how many shares a block is run that is predicted to take so long."""
    most = len(job.cells) if is_whole(job) else least_units(job)
    return max(1, min(int(seconds / SHARE_SECONDS), most))


@contextmanager
def sharing() -> Iterator[None]:
    """Jobs that run inside have one `Reuse` for each seed; every other job has its own.

    A job looks its `Reuse` up when it begins. Nothing depends on whether something was kept.
    """
    own = vars(job_module)["Reuse"]
    vars(job_module)["Reuse"] = cache(own)
    try:
        yield
    finally:
        vars(job_module)["Reuse"] = own
