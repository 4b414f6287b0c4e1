"""``dpsco list audits``, what is tried of every algorithm and why nothing is of some; and how far an audit is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dpsco_bench.cli.output import Heading, labelled, number, table
from dpsco_bench.execution.progress import Pace, duration
from dpsco_bench.plain import Plain

STANDARD, CANARY = "standard", "canary_"
"""What a table leaves out: a variant that is the only one, and how the names of most instances begin."""
COLUMNS = (
    Heading("audit", "audit"),
    Heading("canary", "canary", shrink=18),
    Heading("claim", "claim"),
    Heading("n", "n", numeric=True),
    Heading("d", "d", numeric=True),
    Heading("statistic", "statistic"),
)


class AuditPace(Pace):
    """Estimate how far an audit is, by the runs that count; a pilot as long as these comes before them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__([1.0], clock=clock)
        self._counted: list[tuple[int, int, float]] = []

    def progress(self, done: int, all: int) -> None:
        """Note how many of the runs that count are done."""
        self._counted = [*self._counted[:1], (done, all, self.elapsed)]

    def __str__(self) -> str:
        """``pilot, 12 s``, then ``400 of 9000 runs done, 12 s, about 3 min 10 s left``."""
        if not self._counted:
            return f"pilot, {duration(self.elapsed)}; the runs that count come after"
        (first, _, began), (done, all, _) = self._counted[0], self._counted[-1]
        text = f"{done} of {all} runs done, {duration(self.elapsed)}"
        left = (self.elapsed - began) / (done - first) * (all - done) if done > first else None
        return text if left is None else f"{text}, about {duration(left)} left"


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
