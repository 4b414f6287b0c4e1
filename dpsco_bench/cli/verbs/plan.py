"""Verb `plan`: compose the claims of a profile into the plan that the workflow reads."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dpsco_bench.analysis.races import raced_plan
from dpsco_bench.analysis.stages import staged
from dpsco_bench.claims.catalogue import conf_files, errors_of, naming, own_claims, profile_claims
from dpsco_bench.claims.jobs import claim_plan, plan_settings, unmeasured
from dpsco_bench.claims.model import Part
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import WorkPlan, restored
from dpsco_bench.cli.console import add_shared, answer
from dpsco_bench.cli.overrides import check_settings, extended
from dpsco_bench.cli.verbs.gate import predictor
from dpsco_bench.execution.digest import ROOT as PACKAGE_ROOT
from dpsco_bench.execution.jobs import Settings
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import code_files, load_plugins, plugin_files
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.store import read_sealed, take
from dpsco_bench.execution.worker import seconds_left
from dpsco_bench.jsonio import dumps_canonical, to_jsonable
from dpsco_bench.leaderboard.board import Instance, own_boards, plan_boards
from dpsco_bench.plain import Options
from dpsco_bench.problems.registry import get_problem, list_problems, problem_class
from dpsco_bench.registry import paper_folders, say_once

SUMMARY = "compose every claim of a profile into results/<profile>/plan.json"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="Hydra overrides, e.g. seed=1 backend=cupy")
    add_shared(parser, "profile", "json", "plugin")
    parser.add_argument("--out", type=Path, help="plan file (default: results/<profile>/plan.json)")


def execute(args: argparse.Namespace) -> int:
    """Write the plan if it is stale, and say what is in it."""
    files = Layout(args.profile)
    path = args.out or files.plan
    overrides = extended(args.overrides, "plugins", args.plugin)
    plan = composed(path, args.profile, overrides)
    if args.out:
        plan.write(path)
    else:
        lock = take(files.lock)  # a live run keeps the plan that it started with
        keep(plan, files)
        lock.release()
    return answer(args.json, plan, _told(path, plan, files))


def _told(path: Path, plan: WorkPlan, files: Layout) -> Iterator[str]:
    jobs = [job for entry in plan.claims for job in entry.jobs]
    runs, skipped = sum(job.has_run for job in jobs), sum(bool(job.skipped) for job in jobs)
    raced = raced_plan(plan, files.measured).jobs()
    left = duration(seconds_left(raced, files.measured, predictor(plan.profile)))
    yield f"{path}: {len(plan.claims)} claims, {len(jobs)} calibrations, {runs} runs, {skipped} skipped"
    yield f"what the store lacks, leaderboards included, takes about {left} on one core"
    yield "(calibrations and runs alone, by times on record: no compilation, judging, figures or site)"


def composed(path: Path, profile: str, overrides: Sequence[str]) -> WorkPlan:
    """Find the plan of a profile: as a file has it unless its stamp is stale, else made now; nothing is written.

    The user's claims that it does not measure are named in a line each on stderr. Raises InputError for overrides that
    do not belong to a plan.
    """
    check_settings(overrides)
    settings = plan_settings(profile, overrides)
    stamp, known = plan_stamp(profile, settings), read_sealed(path)
    if known is None or known.get("stamp") != stamp:
        known = to_jsonable(replace(make_plan(profile, overrides), stamp=stamp))
    plan = restored(known)
    for id in own_claims(settings.claims).keys() - {entry.id for entry in plan.claims}:
        say_once(unmeasured(profile, [id]))
    return plan


def keep(plan: WorkPlan, files: Layout) -> None:
    """Write a plan, and that of each claim and leaderboard by itself, unless the files have it."""
    there = all(files.planned(entry.id).is_file() for entry in plan.entries)
    if there and (read_sealed(files.plan) or {}).get("stamp") == plan.stamp:
        return
    for claim in plan.claims:
        replace(plan, claims=(claim,), boards=()).write(files.planned(claim.id))
    for board in plan.boards:
        replace(plan, claims=(), boards=(board,)).write(files.planned(board.id))
    plan.write(files.plan)


def make_plan(profile: str, overrides: Sequence[str] = (), claims: Sequence[str] | None = None) -> WorkPlan:
    """Plan a whole profile: claims with at least one part in it, and their jobs."""
    settings = plan_settings(profile, overrides)
    ids = claims or [*profile_claims(profile), *own_claims(settings.claims)]
    entries = [staged(claim_plan(id, profile, overrides, settings)) for id in ids]
    boards = plan_boards(profile, settings) if claims is None else []
    return WorkPlan(
        profile,
        tuple(entry for entry in entries if entry.claim.parts),
        tuple(entry for entry in boards if entry.jobs),
    )


def plan_stamp(profile: str, settings: Settings) -> str:
    """Digest everything that the plan is made from."""
    load_plugins(settings.plugins)
    absent = [name for name in list_problems() if problem_class(name).unavailable(Path(settings.data_root))]
    contents = [pins for pins in _own_contents(settings) if pins]
    made_from = hashlib.sha256(dumps_canonical([settings, profile, absent, contents]).encode())
    for path in (
        *conf_files("**/*.yaml"),
        *(file for folder in (PACKAGE_ROOT, *paper_folders().values()) for file in code_files(folder)),
        *plugin_files(settings.plugins),
        *map(Path, (*settings.claims, *settings.boards)),
    ):
        made_from.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return made_from.hexdigest()


def _own_contents(settings: Settings) -> Iterator[Options]:
    """Go through the digests of the files that own claims and leaderboards take their data from."""
    for id, entry in own_claims(settings.claims).items():
        with errors_of(id, settings.claims):
            claim = parse_claim(entry)
            for part in claim.parts:
                with naming(f"claim {claim.id}, part {part.id}"):
                    yield _pins(part, settings)
    for board in own_boards(settings.boards).values():
        for instance in board.instances:
            yield _pins(instance, settings)


def _pins(of: Part | Instance, settings: Settings) -> Options:
    """Digest the files that a part or an instance takes its data from."""
    if not of.problem or not problem_class(of.problem).file_options:
        return {}
    return get_problem(of.problem, **{"root": settings.data_root, **of.problem_options}).pins
