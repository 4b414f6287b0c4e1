"""Verb `gc`: remove what no plan names."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from dpsco_bench.execution.layout import Layout, effective_key, has_run, job_name, planned_entries, read_plan_text
from dpsco_bench.execution.lock import ResultsLock
from dpsco_bench.report.own_figures import figure_names

SUMMARY = "remove results and figures that the plan no longer names"
FOLDERS = ("calibrations", "runs", "ready", "judged", "timings", "verdicts", "standings", "logs", "benchmarks")
FIGURE_SUFFIXES = ("", ".curves", ".time")
"""What a claim's figures are called besides their claim."""
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

    Figures without a paper in their name are not touched; a cached calibration stays while the plan of any profile
    names it.
    """
    entries = planned_entries(plan)
    named = {path for entry in entries for path in named_files(files, entry)}
    figures = {entry["claim"]["id"] + suffix for entry in entries for suffix in FIGURE_SUFFIXES}
    figures |= set(figure_names([entry["claim"]["id"] for entry in plan["claims"]]))
    for folder in FOLDERS:
        for path in _files(files.results / folder):
            if path.relative_to(files.results).with_suffix("").parts not in named:
                yield path
    for path in sorted(files.figures.glob("*.*")):
        if path.suffix in (".svg", ".pdf") and "." in path.stem and path.stem not in figures:
            yield path
    keys = set(_planned_calibration_keys(files))
    yield from (path for path in _files(files.cache) if path.stem.lstrip(".") not in keys)


def named_files(files: Layout, entry: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """What a plan entry names: folder and names below the results, without the suffix."""
    claim = entry["claim"]["id"]
    conclusions = ("standings", "rank") if "board" in entry else ("verdicts", "judge")
    yield (conclusions[0], claim)
    yield from (("logs", step, claim) for step in (conclusions[1], "figure"))
    yield ("logs", "report", "report")
    for job in entry["jobs"]:
        name = (claim, job_name(job))
        steps = {"calibrate": "calibrations"}
        if has_run(job):
            steps["run"] = "runs"
        if has_run(job) and job["timing"]:
            steps["time"] = "timings"
        for step, folder in steps.items():
            yield (folder, *name)
            yield ("logs", step, *name)
            yield ("benchmarks", step, *name)


def _planned_calibration_keys(files: Layout) -> Iterator[str]:
    for path in files.results.parent.glob("*/plan.json"):
        for entry in planned_entries(read_plan_text(path)):
            for job in entry["jobs"]:
                yield from (job["calibration_key"], effective_key(job, "calibration_key"))


def _files(folder: Path) -> list[Path]:
    """Files below a folder, but for those that a job may be writing."""
    now = time.time()
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in found if not path.name.startswith(".") or now - path.stat().st_mtime > FRESH_SECONDS]


def _remove_empty_folders(files: Layout) -> None:
    for folder in FOLDERS:
        for path in sorted((files.results / folder).rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
