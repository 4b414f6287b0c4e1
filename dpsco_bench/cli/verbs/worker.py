"""Verb `worker`: one job of the workflow. Imports neither Hydra nor Snakemake."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.races import race, raced
from dpsco_bench.analysis.stages import decider
from dpsco_bench.analysis.verdict import JudgedClaim
from dpsco_bench.claims.plan import BoardEntry, ClaimEntry, WorkPlan, read_plan
from dpsco_bench.cli.console import add_shared, say
from dpsco_bench.cli.verbs.claim import weigh
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.execution.jobs import Entry, Job, part_of
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import check_given
from dpsco_bench.execution.worker import make_all
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.leaderboard.standings import RankedBoard, Standing, standings

SUMMARY = "one job of the workflow: a claim, a part of one, its timing, or a leaderboard"
EPILOG = """The rules in workflows/ call it. `calibrate` and `run` do that step of everything in the plan that the store
lacks, so that a machine with results/PROFILE/plan.json and results/store/calibrations can run it all; `run` needs no
accountant."""

STEPS = {"calibrate": "schedules, noise scales and real epsilons of the plan", "run": "result tables of the plan"}
OF_ONE = {
    "claim": "what the store lacks of a claim, its verdicts and its figures",
    "part": "what the store lacks of a part of a claim, or of an instance of a leaderboard",
    "time": "seconds per gradient evaluation of a claim's runs, one replicate alone on the machine",
    "rank": "what the store lacks of a leaderboard, its standings and its figures",
}


def configure(parser: argparse.ArgumentParser) -> None:
    words = {**OF_ONE, **STEPS}
    kinds = parser.add_subparsers(dest="work", required=True, metavar="|".join(words))
    for name, text in words.items():
        kind = kinds.add_parser(name, help=text, description=text, allow_abbrev=False)
        add_shared(kind, "profile", "plugin")
        if name in OF_ONE:
            kind.add_argument("id", help="claim or leaderboard")
        if name == "part":
            kind.add_argument("part", help="part of the claim, or instance of the leaderboard")
        if name in ("claim", "rank"):
            kind.add_argument("--digest", default="", help="of what verdicts or standings are made from")
        if name in ("part", "time"):
            kind.add_argument("--out", type=Path, help="written when all is measured")


def execute(args: argparse.Namespace) -> int:
    files, whole = Layout(args.profile), args.work in STEPS
    path = files.plan if whole else files.planned(args.id)
    plan = read_plan(path)
    check_given((file for job in plan.jobs() for file in job.plugins), path)
    if whole:
        _make(files, plan.entries, [args.work], plan)
        return 0
    entry: Any = next(map(files.measured.present, plan.claims), None) or raced(plan.boards[0], files.measured)
    if args.work == "time":
        entry = replace(entry, jobs=tuple(job for job in entry.jobs if job.timing))
    elif args.work == "part":
        parts = [*map(part_of, entry.jobs)]
        if args.part not in parts:
            raise InputError("part", args.part, nearest(args.part, parts))
        entry = replace(entry, jobs=tuple(job for job in entry.jobs if part_of(job) == args.part))
    _make(files, [entry], ["calibrate", "time" if args.work == "time" else "run"], plan)
    if args.work == "claim":
        judge(files, entry, args.digest)
    elif args.work == "rank":
        rank(files, entry, args.digest)
    elif args.out:
        write_atomic(args.out, "".join(f"{job.name} {job.key}\n" for job in entry.jobs))
    return 0


def _make(files: Layout, entries: Sequence[Entry], steps: Sequence[str], plan: WorkPlan) -> None:
    """Make what the store lacks of some entries of a plan. What fails is named when the others are made."""
    reasons: dict[str, list[str]] = {}

    def lost(job: Job, error: DpscoError) -> None:
        reasons.setdefault(" ".join(str(error).split()), []).append(job.title)

    def make(jobs: Iterable[Job]) -> None:
        make_all(jobs, files.measured, say, weigh, lost, steps, decide=decide)

    decide = decider(plan.entries, files.measured)
    boards = [entry for entry in entries if isinstance(entry, BoardEntry) and "run" in steps]
    make([job for entry in entries if entry not in boards for job in entry.jobs])
    for board in boards:
        race(board, files.measured, make)
    if reasons:
        told = [f"{jobs[0]}{f' and {len(jobs) - 1} more' * (len(jobs) > 1)}: {why}" for why, jobs in reasons.items()]
        raise DpscoError("; ".join(told))


def judge(files: Layout, entry: ClaimEntry, digest: str) -> None:
    """Write the verdicts of a claim whose results are in the store, with what they are made from; draw its figures."""
    from dpsco_bench.analysis.judge import judge_claim
    from dpsco_bench.report.figures import write_claim_figures
    from dpsco_bench.report.inputs import ClaimResults

    rows = tuple(judge_claim(entry, files.measured.load, files.measured.decided))
    for row in rows:
        say(f"{entry.id} {row.part} [{row.calibration}]: {row.said}")
    write_claim_figures(ClaimResults(entry, files, rows), files.figures)
    JudgedClaim(entry.id, digest, verdicts=rows).write(files.verdicts(entry.id))


def rank(files: Layout, entry: BoardEntry, digest: str) -> None:
    """Write the standings of a leaderboard, and draw its phase diagrams."""
    from dpsco_bench.report.figures import write_figures
    from dpsco_bench.report.inputs import read_inputs

    rows = standings(raced(entry, files.measured), files.measured.load)
    for row in rows:
        said = f"n {row.n}: {' = '.join(row.tied)}" if isinstance(row, Standing) else row.skipped
        say(f"{row.instance}: {said}")
    RankedBoard(entry.id, digest, tuple(rows)).write(files.standings(entry.id))
    write_figures(read_inputs(files, only=entry.id), entry.id, files.figures)
