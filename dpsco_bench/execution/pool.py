"""A process pool with a time limit."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any, cast

from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.compiling import COMPILING, CompileClock
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
    """The jobs without a result, by their parts: why, and after how many seconds they were ended (0: never begun)."""

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
        self._pool = _Pool.of(cores, jobs, measured)

    def __enter__(self) -> Makers:
        return self

    def __exit__(self, *error: object) -> None:
        for process in set(active_children()) - self._others if self.outcome.stopped or error[0] else ():
            process.terminate()
        self._pool.executor.shutdown(cancel_futures=True)

    def make(self, jobs: Sequence[Job]) -> bool:
        """Calibrate and run the blocks of some jobs that the store lacks; tell whether the time ended before.

        Raises KeyboardInterrupt when the user interrupts.
        """
        lacking = []
        for job in jobs:
            if self._measured.has("run", job):
                self._told(job)
            else:
                lacking.append(job)
        waiting, running = [*range(len(lacking))], dict[Future[str], tuple[int, float]]()
        pace = Pace([sum(job.seconds) * job.blocks[-1].count / job.replicates for job in lacking], at_once=self._cores)
        while waiting or running:
            if (now := time.monotonic()) > self._end + self._pool.excused(set(active_children()) - self._others):
                self.outcome.stopped = {lacking[number].part: now - begun for number, begun in running.values()}
                self.outcome.stopped |= {lacking[number].part: 0.0 for number in waiting}
                return True
            while waiting and len(running) < self._cores:
                job = lacking[number := waiting.pop(0)]
                future = self._pool.executor.submit(_made, self._numbers[job.part], job.kept)
                running[future] = number, time.monotonic()
            done = wait(running, TICK, FIRST_COMPLETED).done
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                done = wait(running).done  # what else ran there is lost too
                self._end += self._pool.excused(())
                self._pool = _Pool.of(self._cores, self._jobs, self._measured)
            for future in done:
                number, _ = running.pop(future)
                if why := LOST if future.exception() else future.result():
                    self.outcome.failed[lacking[number].part] = why
                else:
                    self._told(lacking[number])
                pace.end(number)
            pace.note = self._pool.note
            self._tell(pace)
        return False


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
