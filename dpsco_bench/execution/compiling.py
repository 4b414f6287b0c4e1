"""Measure for how long a process compiles, which is no cost of what it runs."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, MutableSequence
from functools import cache

COMPILING = "compiling"
COMPILES = "numba:compile"
"""Numba's name of what happens while it compiles; reading its cache on disk is none of it."""


class CompileClock:
    """Seconds in which this process compiles; what is compiled for the sake of something else is counted once.

    The first of ``noted`` gets the seconds so far, the second the clock's time since when it compiles, NaN while it
    does not; another process may read along.
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
        """End the report."""
        self._depth -= 1
        if self._depth == 0:
            since, self.noted[1] = self.noted[1], math.nan
            self.noted[0] += self._clock() - since

    def listen(self) -> CompileClock:
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
def _own() -> CompileClock:
    return CompileClock(time.process_time).listen()


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
