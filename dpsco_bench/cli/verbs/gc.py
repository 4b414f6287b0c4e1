"""Verb `gc`: remove what no plan names."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from dpsco_bench.claims.plan import WorkPlan, read_plan
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.lock import ResultsLock
from dpsco_bench.execution.measured import items
from dpsco_bench.execution.packs import JOINED, STEPS, is_wanted
from dpsco_bench.execution.store import DAMAGED
from dpsco_bench.jsonio import is_abandoned, is_draft
from dpsco_bench.report.own_figures import figure_names

SUMMARY = "remove results and figures that no plan names"
EPILOG = """What `claim` and `leaderboard` measured at settings that no plan has goes too. So do drafts of interrupted
writes, if nothing was written to them for an hour and their process no longer runs."""
FOLDERS = ("concluded", "verdicts", "standings", "logs", "benchmarks", "packs", "failures")
FIGURE_SUFFIXES = ("", ".curves", ".time", ".shown")
"""What a claim's figures are called besides their claim."""
FRESH_SECONDS = 3600.0
"""Files younger than this that are half written, or locks, may be in use."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--profile", default="ci", help="smoke, ci or full")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    parser.add_argument("--held", action="store_true", help="the caller holds the lock of the results")


def execute(args: argparse.Namespace) -> int:
    """Remove files and folders left empty; print what went."""
    from dpsco_bench.claims.compose import check_profile

    files = Layout(check_profile(args.profile))
    plan = read_plan(files.plan)
    with nullcontext() if args.held or args.dry_run else ResultsLock(files.lock):
        doomed = [*unnamed(files, plan), *unnamed_items(files), *abandoned_drafts(files)]
        for path in doomed:
            print(path)
            if not args.dry_run:
                _remove(path)
        if not args.dry_run:
            _remove_empty_folders(files)
    print(f"{len(doomed)} files {'would be removed' if args.dry_run else 'removed'}")
    return 0


def _remove(path: Path) -> None:
    """Remove a file, or a folder that was set aside from a file's place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def unnamed(files: Layout, plan: WorkPlan) -> Iterator[Path]:
    """Files of a profile that its plan does not name. Figures without a paper in their name are not touched."""
    ids = {entry.id for entry in plan.entries}
    papers = {entry.paper for entry in plan.entries}
    for folder in FOLDERS:
        for path in _files(files.results / folder):
            name = path.name.removesuffix(path.suffix)
            if name not in ids | papers | {"site"} and not _of_pack(path, papers):
                yield path
    figures = {id + suffix for id in ids for suffix in FIGURE_SUFFIXES} | set(figure_names([e.id for e in plan.claims]))
    for path in sorted(files.figures.glob("*.*")):
        name = path.stem.removeprefix(".")
        if (
            not is_draft(path)
            and path.suffix in (".svg", ".pdf", ".drawn", DAMAGED)
            and "." in name
            and name not in figures
        ):
            yield path
    yield from sorted(files.results.glob(f"*{DAMAGED}"))


def _of_pack(path: Path, papers: set[str]) -> bool:
    """Whether a file is the log or benchmark of a pack of papers."""
    return path.parent.name in STEPS and {*path.name.split(".")[0].split(JOINED)} <= papers


def unnamed_items(files: Layout) -> Iterator[Path]:
    """Files of the store that belong to no job of any profile's plan, and what was set aside."""
    named = set()
    for path in files.results.parent.glob("*/plan.json"):
        for job in read_plan(path).jobs():
            for step in STEPS:
                named |= {*items(step, job)} if is_wanted(step, job) or job.skipped else set()
    store = files.measured.store
    for kind, key, path in store.files():
        if is_draft(path):
            continue
        fresh = time.time() - path.stat().st_mtime < FRESH_SECONDS
        if kind == "locks" or path.name.startswith(".") or kind == "pieces":
            if not fresh:
                yield path
        elif (kind, key) not in named or path not in (store.path(kind, key), store.manifest(kind, key)):
            yield path


def abandoned_drafts(files: Layout) -> Iterator[Path]:
    """What interrupted writes have left, in the results of any profile and among its figures."""
    for folder in (files.results.parent, files.figures.parent):
        for path in sorted(folder.rglob(".*.part.*")):
            if is_draft(path) and path.is_file() and is_abandoned(path, FRESH_SECONDS):
                yield path


def _files(folder: Path) -> list[Path]:
    """Files below a folder, but for those that a job may be writing."""
    now = time.time()
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not is_draft(path)]
    return [path for path in found if not path.name.startswith(".") or now - path.stat().st_mtime > FRESH_SECONDS]


def _remove_empty_folders(files: Layout) -> None:
    for folder in FOLDERS:
        for path in sorted((files.results / folder).rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
