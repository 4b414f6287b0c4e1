"""Verb `worker`: one job of the workflow. Imports neither Hydra nor Snakemake."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpsco_bench.claims.model import check_profile
from dpsco_bench.cli.options import add_plugins, load_plugin_files
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout

if TYPE_CHECKING:
    from dpsco_bench.claims.plan import WorkPlan
    from dpsco_bench.execution.packs import Stamp

SUMMARY = "one job of the workflow: calibrate, run, time, judge or rank"
EPILOG = """The rules in workflows/ call it. Without --pack it does that step of everything in the plan that the store
lacks, so that a machine with results/PROFILE/plan.json and results/store/calibrations can run it all; `run` and
`time` need no accountant."""

PACKED = {
    "calibrate": "schedules, noise scales and real epsilons",
    "run": "result tables",
    "time": "seconds per gradient evaluation",
}
CONCLUDED = {"judge": "verdicts and figures of the claims of a paper", "rank": "standings of a leaderboard"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add one subcommand per kind of job."""
    kinds = parser.add_subparsers(dest="work", required=True, metavar="calibrate|run|time|judge|rank")
    for name, text in {**PACKED, **CONCLUDED}.items():
        kind = kinds.add_parser(name, help=text, description=text, allow_abbrev=False)
        kind.add_argument("--profile", default="ci", help="smoke, ci or full (default: ci)")
        kind.add_argument("--log", type=Path, help="log file")
        add_plugins(kind)
        if name in PACKED:
            kind.add_argument("--pack", metavar="PAPER.NUMBER", help="a pack of the run that wrote packs.json")
        elif name == "judge":
            kind.add_argument("--paper", required=True, help="whose claims, as far as the run asked for them")
            kind.add_argument("--draw", action="store_true", help="draw figures too")
        else:
            kind.add_argument("--board", required=True, help="id of the leaderboard")
            kind.add_argument("--digest", required=True, help="digest of what the standings depend on")


def execute(args: argparse.Namespace) -> int:
    """Do the job."""
    files = Layout(check_profile(args.profile))
    load_plugin_files(args.plugin)
    if args.work in PACKED:
        return _measure(files, args.work, args.pack, args.log)
    from dpsco_bench.cli.judging import judge_claims, rank_board
    from dpsco_bench.execution.progress import JobLog

    if args.work == "judge":
        claims = claims_of(files, args.paper)
        with JobLog(args.log, f"judge {args.paper}", unit="claims") as log:
            judge_claims(files, claims, args.draw, log)
    else:
        with JobLog(args.log, f"rank {args.board}") as log:
            rank_board(files, args.board, args.digest, log)
    return 0


def claims_of(files: Layout, paper: str) -> Mapping[str, Stamp]:
    """Claims of a paper that the last run of the workflow asked for, with their stamps; without one all."""
    from dpsco_bench.cli.depends import Dependencies
    from dpsco_bench.execution.packs import Packing

    if files.packing.is_file():
        scope = Packing.read(files.packing).scope
        if paper in scope:
            return scope[paper]
    entries = [files.measured.present(entry) for entry in _plan(files).claims]
    found = {entry.id: entry for entry in entries if entry.paper == paper}
    if not found:
        raise InputError("paper", paper, "one of " + ", ".join(dict.fromkeys(entry.paper for entry in entries)))
    depends = Dependencies(found, {}, files.measured)
    return {id: depends.stamp(id) for id in found}


def _plan(files: Layout, only: Collection[str] | None = None) -> WorkPlan:
    """The plan, or the entries of it that have these ids. Raises InputError if it names a plugin that was not given."""
    from dpsco_bench.claims.plan import read_plan
    from dpsco_bench.execution.plugins import check_given

    plan = read_plan(files.plan, only)
    check_given((path for job in plan.jobs() for path in job.plugins), files.plan)
    return plan


def _measure(files: Layout, step: str, name: str | None, path: Path | None) -> int:
    """Do a pack; what fails in it is noted for the judge and named here, a line a reason, and the rest is done."""
    from dpsco_bench.execution.packs import Packing, lacking_pieces
    from dpsco_bench.execution.progress import JobLog
    from dpsco_bench.execution.worker import read_failures, reason_of, told, work
    from dpsco_bench.jsonio import write_atomic

    pack = Packing.read(files.packing).pack(f"{step}.{name}") if name else None
    plan = _plan(files, pack.claims if pack else None)
    pieces = pack.pieces if pack else [*lacking_pieces(step, plan.jobs(), files.measured)]
    measured = files.measured
    with JobLog(path, pack.summary if pack else f"{step} {len(pieces)} jobs") as log:
        failures = work(step, plan.job, pieces, measured, log)
    known = {reason_of(text) for text in read_failures(files)} if pack else set()  # of this run's other packs
    for failure in failures:
        write_atomic(files.failure(failure.job), f"{failure}\n")
    for line in told([str(failure) for failure in failures if reason_of(str(failure)) not in known]):
        print(f"dpsco: {line}" + (f" (see {path})" if path else ""), file=sys.stderr, flush=True)
    return 0 if pack else int(bool(failures))
