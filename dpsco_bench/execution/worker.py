"""Make whatever the store lacks of some jobs. Needs no Hydra and no Snakemake; only calibrating needs an accountant.

`make_all` works in this process, `Makers` in a pool of processes with a time limit.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from multiprocessing import active_children, get_context
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any, cast

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.cell import Calibrated, Calibrations
from dpsco_bench.execution.job import execute, job_units
from dpsco_bench.execution.job_results import STEPS, Measured, is_wanted
from dpsco_bench.execution.jobs import Block, Decide, Job, Progress
from dpsco_bench.execution.progress import Pace, duration, shown
from dpsco_bench.execution.results import join_blocks, join_parts, parquet_table, table_bytes, without_names
from dpsco_bench.execution.run import Reuse
from dpsco_bench.execution.store import COMPILING, CompileClock, Meter, listen
from dpsco_bench.jsonio import dumps_canonical

Say = Callable[[str], object]
SHARE_SECONDS = 30.0
"""Predicted seconds of a share of a long job."""
TICK = 1.0
"""Seconds between two looks at the clock."""
Tell = Callable[[Pace], object]
LOST = "the system ended a process of the pool, perhaps for want of memory"


def make(
    step: str, job: Job, measured: Measured, progress: Progress = lambda done, all: None, reuse: Reuse | None = None
) -> bool:
    """Make what a step (``calibrate``, ``run`` or ``time``) gives of a job as far as the store lacks it.

    One process makes each item. The job's plugins are loaded, and it is not skipped; ``progress`` is called with units
    of work done and units in all. ``reuse`` has the data of earlier jobs. Returns whether something was made.

    Raises InputError if the calibrations of a run are missing. Raises DpscoError as the job raises it.
    """
    store = measured.store
    if step == "run":
        return _make_blocks(job, job.blocks, measured, reuse or Reuse(job.seed), progress)
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


def _make_group(jobs: Sequence[Job], measured: Measured, decide: Decide, progress: Progress, reuse: Reuse) -> bool:
    """Take the jobs of a group through their stages, one process at a time; a resume follows the stored decisions."""
    key, made, end = jobs[0].decisions, False, 0
    with measured.store.lock("stages", key):
        found = measured.decided(jobs[0]) or decide(jobs, None)
        while True:
            for job in jobs:
                blocks = found.up_to(job)
                made |= _make_blocks(job, blocks, measured, reuse, lambda done, all: None)
                end = max(end, blocks[-1].end)
            progress(end, max(job.replicates for job in jobs))
            if found.done:
                return made
            found = decide(jobs, found)
            measured.store.write("stages", key, dumps_canonical(found))


def _make_blocks(job: Job, blocks: Sequence[Block], measured: Measured, reuse: Reuse, progress: Progress) -> bool:
    """Run the blocks of a job that the store lacks."""
    store, made, every = measured.store, False, len(job.cells) * job.replicates
    for block in blocks:
        done = len(job.cells) * block.first
        with store.lock("runs", block.key):
            if not store.has("runs", block.key):
                _make_block(job, block, measured, reuse, lambda cells, _: progress(done + cells * block.count, every))  # noqa: B023
                made = True
        progress(done + len(job.cells) * block.count, every)
    return made


def _make_block(job: Job, block: Block, measured: Measured, reuse: Reuse, progress: Progress) -> None:
    """Run a block; a long one in shares that are stored by themselves, so that an interrupt loses little."""
    calibrations, store = _calibrations(job, measured), measured.store
    cells = block.cells or range(len(job.cells))
    seconds = sum(job.seconds[number] for number in cells if job.seconds) * block.count / job.replicates
    of = max(1, min(int(seconds / SHARE_SECONDS), len(job_units(job, calibrations, block))))
    shares = [("pieces", f"{block.key}.{number}.{of}") for number in range(of)] if of > 1 else [("runs", block.key)]
    listen()
    for number, address in enumerate(shares):
        if not store.has(*address):
            meter = Meter()
            tell = partial(lambda first, done, every: progress((first * every + done) // of, every), number)
            table = execute(job, calibrations, tell, block=block, share=(number, of), meter=meter.measure, reuse=reuse)
            stored = join_blocks([table], {"block": block})
            store.write(*address, table_bytes(without_names(stored)), meter.costs)
    if of > 1:
        tables = [parquet_table(content) for share in shares if (content := store.read(*share)) is not None]
        store.write("runs", block.key, table_bytes(join_parts(tables)), [c for s in shares for c in store.costs(*s)])
        for share in shares:
            store.remove(*share)


def make_all(
    jobs: Iterable[Job],
    measured: Measured,
    say: Say,
    weigh: Callable[[str, Job], Sequence[float]] = lambda step, job: [1.0] * len(job.cells),
    lost: Callable[[Job, DpscoError], object] | None = None,
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
    failed, reuse, first = set[str](), cache(Reuse), 0
    with shown(pace, say, todo[0][1][0].claim):
        for step, group, own in todo:
            begun, made, job = time.monotonic(), False, group[0]

            def tell(done: int, every: int, begin: int = first, pieces: int = len(own)) -> None:
                pace.reach(begin + pieces * done // every)

            try:
                if not failed & {other.key for other in group}:
                    if decide and step == "run" and job.decisions:
                        made = _make_group(group, measured, decide, tell, reuse(job.seed))
                    else:
                        made = make(step, job, measured, tell, reuse(job.seed))
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


@dataclass
class Unfinished:
    """The jobs without a result, by their parts: why, and after how many seconds they were ended (0: never begun)."""

    failed: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, float] = field(default_factory=dict)


class Makers:
    """Makes jobs in a pool within a time limit; what is finished stays in the store, whatever becomes of the rest.

    A context manager, at whose end no process is left. Jobs are of one cell each, with what they are predicted to take.
    The limit is by the clock: after it nothing is begun, and what runs is ended. Compiling, and waiting for a processor
    that others use, do not count. ``tell`` is given the progress whenever a job is done, and every `TICK` seconds;
    ``made`` each job of which something was made, or is there.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        measured: Measured,
        cores: int,
        seconds: float,
        tell: Tell = lambda pace: None,
        made: Callable[[Job], object] = lambda job: None,
    ) -> None:
        self._jobs, self._measured, self._cores, self._tell, self._told = jobs, measured, cores, tell, made
        self._numbers = {job.part: number for number, job in enumerate(jobs)}
        self._end, self.outcome = time.monotonic() + seconds, Unfinished()
        self._others = set(active_children())
        self._fork()

    def __enter__(self) -> Makers:
        return self

    def __exit__(self, *error: object) -> None:
        for process in set(active_children()) - self._others if self.outcome.stopped or error[0] else ():
            process.terminate()
        self._pool.shutdown(cancel_futures=True)

    def _fork(self) -> None:
        """Fork processes, which have what this one has loaded; each notes its compiling."""
        context = get_context("fork")
        self._noted = [cast("MutableSequence[float]", RawArray("d", [0.0, math.nan])) for _ in range(self._cores)]
        given = context.Value("i", 0), self._noted, self._jobs, self._measured  # by the fork: jobs cannot be pickled
        self._pool = ProcessPoolExecutor(self._cores, context, _begin, given)

    def _excused(self) -> float:
        """Sum the most seconds for which a process has compiled, and for which one waited for a processor."""
        now, waited = time.monotonic(), [0.0]
        for process in set(active_children()) - self._others:
            with suppress(OSError, IndexError, ValueError):  # the system may not tell
                waited.append(int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9)
        compiled = (seconds + (0.0 if math.isnan(since) else now - since) for seconds, since in self._noted)
        return max(compiled) + max(waited)

    def make(self, jobs: Sequence[Job]) -> bool:
        """Calibrate and run the blocks of some jobs that the store lacks; tell whether the time ended before.

        Raises KeyboardInterrupt when the user interrupts.
        """
        lacking = [job for job in jobs if not self._measured.has("run", job)]
        for job in jobs:
            if job not in lacking:
                self._told(job)
        waiting, running = [*range(len(lacking))], dict[Future[str], tuple[int, float]]()
        pace = Pace([sum(job.seconds) * job.blocks[-1].count / job.replicates for job in lacking], at_once=self._cores)
        while waiting or running:
            if (now := time.monotonic()) > self._end + self._excused():
                self.outcome.stopped = {lacking[number].part: now - begun for number, begun in running.values()}
                self.outcome.stopped |= {lacking[number].part: 0.0 for number in waiting}
                return True
            while waiting and len(running) < self._cores:
                job = lacking[number := waiting.pop(0)]
                future = self._pool.submit(_made, self._numbers[job.part], job.kept)
                running[future] = number, time.monotonic()
            done = wait(running, TICK, FIRST_COMPLETED).done
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                done = wait(running).done  # what else ran there is lost too
                self._end += self._excused()
                self._fork()
            for future in done:
                number, _ = running.pop(future)
                if why := LOST if future.exception() else future.result():
                    self.outcome.failed[lacking[number].part] = why
                else:
                    self._told(lacking[number])
                pace.end(number)
            pace.note = "" if all(math.isnan(since) for _, since in self._noted) else COMPILING
            self._tell(pace)
        return False


_WORK: dict[str, Any] = {}
"""Jobs and store of a process of the pool."""


def _begin(begun: Any, noted: Sequence[MutableSequence[float]], jobs: Sequence[Job], measured: Measured) -> None:
    """Begin a process of the pool: an interrupt is the parent's to handle, and it ends when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _WORK.update(jobs=jobs, measured=measured)
    with begun.get_lock():
        mine = noted[begun.value]
        begun.value += 1
    CompileClock(time.monotonic, mine).listen()


def _end_with(parent: int) -> None:
    """End this process when its parent is another one: whoever ended that could not end this."""
    while os.getppid() == parent:
        time.sleep(TICK)
    os.kill(os.getpid(), signal.SIGKILL)


def _made(number: int, kept: tuple[tuple[int, ...], ...]) -> str:
    """Make the blocks of a job; say why it has no result, in a line, empty where it has one."""
    try:
        for step in ("calibrate", "run"):
            make(step, replace(_WORK["jobs"][number], kept=kept), _WORK["measured"])
    except DpscoError as error:
        return " ".join(str(error).split())
    except MemoryError:
        return "too large for the memory here"
    except Exception as error:
        return " ".join(f"{type(error).__name__}: {error}".split())
    return ""
