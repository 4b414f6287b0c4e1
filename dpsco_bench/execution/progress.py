"""Progress of a long job: cells done and time left, in its log and, sparingly, on the terminal."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TextIO

from dpsco_bench.errors import DpscoError

TERMINAL_SECONDS = 15.0
"""Least time between two lines of one job on the terminal; jobs that end sooner show none."""


class JobLog:
    """A job's log file; errors end up in it too.

    Parameters
    ----------
    path : Path or None, log file, written afresh; None shows the progress of long jobs on the terminal instead
    title : str, what the job is, first line of the log and prefix of what the terminal shows
    weights : sequence of float, expected work per cell, for the time left; zeros count as equal
    clock : callable, seconds, monotonic
    """

    def __init__(
        self,
        path: Path | None,
        title: str,
        weights: Sequence[float] = (),
        unit: str = "cells",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._title, self._unit, self._clock = path, title, unit, clock
        self._weights = list(weights)
        self._file: TextIO | None = None
        self._start = self._shown = clock()

    def __enter__(self) -> JobLog:
        """Open the log."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8", buffering=1)
        self.write(self._title)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write how the job ended and close the log."""
        if isinstance(error, DpscoError):
            self.write(f"failed: {error}")
        elif error is not None:
            self.write("failed:\n" + "".join(traceback.format_exception(error)).rstrip())
        else:
            self.write(f"done in {duration(self._clock() - self._start)}")
        if self._file is not None:
            self._file.close()
            self._file = None

    def write(self, line: str) -> None:
        """Write one line to the log."""
        if self._file is not None:
            self._file.write(line + "\n")

    def begin(self, title: str, weights: Sequence[float] = ()) -> None:
        """Turn to the next of several jobs: what follows is its progress."""
        self._title, self._weights = title, list(weights)
        self._start = self._shown = self._clock()
        self.write(title)

    def progress(self, done: int, all: int) -> None:
        """Report how many are done; the time left assumes that work proceeds at the pace so far."""
        now = self._clock()
        line = f"{done} of {all} {self._unit} done, {duration(now - self._start)}"
        left = (now - self._start) * self._remaining(done, all)
        if done < all:
            line += f", about {duration(left)} left"
        self.write(line)
        if self._path is None and done < all and now - self._shown >= TERMINAL_SECONDS:
            self._shown = now
            print(f"{self._title}: {line}", file=sys.stderr, flush=True)

    def _remaining(self, done: int, all: int) -> float:
        """Work left over work done."""
        weights = self._weights if len(self._weights) == all and sum(self._weights[:done]) > 0 else [1.0] * all
        return sum(weights[done:]) / sum(weights[:done])


def duration(seconds: float) -> str:
    """A time for people: ``0.4 s``, ``12 s``, ``3 min 20 s``, ``1 h 05 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
