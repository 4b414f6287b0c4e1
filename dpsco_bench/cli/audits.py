"""``dpsco list audits``: what is tried of every algorithm, and why nothing is of some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsco_bench.cli.output import Column, labelled, number, table

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


def _row(trial: Any) -> Mapping[str, object]:
    keys = {**trial.problem_options, **trial.options}
    shown = " ".join(f"{key}={number(value)}" for key, value in keys.items())
    return {
        "audit": f"{trial.algorithm} {trial.variant} {trial.calibration}",
        "canary": f"{trial.problem} {shown}".strip(),
        "claim": f"eps={trial.epsilon:g}",
        "n": trial.n,
        "d": trial.d,
        "statistic": f"{trial.statistic}{', fused' * trial.fused}",
    }
