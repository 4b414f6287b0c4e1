"""``dpsco compare [--profile PROFILE] [--record]``: the recorded verdicts against the last run."""

from __future__ import annotations

import argparse

from dpsco_bench.analysis import record as records
from dpsco_bench.analysis.races import raced_plan
from dpsco_bench.claims.plan import WorkPlan, read_plan
from dpsco_bench.cli.console import add_shared, answer, table
from dpsco_bench.cli.verbs import gate
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.predict import record_seconds
from dpsco_bench.leaderboard.standings import RankedBoard, Standing
from dpsco_bench.report.tables import Column

SUMMARY = "the recorded verdicts against the last run (the regression check)"
EPILOG = (
    "Only a changed word of a verdict is a failure (exit code 1); reservations, new and skipped rows are not. A slope\n"
    "beyond the joint interval of both runs, or another winner at a point of a leaderboard, is only reported."
)
_COLUMNS = {
    **{"claim": Column("id"), "part": Column("part"), "noise": Column("calibration"), "recorded": Column("recorded")},
    **{"now": Column("fresh"), "": Column("remark")},
}
_SHRINK = dict.fromkeys(("claim", "part", "recorded", "now"), 12)


def configure(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "profile", "json")
    parser.add_argument("--record", action="store_true", help="record verdicts and times of the last run")


def execute(args: argparse.Namespace) -> int:
    files, path = Layout(args.profile), gate.recorded_path(args.profile)
    plan = read_plan(files.plan) if files.plan.is_file() else WorkPlan(args.profile, (), ())
    planned, jobs = [entry.id for entry in plan.claims], [*raced_plan(plan, files.measured).jobs()]
    folder = files.verdicts("*").parent
    fresh = gate.read_verdicts(files, planned or sorted(file.stem for file in folder.glob("*.json")))
    if not fresh:
        raise InputError("verdicts", folder, f"written by a run: make replicate PROFILE={args.profile}")
    known = records.read_record(path)
    rows = records.compare(known, fresh)
    if args.record:
        records.record(path, records.merge(known, fresh))
        if jobs:
            record_seconds(gate.recorded_seconds_path(args.profile), jobs, files.measured)
    boards, lost = compare_boards(files, args.record), gate.unjudged(args.profile, planned, fresh)
    told = f"recorded in {path}" if args.record else _conclusion(rows)
    answer(args.json, rows, filter(None, [table(_COLUMNS, rows, _SHRINK) + "\n", told, boards, lost]))
    return int(not args.record and any(row.fails for row in rows))


def compare_boards(files: Layout, record: bool) -> str:
    """Lines on the leaderboards of the last run beside the recorded ones; with ``record`` they are recorded."""
    path = gate.recorded_path(files.profile).with_name("boards") / f"{files.profile}.json"
    found, points, lines = records.read_points(path), 0, list[str]()
    for file in sorted(files.standings("*").parent.glob("*.json")):
        ranked = RankedBoard.read(file)
        rows = ranked.standings if ranked else ()
        fresh = [row.recorded(file.stem) for row in rows if isinstance(row, Standing)]
        lines += records.changed_points(found, fresh)
        points += len(rows)
        if record:
            absent = {row.instance for row in rows} - {point["instance"] for point in fresh}
            records.record_points(path, file.stem, fresh, absent)
    told = f"{len(lines)} of {points} points of leaderboards have another winner than recorded"
    return "\n".join([*lines, told]) if points and found and not record else ""


def _conclusion(rows: list[records.RowDifference]) -> str:
    changed, new = sum(row.fails for row in rows), sum(row.what == "new" for row in rows)
    said = [f"{changed} of {len(rows)} verdicts changed"]
    said += [f"{new} not recorded (--record records them)"] * bool(new)
    slopes = sum(bool(row.moved) for row in rows)
    said += [f"{slopes} with a slope beyond the joint interval"] * bool(slopes)
    return ", ".join(said)
