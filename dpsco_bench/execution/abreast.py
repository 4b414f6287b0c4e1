"""Jobs in processes of their own, some at a time, with an end to how long they may work."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import RawArray
from typing import cast

import numpy as np

from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.compiling import COMPILING, Stopwatch, compiled_seconds, own_seconds, worked_seconds
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.measured import Measured
from dpsco_bench.execution.progress import Pace
from dpsco_bench.execution.worker import make
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream

TICK = 1.0
"""Seconds between two looks at the clock."""
LEAST_TICK = 0.02
FORKS = sys.platform == "linux"
"""Whether a process that has loaded numerical libraries may be forked; else jobs run here, one after the other."""
Tell = Callable[[Pace], object]


@dataclass
class Outcome:
    """What became of some jobs.

    Attributes
    ----------
    failed : dict of str to str, part of a job -> why it has no result, in a line
    stopped : dict of str to float, part of a job -> seconds of work after which it was ended, 0 where it never began
    """

    failed: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, float] = field(default_factory=dict)


@dataclass
class _Running:
    job: Job
    process: BaseProcess
    said: Connection
    begun: float
    noted: MutableSequence[float]
    worked: float = 0.0

    def look(self) -> float:
        """Seconds that it has worked so far, by what it said at its end; without that, by what was last seen of it."""
        if self.noted[2] > 0:
            self.worked = self.noted[2]
        elif self.process.is_alive():  # of one that is gone the system tells nothing
            self.worked = max(self.worked, worked_seconds(self.begun, self.process.pid or 0, self.noted))
        return self.worked


@dataclass
class _Budget:
    """Seconds of work that all jobs together may take."""

    seconds: float
    spent: float = 0.0

    def left(self, running: Iterable[_Running] = ()) -> float:
        return self.seconds - self.spent - sum(one.look() for one in running)


def make_abreast(
    jobs: Sequence[Job], measured: Measured, cores: int, seconds: float, tell: Tell = lambda pace: None
) -> Outcome:
    """Calibrate and run what the store lacks of some jobs; what is finished stays there, whatever becomes of the rest.

    Parameters
    ----------
    jobs : sequence of Job, of one cell each, with what they are predicted to take in `Job.seconds`
    cores : int, processes at a time, >= 1
    seconds : float
        Of work in all, after which nothing is begun, and what runs is ended; neither compiling nor waiting for a
        processor is work. Where processes cannot be forked, what runs goes on.
    tell : callable, is given the progress whenever a job is done, and every `TICK` seconds

    Raises
    ------
    KeyboardInterrupt
        When the user interrupts; all processes are ended.
    """
    lacking = [job for job in jobs if not measured.has("run", job)]
    pace = Pace([sum(job.seconds) for job in lacking], at_once=cores if FORKS else 1)
    outcome = Outcome()
    (_forked if FORKS else _here)(lacking, measured, cores, seconds, pace, outcome, tell)
    return outcome


def _here(
    jobs: Sequence[Job], measured: Measured, _: int, seconds: float, pace: Pace, outcome: Outcome, tell: Tell
) -> None:
    begun, compiled = time.process_time(), compiled_seconds()
    for number, job in enumerate(jobs):
        if time.process_time() - begun - (compiled_seconds() - compiled) > seconds:
            outcome.stopped[job.part] = 0.0
            continue
        if why := _made(job, measured):
            outcome.failed[job.part] = why
        pace.end(number)
        tell(pace)


def _forked(
    jobs: Sequence[Job], measured: Measured, cores: int, seconds: float, pace: Pace, outcome: Outcome, tell: Tell
) -> None:
    waiting, running = list(enumerate(jobs)), dict[int, _Running]()
    if jobs:
        _load()
    try:
        with _interrupts() as seen:
            _work_off(waiting, running, measured, cores, _Budget(seconds), pace, outcome, tell, seen)
    finally:
        for one in running.values():
            one.process.terminate()
        for one in running.values():
            one.process.join()


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list that is no longer empty after an interrupt, even if that came where Python drops exceptions (a fork)."""
    seen: list[int] = []

    def note(number: int, frame: object) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield seen
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Interrupts wait: a process is begun and known, or neither.

    One between the two would leave a process that nobody ends, or have a new process go on as if it were the old one.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work_off(
    waiting: list[tuple[int, Job]],
    running: dict[int, _Running],
    measured: Measured,
    cores: int,
    budget: _Budget,
    pace: Pace,
    outcome: Outcome,
    tell: Tell,
    seen: Sequence[int],
) -> None:
    """Start what waits and collect what is done, until nothing is left or the budget is spent."""
    while waiting or running:
        if seen:
            raise KeyboardInterrupt
        while waiting and len(running) < cores and budget.left(running.values()) > 0:
            number, job = waiting.pop(0)
            with _interrupts_held():
                running[number] = _started(job, measured)
            left = budget.left(running.values())
        if left <= 0:
            outcome.stopped |= {one.job.part: one.worked for one in running.values()}
            outcome.stopped |= {job.part: 0.0 for _, job in waiting}
            return
        wait([one.process.sentinel for one in running.values()], min(TICK, left / cores + LEAST_TICK))
        for number in [number for number, one in running.items() if not one.process.is_alive()]:
            one = running.pop(number)
            budget.spent += one.look()
            if why := _ended(one):
                outcome.failed[one.job.part] = why
            pace.end(number)
        pace.note = COMPILING if any(not math.isnan(one.noted[1]) for one in running.values()) else ""
        tell(pace)


def _load() -> None:
    """Load what every process needs, once: the accounting of plans, and compiled random numbers."""
    from dpsco_bench.execution import calibration  # noqa: F401

    stream = Stream(stream_key(0, "nothing", "nothing"), np)
    stream.normal(0, 1, 0, 1, 1)
    stream.uniform(0, 1, 0, 1, 1)


def _started(job: Job, measured: Measured) -> _Running:
    context = get_context("fork")
    here, there = context.Pipe(duplex=False)
    begun, noted = time.monotonic(), cast("MutableSequence[float]", RawArray("d", [0.0, math.nan, 0.0]))
    process = context.Process(target=_child, args=(job, measured, there, begun, noted), daemon=True)
    sys.stdout.flush()
    sys.stderr.flush()
    process.start()
    there.close()
    return _Running(job, process, here, begun, noted)


def _child(job: Job, measured: Measured, said: Connection, begun: float, noted: MutableSequence[float]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Stopwatch(partial(own_seconds, begun), noted).listen()
    said.send(_made(job, measured))
    said.close()
    noted[2] = worked_seconds(begun, "self", noted)
    os._exit(0)  # nothing of the parent is to be tidied up twice


def _made(job: Job, measured: Measured) -> str:
    """Make a job; why it has no result, empty where it has one."""
    try:
        make("calibrate", job, measured)
        make("run", job, measured)
    except DpscoError as error:
        return " ".join(str(error).split())
    except MemoryError:
        return "too large for the memory here"
    except Exception as error:
        return " ".join(f"{type(error).__name__}: {error}".split())
    return ""


def _ended(one: _Running) -> str:
    """What a finished process said; a process that the system ended says nothing."""
    one.process.join()
    try:
        text: str = one.said.recv() if one.said.poll() else f"its process ended with code {one.process.exitcode}"
    except EOFError:
        text = f"its process ended with code {one.process.exitcode}"
    finally:
        one.said.close()
    return text
