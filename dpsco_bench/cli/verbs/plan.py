"""Verb `plan`: compose the claims of a profile into the plan that the workflow reads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.cli.options import add_json, add_plugins
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.store import read_sealed

SUMMARY = "compose every claim of a profile into results/<profile>/plan.json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="Hydra overrides, e.g. seed=1 backend=cupy")
    parser.add_argument("--profile", default="ci", help="smoke, ci or full")
    parser.add_argument("--out", type=Path, help="plan file (default: results/<profile>/plan.json)")
    add_json(parser)
    add_plugins(parser)


def execute(args: argparse.Namespace) -> int:
    """Write the plan if it is stale, and say what is in it."""
    from dpsco_bench.claims.compose import check_profile
    from dpsco_bench.cli.output import print_json
    from dpsco_bench.cli.overrides import extended
    from dpsco_bench.cli.verbs.gate import predictor
    from dpsco_bench.execution.lock import take
    from dpsco_bench.execution.progress import duration
    from dpsco_bench.execution.worker import seconds_left

    files = Layout(check_profile(args.profile))
    path = args.out or files.plan
    overrides = extended(args.overrides, "plugins", args.plugin)
    plan = composed(path, args.profile, overrides)
    if args.out:
        plan.write(path)
    else:
        lock = take(files.lock)  # a live run keeps the plan that it started with
        keep(plan, files)
        lock.release()
    if args.json:
        print_json(plan.to_json())
        return 0
    jobs = [job for entry in plan.claims for job in entry.jobs]
    runs, skipped = sum(job.has_run for job in jobs), sum(bool(job.skipped) for job in jobs)
    left = duration(seconds_left(plan.jobs(), files.measured, predictor(plan.profile)))
    print(f"{path}: {len(plan.claims)} claims, {len(jobs)} calibrations, {runs} runs, {skipped} skipped")
    print(f"what the store lacks, leaderboards included, takes about {left} on one core")
    print("(calibrations and runs alone, by times on record: no compilation, judging, figures or site)")
    return 0


def composed(path: Path, profile: str, overrides: Sequence[str]) -> WorkPlan:
    """The plan of a profile, from a file unless that is stale; nothing is written.

    Raises InputError for overrides that Hydra refuses, or that do not belong to a plan.
    """
    from dpsco_bench.cli.planning import fresh_plan

    if overrides:
        from dpsco_bench.cli.claiming import check_settings

        check_settings(overrides)
    with _one_line_composition(overrides):
        return fresh_plan(path, profile, list(overrides))


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


@contextmanager
def _one_line_composition(overrides: Sequence[str]) -> Iterator[None]:
    """Turn what Hydra says about overrides into an `InputError`."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        said = " ".join(str(error).split("Config search path")[0].split())
        raise InputError("overrides", " ".join(overrides), "overrides of conf/plan.yaml", said) from None
