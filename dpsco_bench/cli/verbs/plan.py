"""Verb `plan`: compose the claims of a profile into the plan that the workflow reads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.cli.options import add_json, add_plugins
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.lock import ResultsLock
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
    from dpsco_bench.execution.packs import seconds_left
    from dpsco_bench.execution.progress import duration

    files = Layout(check_profile(args.profile))
    path = args.out or files.plan
    overrides = extended(args.overrides, "plugins", args.plugin)
    plan = composed(path, args.profile, overrides) if args.out else current_plan(args.profile, overrides, files)
    keep(plan, path)
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


def current_plan(profile: str, overrides: Sequence[str], files: Layout) -> WorkPlan:
    """The plan of a profile, up to date but not written; a live run keeps the plan it started with.

    Raises
    ------
    InputError
        For overrides that Hydra refuses.
    ResultsInUse
        If the plan is stale while another process works on the same results.
    """
    from dpsco_bench.claims.compose import plan_stamp

    lock = ResultsLock(files.lock)
    if not lock.is_free():
        with _one_line_composition(overrides):
            fresh = (read_sealed(files.plan) or {}).get("stamp") == plan_stamp(profile, overrides)
        if not fresh:
            with lock:  # says who holds it
                pass
    return composed(files.plan, profile, overrides)


def composed(path: Path, profile: str, overrides: Sequence[str]) -> WorkPlan:
    """The plan of a profile, from a file unless that is stale; nothing is written.

    Raises
    ------
    InputError
        For overrides that Hydra refuses, or that do not belong to a plan.
    """
    from dpsco_bench.claims.compose import fresh_plan

    if overrides:
        from dpsco_bench.cli.claiming import check_settings

        check_settings(overrides)
    with _one_line_composition(overrides):
        return fresh_plan(path, profile, list(overrides))


def keep(plan: WorkPlan, path: Path) -> None:
    """Write a plan unless the file has it."""
    if (read_sealed(path) or {}).get("stamp") != plan.stamp:
        plan.write(path)


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
