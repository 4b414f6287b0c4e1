"""Verb `gc`: remove what no plan names."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from dpsco_bench.execution.layout import Layout, has_run, job_name, read_plan_text
from dpsco_bench.execution.lock import ResultsLock

SUMMARY = "remove results and figures that the plan no longer names"
FOLDERS = ("calibrations", "runs", "timings", "verdicts", "logs", "benchmarks")
MARKER = ".snakemake_timestamp"
"""Snakemake's own file in a folder that is an output."""
FRESH_SECONDS = 3600.0
"""Hidden files younger than this may still be written by a job."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--profile", default="ci", help="smoke, ci or full")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    parser.add_argument("--held", action="store_true", help="the caller holds the lock of the results")


def execute(args: argparse.Namespace) -> int:
    """Remove files and folders left empty; print what went."""
    from dpsco_bench.claims.compose import check_profile

    files = Layout(check_profile(args.profile))
    plan = read_plan_text(files.plan)
    with nullcontext() if args.held or args.dry_run else ResultsLock(files.lock):
        doomed = list(unnamed(files, plan))
        for path in doomed:
            print(path)
            if not args.dry_run:
                path.unlink()
        if not args.dry_run:
            _remove_empty_folders(files)
    print(f"{len(doomed)} files {'would be removed' if args.dry_run else 'removed'}")
    return 0


def unnamed(files: Layout, plan: dict[str, Any]) -> Iterator[Path]:
    """Files of a profile that its plan does not name, and what interrupted jobs left half written.

    Figures that belong to no claim are not touched.
    """
    named: set[tuple[str, ...]] = {("logs", "report", "report")}
    named |= {path for entry in plan["claims"] for path in named_files(files, entry)}
    claims = {entry["claim"]["id"] for entry in plan["claims"]}
    for folder in FOLDERS:
        for path in sorted((files.results / folder).rglob("*")):
            if (
                path.is_file()
                and path.name != MARKER
                and _key(files, path) not in named
                and not _is_being_written(path)
            ):
                yield path
    for path in sorted(files.figures.glob("*.*")):
        if path.suffix in (".svg", ".pdf") and "." in path.stem and path.stem not in claims:
            yield path


def named_files(files: Layout, entry: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """What a plan entry names, as `_key` has it: folder, then names without the suffix."""
    claim = entry["claim"]["id"]
    yield ("verdicts", claim)
    for step in ("calibrate", "judge", "figure"):
        yield ("logs", step, claim)
        yield ("benchmarks", step, claim)
    for job in entry["jobs"]:
        yield ("calibrations", claim, job_name(job))
        for step, folder, wanted in (
            ("run", "runs", has_run(job)),
            ("time", "timings", has_run(job) and job["timing"]),
        ):
            if wanted:
                yield (folder, claim, job_name(job))
                yield ("logs", step, claim, job_name(job))
                yield ("benchmarks", step, claim, job_name(job))


def _key(files: Layout, path: Path) -> tuple[str, ...]:
    """Names of a file below the results, the suffix of the last one cut."""
    return path.relative_to(files.results).with_suffix("").parts


def _is_being_written(path: Path) -> bool:
    return path.name.startswith(".") and time.time() - path.stat().st_mtime < FRESH_SECONDS


def _remove_empty_folders(files: Layout) -> None:
    for folder in FOLDERS:
        for path in sorted((files.results / folder).rglob("*"), reverse=True):
            if path.is_dir() and all(left.name == MARKER for left in path.iterdir()):
                (path / MARKER).unlink(missing_ok=True)
                path.rmdir()
