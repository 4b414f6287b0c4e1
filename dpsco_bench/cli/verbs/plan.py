"""Verb `plan`: compose the claims of a profile into the plan that jobs read, and its outline for the Snakefile."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256

from dpsco_bench.analysis.judge import judge_digest
from dpsco_bench.analysis.races import raced, raced_plan
from dpsco_bench.analysis.stages import staged
from dpsco_bench.claims.bounds.registry import bound_modules
from dpsco_bench.claims.catalogue import conf_files, own_claims, profile_claims
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.jobs import claim_plan, plan_settings, unmeasured
from dpsco_bench.claims.kinds import KINDS
from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.cli.console import add_shared, answer
from dpsco_bench.cli.outline import Outline, Outlined, state
from dpsco_bench.cli.overrides import check_settings, extended, listed_by
from dpsco_bench.cli.verbs.gate import predictor
from dpsco_bench.execution.digest import ROOT as PACKAGE_ROOT
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.execution.job_results import is_wanted
from dpsco_bench.execution.jobs import Entry, part_of
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import check_given, plugin_files
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.store import take
from dpsco_bench.execution.worker import seconds_left
from dpsco_bench.jsonio import digest, dumps_pretty, write_atomic
from dpsco_bench.leaderboard.board import Board, plan_boards
from dpsco_bench.paths import documents, shared_dir
from dpsco_bench.plain import Plain
from dpsco_bench.registry import REGISTRIES, modules_in, papers, roots, say_once
from dpsco_bench.report.findings import FINDINGS
from dpsco_bench.report.own_figures import figure_names

SUMMARY = "compose every claim of a profile into results/<profile>/plan.json"
DRAWN_IN = ("figures", "tables")  # modules or folders of a paper that say how its claims are shown
SHOWN_IN = (*DRAWN_IN, "findings", "algorithms", "bounds")
"""Modules that pages show besides: findings, listings, formulas, and the words of letters."""
LONGEST_CLAIMS, LEAST_SECONDS = 6, 10.0
"""How many claims are split, and the predicted seconds from which a part of one is a job of its own."""


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


def make_outline(files: Layout, config: Plain, overrides: Sequence[str]) -> Outline:
    """Make the plan, and write it and its outline where the results can be written.

    Raises DpscoError if another run works on them, or a plan names plug-ins that are not given here.
    """
    lock = None
    with suppress(OSError):  # a dry run over results that cannot be written
        lock = take(files.lock)
    try:
        plan = make_plan(files.profile, overrides)
        jobs = [*plan.jobs()]
        check_given(path for job in jobs for path in job.plugins)
        own_data = {
            str(cell.problem_options["path"]) for j in jobs for cell in j.cells if "path" in cell.problem_options
        }
        watched = tuple(sorted({*map(str, plugin_files(listed_by(overrides, "plugins"))), *own_data}))
        outline = _outlined(files, plan, state(config, watched), watched)
        if lock:
            keep(plan, files)
            write_atomic(files.outline, dumps_pretty(outline))
    finally:
        if lock:
            lock.release()
    return outline


def _outlined(files: Layout, plan: WorkPlan, made_from: str, watched: tuple[str, ...]) -> Outline:
    predict, measured = predictor(files.profile), files.measured
    seconds: dict[str, dict[str, float]] = {}  # predicted, of a claim's parts or a leaderboard's instances
    for entry in plan.entries:
        own = seconds.setdefault(entry.id, defaultdict(float))
        for job in entry.jobs:
            own[part_of(job)] += sum(predict(step, job) for step in ("calibrate", "run") if is_wanted(step, job))
    longest = sorted((entry.id for entry in plan.claims), key=lambda id: -sum(seconds[id].values()))[:LONGEST_CLAIMS]
    claims, boards = {}, {}
    for claim in map(measured.present, plan.claims):
        own, kinds = seconds[claim.id], sorted({KINDS.module(part.kind) for part in claim.claim.parts})
        split = claim.id in longest and len(own) > 1
        parts = {part: spent for part, spent in own.items() if spent > LEAST_SECONDS} if split else {}
        claims[claim.id] = _entry(claim, claim.claim.title, judge_digest(claim), kinds, own, parts)
    for board in plan.boards:
        found = raced(board, measured) if any(job.skipped for job in board.jobs) else board
        bounds = {instance.lower_bound for instance in Board.of(board).instances} - {""}
        modules = {module for name in bounds for module in bound_modules(name)}
        code = code_digest(["dpsco_bench.leaderboard.standings", *modules])
        title = f"{board.board['title']} Standings and phase diagrams of {board.id}."
        boards[board.id] = _entry(found, title, code, (), seconds[board.id], seconds[board.id])
    return Outline(made_from, watched, claims, boards, tuple(figure_names(claims)), site_digest(files.profile))


def _entry(
    entry: Entry,
    title: str,
    code: str,
    kinds: Iterable[str],
    seconds: Mapping[str, float],
    parts: Mapping[str, float],
) -> Outlined:
    """Digest what a claim or leaderboard is concluded from, by ``code``, what draws it, and what measures its parts."""
    jobs = [(job, (job.name, job.key, job.calibration_key, job.skipped)) for job in entry.jobs]
    timed = [job.key for job in entry.jobs if is_wanted("time", job)]
    rest = sum(spent for part, spent in seconds.items() if part not in parts)
    return Outlined(
        title,
        digest([entry.digest, [(*keys, job.present) for job, keys in jobs], code]),
        digest([verb_digest("figure"), drawing_digest(entry.paper), code_digest([*kinds, *own_drawing()])]),
        {part: digest([(*keys, job.decisions) for job, keys in jobs if part_of(job) == part]) for part in parts},
        digest(timed) if timed else "",
        {"": round(rest, 1), **{part: round(spent, 1) for part, spent in parts.items()}},
    )


def site_digest(profile: str) -> str:
    """Digest what pages show besides results: configuration, documents, recorded verdicts, the lock, and the code."""
    groups = ("claim/*/*", "table/*/*", "errata/*", "paper/*")
    files = [(path.name, digest(read_shipped(path))) for group in groups for path in conf_files(f"{group}.yaml")]
    beside = [*documents().values(), *sorted(shared_dir("docs").glob("*.svg"))]
    beside += [shared_dir("workflows") / f"recorded/{profile}.json", shared_dir("requirements") / "lock.txt"]
    files += [(path.name, sha256(path.read_bytes()).hexdigest()) for path in beside if path.is_file()]
    drawn = [drawing_digest(paper, SHOWN_IN) for paper in sorted(papers())]
    return digest([verb_digest("site"), drawn, code_digest([*own_drawing(), f"dpsco_bench.{FINDINGS.core}"]), files])


@cache
def drawing_digest(paper: str, places: Sequence[str] = DRAWN_IN) -> str:
    """Digest of the modules in which a paper keeps figures, labels, styles and computed tables; it may have none."""
    package = papers().get(paper)
    if package is None:
        return ""
    own = [package] if package.split(".")[0] != "dpsco_bench" else []  # its own ``__init__`` may register some
    return code_digest([*own, *(name for kept in places for name in modules_in(f"{package}.{kept}"))])


def own_drawing() -> list[str]:
    """List modules of plugins and of helpers that say how something is shown; papers' are found by their places."""
    shown = (registry for registry in REGISTRIES if registry.folder in (*DRAWN_IN, FINDINGS.folder))
    homes, of_papers = {home for registry in shown for home in registry.registered().values()}, roots()
    return sorted(home for home in homes if home.split(".")[0] not in of_papers)


@cache
def verb_digest(verb: str) -> str:
    """Digest of a verb's code and of the styles of figures and pages."""
    kept = [path for room in ("report", "site") for path in sorted((PACKAGE_ROOT / room).rglob("*"))]
    files = [path for path in kept if path.is_file() and path.suffix not in (".py", ".pyc")]
    return code_digest([f"dpsco_bench.cli.verbs.{verb}"], [p for p in files if p.parent.name != "__pycache__"])
