"""``dpsco bench``: the performance suite, as ratios within one process."""

from __future__ import annotations

import argparse
from typing import Any

from dpsco_bench.cli.options import add_json
from dpsco_bench.cli.output import Column, labelled, number, print_json, table

SUMMARY = "performance as ratios against rooflines and peers, with goals"
EPILOG = """A ratio compares processor times of two tasks measured in turn in this process: at most 0.6 means that ours
takes at most 0.6 of the peer's time, at least 3 that it is at least three times as fast (G6: that it
reaches that part of the peer's rate). Goals are for one core; a case without a goal is shown only."""

_COLUMNS = (
    Column("id", "goal"),
    Column("case", "case", shrink=32),
    Column("peer", "against", shrink=20),
    Column("ours_ns", "ns", numeric=True),
    Column("peer_ns", "its ns", numeric=True),
    Column("ratio", "ratio", numeric=True),
    Column("wanted", "wanted"),
    Column("outcome", "met"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="goals to measure, e.g. G1 G6")
    parser.add_argument("--quick", action="store_true", help="shorter samples: a look, not figures to quote")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    """Measure and print; a missed goal is reported, not an error."""
    from dpsco_bench.bench.suite import run_suite

    rows = list(run_suite(args.only, args.quick))
    if args.json:
        print_json(rows)
    else:
        print(screen(rows))
    return 0


def screen(rows: list[dict[str, Any]]) -> str:
    """The table, what could not be measured, and the machine."""
    measured = [_shown(row) for row in rows if not row["reason"]]
    lines = [table(_COLUMNS, measured)] if measured else []
    for id, reason in dict.fromkeys((row["id"], row["reason"]) for row in rows if row["reason"]):
        lines.append(f"{id}: not measured: {reason}")
    return "\n".join([*lines, "", *_machine(rows[0]["machine"])])


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Cells of one row; times per unit of work."""
    wanted = "" if row["goal"] is None else f"{row['sense']} {number(row['goal'])}"
    outcome = {True: "yes", False: "NO", None: "-"}[row["met"]]
    digits = {key: number(row[key], 3) for key in ("ours_ns", "peer_ns", "ratio")}
    return {**row, **digits, "wanted": wanted, "outcome": outcome}


def _machine(about: dict[str, Any]) -> list[str]:
    core = about["blas_core_type"] or "chosen by OpenBLAS"
    noise = "compiled by Numba" if about["numba"] else "plain NumPy: Numba is missing or switched off"
    return [
        labelled("processor", f"{about['processor']}, NumPy {about['numpy']}, Python {about['python']}"),
        labelled("noise", noise),
        labelled("matrix kernel", f"{core} (OPENBLAS_CORETYPE), threads {about['blas_threads'] or 'not set'}"),
    ]
