"""``dpsco list audits``, what is tried of every algorithm and why nothing is of some; and how far an audit is."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dpsco_bench.cli.output import Column, labelled, number, table
from dpsco_bench.execution.progress import Pace, duration
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.mechanism import Mechanism

STANDARD, CANARY = "standard", "canary_"
"""What a table leaves out: a variant that is the only one, and how the names of most instances begin."""
COLUMNS = (
    Column("audit", "audit"),
    Column("canary", "canary", shrink=18),
    Column("claim", "claim"),
    Column("n", "n", numeric=True),
    Column("d", "d", numeric=True),
    Column("statistic", "statistic"),
)

Foresee = Callable[[Any, Mapping[str, float]], tuple[int, int]]

COUNTED = (0, 1)
"""Data sets in the keys of the runs that count; those of the pilot have others."""
LOOKED = 2004
"""The first of those that are looked at before the pilot."""


class AuditPace(Pace):
    """How far an audit is: the runs that count, and those of the pilot before them, which are as long.

    It sees them by the noise that is asked for. How many the pilot will have, it foresees when the first one begins.
    Runs that are looked at before the pilot say nothing of the pace: they are forced, and run again.

    Parameters
    ----------
    foresee : callable, optional, (plan, scales) -> runs of the pilot, and those that count
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, foresee: Foresee | None = None) -> None:
        super().__init__([1.0], unit="runs", clock=clock)
        self._foresee, self._foreseen = foresee, (0, 0)
        self._counted, self._runs, self._pilot, self._drawn, self._under_way = 0, 1, 0, 0, 0
        self._block = self._begun = clock()
        self._now_at: float | None = None
        self._first: float | None = None

    def mechanism(
        self, plan: Any, scales: Mapping[str, float], what: str, seed: int, first: int, runs: int
    ) -> Mechanism:
        """The source of noise of some runs, which are about to begin."""
        if self._foresee:
            self._foreseen, self._foresee = self._foresee(plan, scales), None
        number = json.loads(what)["data_set"]  # the key of a norm p = inf has that token in it
        if number not in COUNTED:
            if number < LOOKED and not self._drawn:
                self._begun = self._clock()
            self._drawn += runs * (number < LOOKED)
            self._pilot, self._under_way, self._block = self._pilot + runs, runs, self._clock()
        elif self._first is None:
            self._first = self._clock()
        return Mechanism(plan, scales, what, seed, first, runs)

    def progress(self, done: int, all: int) -> None:
        """So many of the runs that count are done."""
        self._counted, self._runs, self._now_at = done, all, self._clock()

    @property
    def all(self) -> int:
        """Runs that count."""
        return self._runs

    @property
    def done(self) -> int:
        """Those that are done."""
        return self._counted

    @property
    def left(self) -> float:
        """Seconds that the rest is expected to take; NaN before any run is done."""
        now = self._clock()
        if self._first is None or self._now_at is None:
            return self._left_of_all(now)
        rest = (self._now_at - self._first) * (self.all - self.done) / self.done
        return max(rest - (now - self._now_at), 0.1 * rest)

    def _left_of_all(self, now: float) -> float:
        """The same before any run that counts is done, by the pace of the pilot; a block that is slower makes it so."""
        pilot, counted = self._foreseen
        begun = self._first is not None
        done, since = (self._drawn, self._first or now) if begun else (self._drawn - self._under_way, self._block)
        if not counted or done <= 0:
            return math.nan
        pace = (since - self._begun) / done
        if not begun:
            pace = max(pace, (now - self._begun) / self._drawn)
        return max(pace * (max(pilot, self._drawn) + counted - done) - (now - since), 0.1 * (now - since))

    def __str__(self) -> str:
        """``pilot: 400 of about 9,000 runs begun, 12 s, about 3 min 10 s left``, then as `Pace`."""
        left = self.left
        told = "" if math.isnan(left) else f", about {duration(left)} left"
        if self._first is None:
            of = f" of about {max(self._foreseen[0], self._drawn):,}" if any(self._foreseen) else ""
            what = f"pilot: {self._drawn:,}{of} runs begun" if self._drawn else "choosing neighbours"
            return f"{what}, {duration(self.elapsed)}{told or '; the runs that count come after'}"
        if self._now_at is None:
            return f"pilot done, the runs that count are begun, {duration(self.elapsed)}{told}"
        return f"{self.done} of {self.all} runs done, {duration(self.elapsed)}{told}"


def print_audits(trials: Sequence[Any]) -> None:
    """A row for each audit; then those that are not tried, each with its reason."""
    tried = [trial for trial in trials if not trial.reason]
    print(table(COLUMNS, [_row(trial) for trial in tried]))
    print("\nnot tried, and why")
    for reason in dict.fromkeys(trial.reason for trial in trials if trial.reason):
        print(labelled("-", reason, 2))
    print("\nAn audit can refute a claim of privacy. It never proves one.")


def listed(trials: Sequence[Any]) -> list[Plain]:
    """What JSON says of each: id, source of the algorithm and summary, as of every list, and its own fields."""
    from dpsco_bench.algorithms.registry import get_algorithm

    return [
        {
            "id": _name(trial) + ", fused" * trial.fused,
            "source": get_algorithm(trial.algorithm).source,
            "summary": trial.reason or f"on {_canary(trial)}, by its {trial.statistic}",
            **asdict(trial),
        }
        for trial in trials
    ]


def _name(trial: Any) -> str:
    return " ".join(filter(None, (trial.algorithm, trial.variant, trial.calibration)))


def _canary(trial: Any) -> str:
    keys = {**trial.problem_options, **trial.options}
    return " ".join((trial.problem, *(f"{key}={number(value)}" for key, value in keys.items())))


def _row(trial: Any) -> Mapping[str, object]:
    return {
        "audit": _name(trial).replace(f" {STANDARD} ", " "),
        "canary": _canary(trial).removeprefix(CANARY),
        "claim": f"eps={trial.epsilon:g}",
        "n": trial.n,
        "d": trial.d,
        "statistic": f"{trial.statistic}{', fused' * trial.fused}",
    }
