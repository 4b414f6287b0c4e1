"""A process pool with a time limit."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any, cast

from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.compiling import COMPILING, CompileClock, compiled_seconds
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.progress import Pace
from dpsco_bench.execution.worker import make

TICK = 1.0
"""Seconds between two looks at the clock."""
LOST = "the system ended a process of the pool, perhaps for want of memory"
Tell = Callable[[Pace], object]


@dataclass
class Unfinished:
    """The jobs without a result.

    Attributes
    ----------
    failed : dict of str to str, part of a job -> why it has no result, in a line
    stopped : dict of str to float, part of a job -> seconds after which it was ended, 0 where it never began
    """

    failed: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Pool:
    """Forked processes, which have what this one has loaded, and what each notes of its compiling."""

    executor: ProcessPoolExecutor
    noted: Sequence[MutableSequence[float]]

    @classmethod
    def of(cls, cores: int, jobs: Sequence[Job], measured: Measured) -> _Pool:
        context = get_context("fork")
        noted = [cast("MutableSequence[float]", RawArray("d", [0.0, math.nan])) for _ in range(cores)]
        given = context.Value("i", 0), noted, jobs, measured  # inherited by the fork: jobs cannot be pickled
        return cls(ProcessPoolExecutor(cores, context, _begin, given), noted)

    def excused(self, processes: Iterable[BaseProcess]) -> float:
        """Sum the most seconds for which a process has compiled, and for which one waited for a processor."""
        now, waited = time.monotonic(), [0.0]
        for process in processes:
            with suppress(OSError, IndexError, ValueError):  # the system may not tell
                waited.append(int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9)
        compiled = (seconds + (0.0 if math.isnan(since) else now - since) for seconds, since in self.noted)
        return max(compiled) + max(waited)

    @property
    def note(self) -> str:
        return "" if all(math.isnan(since) for _, since in self.noted) else COMPILING


def make_within(
    jobs: Sequence[Job], measured: Measured, cores: int, seconds: float, tell: Tell = lambda pace: None
) -> Unfinished:
    """Calibrate and run the jobs that the store lacks; what is finished stays there, whatever becomes of the rest.

    Parameters
    ----------
    jobs : sequence of Job, of one cell each, with what they are predicted to take in `Job.seconds`
    cores : int, processes at a time, >= 1
    seconds : float
        By the clock, after which nothing is begun, and what runs is ended. Compiling, and waiting for a processor that
        others use, do not count.
    tell : callable, is given the progress whenever a job is done, and every `TICK` seconds

    Raises
    ------
    KeyboardInterrupt
        When the user interrupts; all processes are ended.
    """
    lacking = [job for job in jobs if not measured.has("run", job)]
    waiting, outcome = [*range(len(lacking))], Unfinished()
    running: dict[Future[tuple[str, float]], tuple[int, float]] = {}
    pace = Pace([sum(job.seconds) for job in lacking], at_once=cores)
    others, pool, end = set(active_children()), _Pool.of(cores, lacking, measured), time.monotonic() + seconds
    try:
        while waiting or running:
            if (now := time.monotonic()) > end + pool.excused(set(active_children()) - others):
                outcome.stopped = {lacking[number].part: now - begun for number, begun in running.values()}
                outcome.stopped |= {lacking[number].part: 0.0 for number in waiting}
                break
            while waiting and len(running) < cores:
                number = waiting.pop(0)
                running[pool.executor.submit(_made, number)] = number, time.monotonic()
            done = wait(running, TICK, FIRST_COMPLETED).done
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                done = wait(running).done  # what else ran there is lost too
                end, pool = end + pool.excused(()), _Pool.of(cores, lacking, measured)
            for future in done:
                number, _ = running.pop(future)
                why, compiled = (LOST, 0.0) if future.exception() else future.result()
                outcome.failed |= {lacking[number].part: why} if why else {}
                pace.end(number)
            pace.note = pool.note
            tell(pace)
    finally:
        for process in set(active_children()) - others if running or waiting else ():
            process.terminate()
        pool.executor.shutdown(cancel_futures=True)
    return outcome


_WORK: dict[str, Any] = {}
"""Jobs and store of a process of the pool."""


def _begin(begun: Any, noted: Sequence[MutableSequence[float]], jobs: Sequence[Job], measured: Measured) -> None:
    """Begin a process of the pool: an interrupt is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _WORK.update(jobs=jobs, measured=measured)
    with begun.get_lock():
        mine = noted[begun.value]
        begun.value += 1
    CompileClock(time.monotonic, mine).listen()


def _made(number: int) -> tuple[str, float]:
    """Make a job; give why it has no result (empty where it has one), and for how long it compiled."""
    before, why = compiled_seconds(), ""
    try:
        for step in ("calibrate", "run"):
            make(step, _WORK["jobs"][number], _WORK["measured"])
    except DpscoError as error:
        why = " ".join(str(error).split())
    except MemoryError:
        why = "too large for the memory here"
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
    return why, compiled_seconds() - before
