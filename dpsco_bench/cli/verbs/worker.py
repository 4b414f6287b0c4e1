"""Verb `worker`: one job of the workflow. Imports neither Hydra nor Snakemake."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpsco_bench.cli.pandas_free import keep_pandas_out
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import drawn_name, has_run, job_name, read_calibrations, read_entry

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
                kind.add_argument(
                    "--draw", type=Path, metavar="FOLDER", help="draw the claim's figures too, into FOLDER"
                )
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

    if args.work != "calibrate":  # which reads no tables
        keep_pandas_out()
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
    from dpsco_bench.execution.plugins import job_plugins, load_plugins
    from dpsco_bench.execution.present import present_results
    from dpsco_bench.execution.progress import JobLog
    from dpsco_bench.jsonio import dumps_pretty, write_text_atomic

    def calibrations(job: Mapping[str, Any]) -> Path:
        return args.calibrations / f"{job_name(job)}.json"

    def table(job: Mapping[str, Any]) -> Path:
        return args.runs / f"{job_name(job)}.parquet"

    entry = present_results(read_entry(args.plan, args.claim), calibrations, table)
    load_plugins(job_plugins(entry["jobs"]))

    def load(job: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        return _result(table(job), job), read_calibrations(calibrations(job), job)

    with JobLog(args.log, f"{args.work} {args.claim}") as log:
        outcome = _judged(entry, load, log) if args.work == "judge" else _ranked(entry, load, log)
        write_text_atomic(args.out, dumps_pretty({"claim": args.claim, "digest": args.digest, **outcome}))
        if args.work == "judge" and args.draw and not any(job["timing"] for job in entry["jobs"]):
            with suppress(Exception):  # the figure step will meet the same error, and say so
                _draw(args.plan, args.claim, args.draw / drawn_name(args.claim, args.digest))


def _draw(plan: Path, claim: str, folder: Path) -> None:
    """Draw a claim's figures into a folder that appears when they are complete."""
    from dpsco_bench.report.figures import write_figures
    from dpsco_bench.report.inputs import read_inputs

    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    write_figures(read_inputs(plan, only=claim), claim, draft)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)


def _judged(entry: Mapping[str, Any], load: Any, log: Any) -> dict[str, Any]:
    from dpsco_bench.analysis.judge import judge_claim

    rows = judge_claim(entry, load)
    for row in rows:
        log.write(f"{row['part']} [{row['calibration']}]: {row['verdict']}")
    return {"verdicts": rows}


def _ranked(entry: Mapping[str, Any], load: Any, log: Any) -> dict[str, Any]:
    from dpsco_bench.analysis.standings import standings

    rows = standings(entry, load)
    for row in rows:
        log.write(f"{row['instance']}: " + (row["skipped"] or f"n {row['n']}: {' = '.join(row['tied'])}"))
    return {"standings": rows}


def _result(path: Path, job: Mapping[str, Any]) -> Any:
    """The job's result table, or None if it has none."""
    from dpsco_bench.execution.results import read_table

    if not has_run(job):
        return None
    if not path.is_file():
        raise InputError("result", path, "a file that `worker run` wrote")
    table, metadata = read_table(path)
    found = metadata["job"].get("key")
    if not job["skipped"] and found != job["key"]:
        raise InputError(f"key of {path}", found, f"{job['key']}: snakemake --forcerun run")
    return table
