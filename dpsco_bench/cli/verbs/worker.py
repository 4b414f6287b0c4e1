"""Verb `worker`: one job of the workflow. Imports neither Hydra nor Snakemake."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dpsco_bench.execution.layout import read_entry

if TYPE_CHECKING:
    from dpsco_bench.cli.judging import Judging

SUMMARY = "one job of the workflow: calibrate, run, time, judge or rank"
EPILOG = "The rules in workflows/ call it; `run` and `time` need no accountant, so they work on a machine without one."

WORK = {
    "calibrate": "schedules, noise scales and real epsilons of one job",
    "run": "result table of one job",
    "time": "seconds per gradient evaluation of one job's methods",
    "judge": "verdicts of a claim",
    "rank": "standings of a leaderboard",
}

FROM_TABLES = ("judge", "rank")
"""Kinds of jobs that read the result tables of a claim or leaderboard."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add one subcommand per kind of job."""
    kinds = parser.add_subparsers(dest="work", required=True, metavar="calibrate|run|time|judge|rank")
    for name, text in WORK.items():
        kind = kinds.add_parser(name, help=text, description=text, allow_abbrev=False)
        kind.add_argument("--plan", type=Path, required=True, help="plan of the profile")
        kind.add_argument("--claim", required=True, help="id of the claim")
        kind.add_argument("--out", type=Path, required=True, help="file to write")
        kind.add_argument("--log", type=Path, help="log file")
        if name in FROM_TABLES:
            kind.add_argument("--calibrations", type=Path, required=True, help="folder of the claim's calibrations")
            kind.add_argument("--runs", type=Path, required=True, help="folder of the claim's result tables")
            kind.add_argument("--digest", required=True, help="digest of what the outcome depends on")
            if name == "judge":
                kind.add_argument("--ready", type=Path, help="folder of what another process judged and drew")
                kind.add_argument("--wanted", type=Path, help="list of the claims that are to be judged too")
                kind.add_argument("--draw", action="store_true", help="draw figures too, into the folder of --ready")
            continue
        kind.add_argument("--job", required=True, metavar="PART.CALIBRATION", help="name of the job within its claim")
        kind.add_argument("--key", required=True, help="its key (for calibrate: its calibration_key) in the plan")
        if name in ("calibrate", "run"):
            kind.add_argument("--cache", type=Path, required=True, help="folder of calibrations by key")
        if name == "calibrate":
            kind.add_argument("--wanted", type=Path, help="list of the claims that are to be calibrated too")
        if name == "run":
            kind.add_argument(
                "--ready", type=Path, required=True, help="where the table lies if another process made it"
            )
        if name != "calibrate":
            kind.add_argument("--calibrations", type=Path, required=True, help="what `calibrate` wrote")


def execute(args: argparse.Namespace) -> int:
    """Do the job."""
    from dpsco_bench.execution import worker

    if args.work == "calibrate":
        worker.calibrate(args.plan, args.claim, args.job, args.key, args.cache, args.out, args.log, args.wanted)
    elif args.work in FROM_TABLES:
        conclude(args)
    else:
        which = (args.plan, args.claim, args.job, args.key, args.calibrations)
        if args.work == "run":
            worker.run_job(*which, args.cache, args.ready, args.out, args.log)
        else:
            worker.time_job(*which, args.out, args.log)
    return 0


def conclude(args: argparse.Namespace) -> None:
    """Write the verdict rows of a claim, or the standings of a leaderboard."""
    from dpsco_bench.cli.judging import Judging, judge_claims

    judging = Judging(args.plan, args.calibrations.parent, args.runs.parent, getattr(args, "draw", False))
    if args.work == "judge":
        judge_claims(judging, args.claim, args.digest, args.out, args.log, args.ready, args.wanted)
    else:
        _rank(args, judging)


def _rank(args: argparse.Namespace, judging: Judging) -> None:
    from dpsco_bench.analysis.standings import standings
    from dpsco_bench.execution.progress import JobLog
    from dpsco_bench.jsonio import dumps_pretty, write_text_atomic

    entry = judging.entry(read_entry(args.plan, args.claim))
    with JobLog(args.log, f"rank {args.claim}") as log:
        rows = standings(entry, judging.loader())
        for row in rows:
            log.write(f"{row['instance']}: " + (row["skipped"] or f"n {row['n']}: {' = '.join(row['tied'])}"))
        write_text_atomic(args.out, dumps_pretty({"claim": args.claim, "digest": args.digest, "standings": rows}))
