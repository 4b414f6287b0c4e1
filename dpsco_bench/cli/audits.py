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

COLUMNS = (
    Column("audit", "audit", shrink=38),
    Column("canary", "canary", shrink=26),
    Column("claim", "claim"),
    Column("n", "n", numeric=True),
    Column("d", "d", numeric=True),
    Column("statistic", "statistic"),
)

COUNTED = (0, 1)
"""Data sets in the keys of the runs that count; those of the pilot have others."""


class AuditPace(Pace):
    """How far an audit is: the time left is by the pace of the runs that count, since those of the pilot come before.

    It sees the pilot by the noise that is asked for, and counts its runs without a word on how many there will be.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__([1.0], unit="runs", clock=clock)
        self._counted, self._runs, self._pilot = 0, 1, 0
        self._now_at: float | None = None
        self._first: float | None = None

    def mechanism(
        self, plan: Any, scales: Mapping[str, float], what: str, seed: int, first: int, runs: int
    ) -> Mechanism:
        """The source of noise of some runs, which are about to begin."""
        if json.loads(what)["data_set"] not in COUNTED:  # the key of a norm p = inf has that token in it
            self._pilot += runs
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
        """Seconds that the rest is expected to take; NaN before any is done."""
        if self._first is None or self._now_at is None:
            return math.nan
        rest = (self._now_at - self._first) * (self.all - self.done) / self.done
        return max(rest - (self._clock() - self._now_at), 0.1 * rest)

    def __str__(self) -> str:
        """``pilot: 400 runs begun, 12 s``, then as `Pace`."""
        if self._first is None:
            what = f"pilot: {self._pilot} runs begun" if self._pilot else "choosing neighbours"
            return f"{what}, {duration(self.elapsed)}; the runs that count come after"
        if math.isnan(self.left):
            return f"pilot done, the runs that count are begun, {duration(self.elapsed)}"
        return f"{self.done} of {self.all} runs done, {duration(self.elapsed)}, about {duration(self.left)} left"


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
        "audit": _name(trial),
        "canary": _canary(trial),
        "claim": f"eps={trial.epsilon:g}",
        "n": trial.n,
        "d": trial.d,
        "statistic": f"{trial.statistic}{', fused' * trial.fused}",
    }
