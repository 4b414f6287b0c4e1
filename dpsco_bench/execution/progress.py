"""Progress of long work: how much is done, and about how long the rest takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

SPACING = 10.0
"""Seconds between two lines where the output is no terminal."""
LIVE_SPACING = 1.0
"""Seconds between two looks at work that is shown on a terminal."""
PRIOR_SECONDS, PRIOR_SHARE = 1.0, 0.05
"""Predicted work that counts as done at the predicted pace: so many seconds, at most this share of all."""
NEARLY = 0.1
"""Least share of its expected time that the rest still takes."""


class Pace:
    """Estimate the time left from predictions and from what the finished pieces took.

    So many pieces run ``at_once``; a ``note`` is shown in place of the time left.
    """

    def __init__(
        self,
        predicted: Sequence[float],
        at_once: int = 1,
        unit: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._predicted, self._at_once, self.unit, self._clock = list(predicted), at_once, unit, clock
        self._ended: set[int] = set()
        self.all, self.note, self.start = len(self._predicted), "", clock()
        self._last = self.start

    @property
    def done(self) -> int:
        return len(self._ended)

    @property
    def elapsed(self) -> float:
        return self._clock() - self.start

    def end(self, *numbers: int) -> None:
        if not self._ended.issuperset(numbers):
            self._ended.update(numbers)
            self._last = self._clock()

    def reach(self, count: int) -> None:
        """Note that the first ``count`` pieces are finished."""
        self.end(*range(count))

    @property
    def left(self) -> float:
        total = sum(self._predicted)
        done = sum(self._predicted[number] for number in self._ended)
        prior = min(PRIOR_SECONDS, PRIOR_SHARE * total)
        pace = (prior + self._last - self.start) / (prior + done / self._at_once) if total else 1.0
        rest = pace * (total - done) / self._at_once
        return max(rest - (self._clock() - self._last), NEARLY * rest)

    def __str__(self) -> str:
        """``7 of 23 done, 12 s, about 30 s left``, or the note in place of the time left."""
        counted = f"{self.done} %" if self.unit == "%" else f"{self.done} of {self.all} {self.unit}".rstrip()
        text = f"{counted} done, {duration(self.elapsed)}"
        left = f"about {duration(self.left)} left" if self.done < self.all else ""
        return ", ".join(filter(None, (text, self.note or left)))


@contextmanager
def shown(
    pace: Pace, say: Callable[[str], object], title: str = "", look: Callable[[], Iterable[int]] = tuple
) -> Iterator[Pace]:
    """Show a pace on stderr while work goes on: one live line on a terminal, else a line every `SPACING` seconds.

    ``look`` tells which pieces are finished, for work that is done elsewhere.
    """
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console, ended = Console(stderr=True), threading.Event()
    live = Live(console=console, transient=True, auto_refresh=False) if console.is_terminal else None

    def tick() -> None:
        while not ended.wait(LIVE_SPACING if live else SPACING):
            pace.end(*look())
            line = f"{title}: {pace}" if title else str(pace)
            if live:
                live.update(Text(line), refresh=True)
            elif pace.done < pace.all:
                say(line)

    thread = threading.Thread(target=tick, daemon=True)
    with live or nullcontext():
        thread.start()
        try:
            yield pace
        finally:
            ended.set()
            thread.join()


def duration(seconds: float) -> str:
    """Format a time for people: ``0.4 s``, ``12 s``, ``3 min 20 s``, ``1 h 05 min``, ``12 days``."""
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
