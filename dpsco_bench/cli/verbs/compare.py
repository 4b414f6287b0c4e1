"""``dpsco compare [--profile PROFILE] [--record]``: the recorded verdicts against the last run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from dpsco_bench.cli.options import add_json
from dpsco_bench.cli.output import Column, print_json, table

SUMMARY = "the recorded verdicts against the last run (the regression check)"
EPILOG = "Only a verdict whose word changed is a failure (exit code 1); numbers, new rows and skipped claims are not."
_COLUMNS = (
    Column("id", "claim", shrink=12),
    Column("part", "part", shrink=12),
    Column("calibration", "noise"),
    Column("recorded", "recorded", shrink=12),
    Column("fresh", "now", shrink=12),
    Column("what", ""),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--profile", default="ci", help="smoke, ci or full (default: ci)")
    parser.add_argument(
        "--record", action="store_true", help="record the verdicts of the last run, and what its jobs took"
    )
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    """Print every verdict beside the recorded one."""
    from dpsco_bench.analysis.record import merge, read_record, record
    from dpsco_bench.claims.compose import check_profile
    from dpsco_bench.cli.verbs.gate import recorded_path, recorded_seconds_path
    from dpsco_bench.execution.layout import Layout
    from dpsco_bench.execution.plan import read_plan
    from dpsco_bench.execution.predict import record_seconds

    files = Layout(check_profile(args.profile))
    fresh = last_verdicts(files)
    path = recorded_path(args.profile)
    rows = compared(read_record(path), fresh)
    if args.record:
        record(path, merge(read_record(path), fresh))
        if files.plan.is_file():
            record_seconds(recorded_seconds_path(args.profile), [*read_plan(files.plan).jobs()], files.measured)
    if args.json:
        print_json(rows)
    else:
        print(table(_COLUMNS, [{**row, "what": _remark(row)} for row in rows]))
        print(f"\n{_conclusion(rows, path if args.record else None)}")
    return int(not args.record and any(row["fails"] for row in rows))


def last_verdicts(files: Any) -> list[dict[str, Any]]:
    """Verdict rows of the last run of a profile; of the planned claims only, where the plan is at hand.

    Raises
    ------
    InputError
        If there are none.
    """
    from dpsco_bench.cli.judging import read_verdict_file
    from dpsco_bench.cli.verbs.gate import read_verdicts
    from dpsco_bench.errors import InputError

    folder = files.verdicts("*").parent
    if files.plan.is_file():
        rows = read_verdicts(files)
    else:
        found = [read_verdict_file(files, path.stem) for path in sorted(folder.glob("*.json"))]
        rows = [row for entry in found if entry for row in entry["verdicts"]]
    if not rows:
        raise InputError("verdicts", folder, f"written by a run: make replicate PROFILE={files.profile}")
    return rows


def compared(recorded: list[dict[str, Any]], fresh: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Recorded and fresh verdicts side by side, in the order of the run; ``what`` is ``same`` where nothing differs."""
    from dpsco_bench.analysis.record import compare

    claims = {row["id"] for row in fresh}
    known = [row for row in recorded if row["id"] in claims]
    differences = {(d.claim, d.part, d.calibration): d for d in compare(known, fresh, claims)}
    old = {_name(row): row["verdict"] for row in known}
    new = {_name(row): row["verdict"] for row in fresh}
    rows = []
    for name in dict.fromkeys([*new, *old]):
        difference = differences.get(name)
        rows.append(
            {
                **dict(zip(("id", "part", "calibration"), name, strict=True)),
                "profile": fresh[0]["profile"],
                "recorded": old.get(name),
                "fresh": new.get(name),
                "what": difference.what if difference else "same",
                "fails": bool(difference and difference.fails),
            }
        )
    return rows


def _name(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["id"], row["part"], row["calibration"]


def _remark(row: Mapping[str, Any]) -> str:
    return row["what"].upper() if row["fails"] else "" if row["what"] == "same" else row["what"]


def _conclusion(rows: list[dict[str, Any]], recorded: Any) -> str:
    if recorded is not None:
        return f"recorded in {recorded}"
    changed, new = sum(row["fails"] for row in rows), sum(row["what"] == "new" for row in rows)
    return f"{changed} of {len(rows)} verdicts changed" + (
        f", {new} not recorded (--record records them)" if new else ""
    )
