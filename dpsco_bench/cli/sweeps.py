"""The end of a sweep: one table, one Parquet file and one plot of all its runs, refused ones among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsco_bench.claims.choice import OVERHEAD, cost_ratios
from dpsco_bench.cli.claiming import say
from dpsco_bench.cli.composing import Request
from dpsco_bench.cli.output import Column, Row, bounded, labelled, number, print_json, table
from dpsco_bench.cli.verbs.run import stored
from dpsco_bench.errors import DpscoError, Refusal
from dpsco_bench.execution.cell import located
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.predict import predicted_seconds
from dpsco_bench.execution.progress import Pace, Ticker
from dpsco_bench.execution.results import write_table
from dpsco_bench.execution.single import half_interval

COLUMNS = (
    Column("risk", "risk", numeric=True),
    Column("ci", "+- (95 %)", numeric=True),
    Column("kind", "of the"),
    Column("epsilon", "real epsilon", numeric=True),
    Column("privacy", "privacy"),
    Column("gradients", "gradients", numeric=True),
)
KINDS = {"excess empirical": "sample", "excess population": "population"}
REFUSED = "refused"


@contextmanager
def running(made: Sequence[Request]) -> Iterator[Pace]:
    """How far some runs are, told on stderr where they take long."""
    pace = Pace([_seconds(entry.job) for entry in made if entry.job], unit="runs")
    pace.reach(0)
    with Ticker(pace, say):
        yield pace


def _seconds(job: Job) -> float:
    """What a single run is predicted to take on one core."""
    cell = located(job.cells[0], job.data_root)
    _, plan = cell.plan(job.calibration, job.seed, twice=False)
    model = predicted_seconds(cell, plan, job.replicates * job.data_sets, job.fused)
    return OVERHEAD + cost_ratios().get(cell.algorithm_entry.id, 1.0) * model


def end_sweep(made: Sequence[Request], failures: Mapping[str, DpscoError], folder: Path, as_json: bool) -> None:
    """Print the table (or JSON), and write file and plot, of what a sweep left.

    Raises the first failure of a run that was no refusal; nothing is written where no run has a result.

    Parameters
    ----------
    made : sequence of Request, all runs in their order
    failures : mapping, key of a job -> what ended it
    folder : Path, whose name the files take
    """
    rows = [_row(entry, failures) for entry in made]
    if failures and all(row[REFUSED] for row in rows):
        raise next(iter(failures.values()))
    files = {"sweep": folder.with_suffix(".parquet"), "figure": folder.with_suffix(".svg")}
    files = _written(rows, files)
    if as_json:
        hidden = ("swept", "ci_half")
        print_json([{k: v for k, v in row.items() if k not in hidden and (k, v) != (REFUSED, None)} for row in rows])
    else:
        print("\n".join(["", *printed(rows)]))
    for name, path in files.items():
        say(f"{name}: {path}")
    for error in failures.values():
        if not isinstance(error, Refusal):
            raise error


def _row(entry: Request, failures: Mapping[str, DpscoError]) -> dict[str, Any]:
    """What is known of a run: its summary, or what was asked for and why there is none."""
    error = entry.refused or (failures.get(entry.job.key) if entry.job else None)
    if error is None and entry.job and entry.out.is_file():
        found = stored(entry)
        return {"swept": entry.swept, **found, "ci_half": half_interval(found), REFUSED: None}
    config, reason = entry.config, " ".join(str(error or "it left no rows: its launcher says why").split())
    return {
        "swept": entry.swept,
        "algorithm": config["algorithm"]["id"],
        "problem": config["problem"]["name"],
        **{key: config[key] for key in ("n", "d", "delta", "replicates", "data_sets", "seed")},
        "calibration": config["calibration"]["name"],
        "epsilon_claimed": config["epsilon"],
        REFUSED: reason,
    }


def printed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The table, and below it each reason of what was refused, once."""
    keys = list(rows[0]["swept"])
    columns = [Column(f"swept.{key}", key) for key in keys] or [Column("algorithm", "algorithm")]
    lines = [table([*columns, *COLUMNS], [{**_swept(row), **_line(row)} for row in rows])]
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row[REFUSED]:
            name = " ".join(f"{key}={value}" for key, value in row["swept"].items())
            reasons.setdefault(row[REFUSED], []).append(name)
    for reason, names in reasons.items():
        more = f" and {len(names) - 1} more" * (len(names) > 1)
        lines.append(labelled("refused:", f"{names[0]}{more}: {reason}", 9))
    return lines


def _swept(row: Mapping[str, Any]) -> dict[str, str]:
    return {f"swept.{key}": str(value) for key, value in row["swept"].items()}


def _line(row: Mapping[str, Any]) -> Row:
    if row[REFUSED]:
        return {"algorithm": row["algorithm"], "risk": REFUSED}
    return {
        "algorithm": row["algorithm"],
        "risk": number(row["risk"]),
        "ci": number(row["ci_half"], 2),
        "kind": KINDS.get(row["risk_kind"], row["risk_kind"]),
        "epsilon": bounded(row["epsilon_real"], row["epsilon_real_kind"], 3),
        "privacy": row["privacy_status"],
        "gradients": number(row["gradient_evaluations"], 3),
    }


def _written(rows: Sequence[Mapping[str, Any]], files: Mapping[str, Path]) -> dict[str, Path]:
    """The files that were written: no plot where nothing ran."""
    from dpsco_bench.report.sweep import write_figure

    write_table(_table(rows), files["sweep"])
    if any(not row[REFUSED] for row in rows):
        write_figure(rows, files["figure"])
        return dict(files)
    return {"sweep": files["sweep"]}


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A row per run; swept keys under ``swept.<key>``, held-out numbers under ``held_out.<name>``."""
    flat = [
        {
            **_swept(row),
            **{key: value for key, value in row.items() if not isinstance(value, Mapping | Path)},
            "out": str(row.get("out", "")),
            **{f"held_out.{key}": value for key, value in row.get("held_out", {}).items() if isinstance(value, float)},
        }
        for row in rows
    ]
    names = dict.fromkeys(key for row in flat for key in row)
    return pa.table({name: [row.get(name) for row in flat] for name in names})
