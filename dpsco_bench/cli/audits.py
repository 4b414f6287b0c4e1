"""``dpsco list audits``: what is tried of every algorithm, and why nothing is of some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dpsco_bench.cli.output import Column, labelled, number, table
from dpsco_bench.plain import Plain

COLUMNS = (
    Column("audit", "audit", shrink=38),
    Column("canary", "canary", shrink=26),
    Column("claim", "claim"),
    Column("n", "n", numeric=True),
    Column("d", "d", numeric=True),
    Column("statistic", "statistic"),
)


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
