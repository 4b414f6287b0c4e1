"""Verb `plan`: compose the claims of a profile into the plan that the workflow reads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpsco_bench.analysis.races import raced_plan
from dpsco_bench.analysis.stages import staged
from dpsco_bench.claims.catalogue import own_claims, profile_claims
from dpsco_bench.claims.jobs import claim_plan, plan_settings, unmeasured
from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.cli.console import add_shared, answer
from dpsco_bench.cli.overrides import check_settings, extended
from dpsco_bench.cli.verbs.gate import predictor
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.store import take
from dpsco_bench.execution.worker import seconds_left
from dpsco_bench.jsonio import digest
from dpsco_bench.leaderboard.board import plan_boards
from dpsco_bench.registry import say_once

SUMMARY = "compose every claim of a profile into results/<profile>/plan.json"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="Hydra overrides, e.g. seed=1 backend=cupy")
    add_shared(parser, "profile", "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    """Write the plan, and say what is in it."""
    files, plan = Layout(args.profile), make_plan(args.profile, extended(args.overrides, "plugins", args.plugin))
    lock = take(files.lock)  # a live run keeps the plan that it started with
    keep(plan, files)
    lock.release()
    return answer(args.json, plan, _told(plan, files))


def _told(plan: WorkPlan, files: Layout) -> Iterator[str]:
    jobs = [job for entry in plan.claims for job in entry.jobs]
    runs, skipped = sum(job.has_run for job in jobs), sum(bool(job.skipped) for job in jobs)
    raced = raced_plan(plan, files.measured).jobs()
    left = duration(seconds_left(raced, files.measured, predictor(plan.profile)))
    yield f"{files.plan}: {len(plan.claims)} claims, {len(jobs)} calibrations, {runs} runs, {skipped} skipped"
    yield f"what the store lacks, leaderboards included, takes about {left} on one core"
    yield "(calibrations and runs alone, by times on record: no compilation, judging, figures or site)"


def keep(plan: WorkPlan, files: Layout) -> None:
    """Write a plan, and that of each claim and leaderboard by itself."""
    for claim in plan.claims:
        replace(plan, claims=(claim,), boards=()).write(files.planned(claim.id))
    for board in plan.boards:
        replace(plan, claims=(), boards=(board,)).write(files.planned(board.id))
    plan.write(files.plan)


def make_plan(profile: str, overrides: Sequence[str] = (), claims: Sequence[str] | None = None) -> WorkPlan:
    """Plan a whole profile: claims with at least one part in it, and their jobs.

    The user's claims that it does not measure are named in a line each on stderr. Raises InputError for overrides that
    do not belong to a plan.
    """
    settings = plan_settings(profile, check_settings(overrides))
    own = own_claims(settings.claims)
    planned = (claim_plan(id, profile, overrides, settings) for id in claims or [*profile_claims(profile), *own])
    entries = tuple(staged(entry) for entry in planned if entry.claim.parts)
    for id in own.keys() - {entry.id for entry in entries}:
        say_once(unmeasured(profile, [id]))
    boards = tuple(entry for entry in (plan_boards(profile, settings) if claims is None else ()) if entry.jobs)
    stamp = digest([profile, [(entry.digest, [job.key for job in entry.jobs]) for entry in (*entries, *boards)]])
    return WorkPlan(profile, entries, boards, stamp)
