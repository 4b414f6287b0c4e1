"""Progress of a long job: cells done and time left, in its log and, sparingly, on the terminal."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import TextIO

from dpsco_bench.errors import DpscoError
from dpsco_bench.jsonio import naming

TERMINAL_SECONDS = 15.0
"""Least time between two lines of one job on the terminal; jobs that end sooner show none."""
TERMINATED = "terminated"
"""Last line of the log of a process that SIGTERM ended."""


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
        self._process = 0

    def __enter__(self) -> JobLog:
        """Open the log."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8", buffering=1)
            self._note_termination()
        self.write(self._title)
        return self

    def _note_termination(self) -> None:
        """Let SIGTERM leave a last line, and then end the process as it would have."""
        main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        if main and (before is signal.SIG_DFL or isinstance(getattr(before, "__self__", None), JobLog)):
            self._process = os.getpid()
            signal.signal(signal.SIGTERM, self._terminated)

    def _terminated(self, number: int, _: FrameType | None) -> None:
        if self._file is not None and os.getpid() == self._process:  # a child's end is not that of the job
            with suppress(OSError, RuntimeError):
                self._file.write(f"{TERMINATED}\n")
                self._file.flush()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write how the job ended and close the log; where it cannot be written, what ended the job is raised."""
        with suppress(OSError) if error else nullcontext():
            if isinstance(error, DpscoError):
                self.write(f"failed: {error}")
            elif error is not None:
                self.write("failed:\n" + "".join(traceback.format_exception(error)).rstrip())
            else:
                self.write(f"done in {duration(self._clock() - self._start)}")
        if self._file is not None:
            with suppress(OSError):  # what is left in its buffer has failed before
                self._file.close()
            self._file = None
        if self._process == os.getpid():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._process = 0

    def write(self, line: str) -> None:
        """Write one line to the log."""
        if self._file is not None:
            with naming(self._path):
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


def cut_short(path: Path) -> tuple[str, bool]:
    """What a job was at whose process was killed, and whether by SIGTERM; nothing where its log has an end."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line]
    except OSError:
        return "", False
    if not lines or lines[-1].startswith(("done in ", "failed: ")) or "failed:" in lines:
        return "", False
    at = next((line for line in reversed(lines) if line.startswith(("calibrate ", "run ", "time "))), lines[0])
    return at, lines[-1] == TERMINATED


TICKER_SECONDS = 10.0
WHOLE = 1e-9
"""What shares of a whole may lack by rounding."""
PRIOR_SECONDS = 1.0
"""Predicted seconds of work that count as done at the predicted pace, so that a first small piece decides little."""
PRIOR_OF_ALL = 0.05
"""What they are at most, as a share of all that is predicted of a kind: of quick work one second would be most."""
PRIOR_SHARE = 0.5
"""The same, as a share of what the longest piece left has over the longest begun: small ones say little of it."""
LATE_LEAST = 0.25
"""What a late piece still takes, at least, as a share of what it has taken: all of that before others are done."""
NEARLY = 0.1
"""The same of a piece that is not late."""


class Pace:
    """How much of some work is done, and how long the rest will take.

    What pieces took over what was predicted of them is the pace of those of their kind that are to come. One that is
    not done counts as soon as it takes longer than that. It is then expected to take as long again as it has, or less
    where others of its kind are done.

    Parameters
    ----------
    predicted : sequence of float, seconds of each piece, > 0
    at_once : int, how many are worked on at a time
    unit : str, what is counted
    clock : callable, seconds, monotonic
    sizes : sequence of float, what each piece counts for; by default 1
    apart : callable
        Seconds so far that say nothing of the pace, since they come once: those of compiling.
    kinds : sequence of str
        Of each piece, where they differ: the pace of one kind says nothing of another's.
    worked : callable
        Seconds that this process has worked; by what they lack of the clock's, a busy machine slows every kind.

    Attributes
    ----------
    note : str, what is to be said besides
    """

    def __init__(
        self,
        predicted: Sequence[float],
        at_once: int = 1,
        unit: str = "",
        clock: Callable[[], float] = time.monotonic,
        sizes: Sequence[float] = (),
        apart: Callable[[], float] = lambda: 0.0,
        kinds: Sequence[str] = (),
        worked: Callable[[], float] | None = None,
    ) -> None:
        self._predicted, self._at_once, self.unit, self._clock = list(predicted), at_once, unit, clock
        self._sizes = list(sizes) or [1.0] * len(self._predicted)
        self._kinds = list(kinds) or [""] * len(self._predicted)
        self._worked, self._worked_before = worked, worked() if worked else 0.0
        self._began: dict[int, float] = {}
        self._took: dict[int, float] = {}
        self._apart, self.note = apart, ""
        self.start, self._seen = clock(), self._now()

    def _now(self) -> float:
        return self._clock() - self._apart()

    @property
    def all(self) -> int:
        """How many there are."""
        return round(sum(self._sizes))

    @property
    def done(self) -> int:
        """How many are done as a whole."""
        return int(sum(self._sizes[number] for number in self._took) + WHOLE)

    def begin(self, number: int) -> None:
        """A piece is begun."""
        self._began[number] = self._now()

    def end(self, number: int, apart: float = 0.0) -> None:
        """A piece is done, for which some seconds ``apart`` do not count."""
        self._took[number] = max(self._now() - self._began[number] - apart, 0.0)

    def reach(self, count: int) -> None:
        """All pieces before ``count`` are done, one after the other; the next one is begun."""
        now, new = self._now(), [number for number in range(count) if number not in self._took]
        since = min((self._began[number] for number in new if number in self._began), default=now)
        self._took |= {number: (now - since) / len(new) for number in new}
        if count < len(self._predicted):
            self._began[count] = now

    def see(self, done: Iterable[int]) -> None:
        """These are done by now, in whatever order, some at a time: what is new shares the time since the last look.

        The first of the others is taken to be worked on since then.
        """
        now, new = self._now(), [number for number in done if number not in self._took]
        self._took |= {number: (now - self._seen) / len(new) for number in new}
        self._seen = now if new else self._seen
        rest = (number for number in range(len(self._predicted)) if number not in self._took)
        for number in [next(rest, None)]:
            if number is not None:
                self._began.setdefault(number, self._seen)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self.start

    @property
    def left(self) -> float:
        """Seconds that the rest is expected to take."""
        now, factors = self._now(), self._factors({})
        begun = {number: now - since for number, since in self._began.items() if number not in self._took}
        late = {n: spent for n, spent in begun.items() if spent > factors[self._kinds[n]] * self._predicted[n]}
        again = {n: self._again(n) for n in late}
        slower = self._factors({n: spent * (1 + again[n]) for n, spent in late.items()})
        rests = []
        for number, seconds in enumerate(self._predicted):
            if number not in self._took:
                spent, kind = begun.get(number, 0.0), self._kinds[number]
                own = seconds * max(factors[kind], slower[kind]) - spent
                rests.append(max(own, again.get(number, NEARLY) * spent))
        return max(sum(rests) / self._at_once, *rests) if rests else 0.0

    def _again(self, late: int) -> float:
        """What a late piece still takes, as a share of what it has taken: the less, the more of its kind is done."""
        own, kind = self._predicted[late], self._kinds[late]
        done = sum(self._predicted[number] for number in self._took if self._kinds[number] == kind)
        return max(own / (own + done), LATE_LEAST)

    def _factors(self, late: Mapping[int, float]) -> dict[str, float]:
        """Of each kind, seconds over predicted ones of what is done, and of late pieces, which are to take so long."""
        known, load = {**self._took, **late}, self._load()
        longest = {kind: [0.0, 0.0] for kind in self._kinds}  # of what is left, and of what is known
        all = dict.fromkeys(self._kinds, 0.0)
        for number, seconds in enumerate(self._predicted):
            of_kind = longest[self._kinds[number]]
            of_kind[number in known] = max(of_kind[number in known], seconds)
            all[self._kinds[number]] += seconds
        spent = {kind: [0.0, 0.0] for kind in self._kinds}
        for number, seconds in known.items():
            sums = spent[self._kinds[number]]
            sums[0], sums[1] = sums[0] + seconds, sums[1] + self._predicted[number]
        found = {}
        for kind, (left, seen) in longest.items():
            seconds, predicted = spent[kind]
            prior = max(min(PRIOR_SECONDS, PRIOR_OF_ALL * all[kind]), PRIOR_SHARE * (left - seen))
            found[kind] = (load * prior + seconds) / (prior + predicted)
        return found

    def _load(self) -> float:
        """By how much other work slows this process down."""
        worked = self._worked() - self._worked_before if self._worked else 0.0
        return max(1.0, self.elapsed / worked) if worked >= PRIOR_SECONDS else 1.0

    def __str__(self) -> str:
        """``7 of 23 done, 12 s, about 30 s left``, and the note."""
        text = f"{self.done} of {self.all}{f' {self.unit}' if self.unit else ''} done, {duration(self.elapsed)}"
        text += f", about {duration(self.left)} left" if self.done < self.all else ""
        return f"{text}, {self.note}" if self.note else text


class Ticker:
    """Shows a pace now and then while work goes on, also while a single piece of it is long; quick work shows nothing.

    Parameters
    ----------
    pace : Pace
    say : callable, takes a line
    title : str, prefix of the lines; empty for none
    spacing : float, seconds between two lines; by default `TICKER_SECONDS`
    look : callable, called before each line, for work that is done elsewhere
    """

    def __init__(
        self,
        pace: Pace,
        say: Callable[[str], object],
        title: str = "",
        spacing: float | None = None,
        look: Callable[[], object] = lambda: None,
    ) -> None:
        self._pace, self._say, self._title, self._look = pace, say, title, look
        self._spacing = TICKER_SECONDS if spacing is None else spacing
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Pace:
        """Begin."""
        self._thread.start()
        return self._pace

    def __exit__(self, *_: object) -> None:
        """End; a line that is being told is told to its end."""
        self._ended.set()
        self._thread.join()

    def _tick(self) -> None:
        while not self._ended.wait(self._spacing):
            self._look()
            if self._pace.done < self._pace.all:
                self._say(f"{self._title}: {self._pace}" if self._title else str(self._pace))


def duration(seconds: float) -> str:
    """A time for people: ``0.4 s``, ``12 s``, ``3 min 20 s``, ``1 h 05 min``, ``12 days``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes / (24 * 60):,.0f} days"
