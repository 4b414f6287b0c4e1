"""How long a process works. Time in which it compiles, or waits for a processor, is no cost of what it runs."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, MutableSequence
from functools import cache
from pathlib import Path

COMPILING = "compiling"
PROCESSES = Path("/proc")
COMPILES = "numba:compile"
"""Numba's name of what happens while it compiles; reading its cache on disk is none of it."""


class Stopwatch:
    """Seconds in which this process compiles; what is compiled for the sake of something else is counted once.

    Parameters
    ----------
    clock : callable, seconds
    noted : mutable sequence of float
        The first gets the seconds so far, the second the clock's time since when it compiles, NaN while it does not;
        another process may read along.
    """

    def __init__(self, clock: Callable[[], float], noted: MutableSequence[float] | None = None) -> None:
        self._clock, self._depth = clock, 0
        self.noted: MutableSequence[float] = [0.0, math.nan] if noted is None else noted
        self.noted[0], self.noted[1] = 0.0, math.nan

    def begin(self) -> None:
        """Compiling begins."""
        self._depth += 1
        if self._depth == 1:
            self.noted[1] = self._clock()

    def end(self) -> None:
        """It ends."""
        self._depth -= 1
        if self._depth == 0:
            since, self.noted[1] = self.noted[1], math.nan
            self.noted[0] += self._clock() - since

    def listen(self) -> Stopwatch:
        """Begin and end with Numba's compiler from now on, its cache checked; without Numba nothing compiles."""
        try:
            from numba.core import event

            from dpsco_bench.rng.compiled_cache import guard
        except ImportError:
            return self
        guard()
        watch = self

        class Listener(event.Listener):
            def on_start(self, event: object) -> None:
                watch.begin()

            def on_end(self, event: object) -> None:
                watch.end()

        event.register(COMPILES, Listener())
        return self


@cache
def _own() -> Stopwatch:
    return Stopwatch(time.process_time).listen()


def listen() -> None:
    """Have `compiled_seconds` count in this process; Numba is loaded for it."""
    _own()


def compiled_seconds() -> float:
    """CPU seconds that this process has compiled since `listen`, or since Numba was there when this was asked."""
    if "numba" not in sys.modules:
        return 0.0
    # Two threads that import Numba at once can wait for each other for ever: only the main one may be the first.
    listening = threading.current_thread() is threading.main_thread() or _own.cache_info().currsize
    return _own().noted[0] if listening else 0.0


def own_seconds(since: float, process: int | str = "self") -> float:
    """Seconds in which a process did something of its own, be it to sleep: less those of waiting for a processor.

    Where the system does not tell how long it waited, that is all of the time.

    Parameters
    ----------
    since : float
        When it began, by `time.monotonic`.
    process : int or str, its id
    """
    try:
        waited = int((PROCESSES / str(process) / "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        waited = 0.0
    return max(time.monotonic() - since - waited, 0.0)


def worked_seconds(since: float, process: int | str, noted: MutableSequence[float]) -> float:
    """`own_seconds` of a process less those in which it compiled, by what its `Stopwatch` notes of `own_seconds`."""
    spent, compiled, compiling_since = own_seconds(since, process), noted[0], noted[1]
    return max(spent - compiled - (0.0 if math.isnan(compiling_since) else spent - compiling_since), 0.0)
