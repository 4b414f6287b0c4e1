"""Verb `gc`: remove what no plan names."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from dpsco_bench.analysis.races import raced_plan
from dpsco_bench.claims.plan import WorkPlan, read_plan
from dpsco_bench.cli.console import add_shared
from dpsco_bench.execution.job_results import STEPS, is_wanted
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.store import take
from dpsco_bench.jsonio import is_draft
from dpsco_bench.report.own_figures import figure_names

SUMMARY = "remove results and figures that no plan names"
EPILOG = """What `claim` and `leaderboard` measured at settings that no plan has goes too. So do drafts of interrupted
writes, once they are an hour old."""
FOLDERS = ("plan", "parts", "timed", "verdicts", "standings", "logs")
FIGURE_SUFFIXES = ("", ".curves", ".time", ".collapse")
FRESH_SECONDS = 3600.0  # files younger than this that are half written, or locks, may be in use


def configure(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "profile")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    parser.add_argument("--held", action="store_true", help="do not lock the results: the caller has")


def execute(args: argparse.Namespace) -> int:
    """Remove files and folders left empty; print what went."""
    files = Layout(args.profile)
    plan = read_plan(files.plan)
    lock = None if args.held or args.dry_run else take(files.lock)
    doomed = [*unnamed(files, plan), *unnamed_items(files), *old_drafts(files)]
    for path in doomed:
        print(path)
        if not args.dry_run:
            path.unlink(missing_ok=True)
    for folder in () if args.dry_run else FOLDERS:
        for path in sorted((files.results / folder).rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
    if lock:
        lock.release()
    print(f"{len(doomed)} files {'would be removed' if args.dry_run else 'removed'}")
    return 0


def unnamed(files: Layout, plan: WorkPlan) -> Iterator[Path]:
    """Files of a profile that its plan does not name. Figures without a paper in their name are not touched."""
    ids = {entry.id for entry in plan.entries}
    for path in (path for folder in FOLDERS for path in sorted((files.results / folder).rglob("*"))):
        name = path.parent.name if path.is_relative_to(files.results / "parts") else path.stem
        named = any(f"{name}.".startswith(f"{id}.") for id in ids) or name in ("site", "gate")
        if path.is_file() and not is_draft(path) and not named:
            yield path
    figures = {id + suffix for id in ids for suffix in FIGURE_SUFFIXES} | set(figure_names([e.id for e in plan.claims]))
    for path in sorted(files.figures.glob("*.*")):
        known = is_draft(path) or "." not in path.stem or path.stem in figures
        if path.suffix in (".svg", ".pdf") and not known:
            yield path


def unnamed_items(files: Layout) -> Iterator[Path]:
    """Files of the store that belong to no job of any profile's plan."""
    named = set()
    for path in files.results.parent.glob("*/plan.json"):
        for job in raced_plan(read_plan(path), files.measured).jobs():
            for step in STEPS:
                named |= {*files.measured.items(step, job)} if is_wanted(step, job) or job.skipped else set()
            named |= {("runs", block.key) for block in job.blocks} if job.has_run else set()
    for kind, key, path in files.measured.store.files():
        unused = _is_old(path) if kind in ("locks", "pieces") else (kind, key) not in named  # no plan names these
        if unused and not is_draft(path):
            yield path


def old_drafts(files: Layout) -> Iterator[Path]:
    """Find files that interrupted writes left, in results and figures of any profile."""
    found = (path for at in (files.results.parent, files.figures.parent) for path in sorted(at.rglob(".*.part.*")))
    return (path for path in found if is_draft(path) and path.is_file() and _is_old(path))


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > FRESH_SECONDS
