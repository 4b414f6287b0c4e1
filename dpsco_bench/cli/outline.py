"""Make the outline of a profile: compose the plan, and digest what each conclusion is made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from typing import Any

from dpsco_bench.analysis.judge import judge_digest
from dpsco_bench.analysis.races import raced
from dpsco_bench.claims.bounds.registry import bound_modules
from dpsco_bench.claims.catalogue import conf_files
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.kinds import KINDS
from dpsco_bench.claims.plan import BoardEntry, ClaimEntry, WorkPlan
from dpsco_bench.cli.outlined import Outline, Outlined, state
from dpsco_bench.cli.overrides import listed_by
from dpsco_bench.cli.verbs.gate import predictor
from dpsco_bench.cli.verbs.plan import keep, make_plan
from dpsco_bench.execution.digest import ROOT as PACKAGE_ROOT
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.execution.job_results import is_wanted
from dpsco_bench.execution.jobs import Entry, Job, part_of
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import check_given, plugin_files
from dpsco_bench.execution.predict import Predictor
from dpsco_bench.execution.store import take
from dpsco_bench.jsonio import digest, dumps_pretty, write_atomic
from dpsco_bench.leaderboard.board import Board
from dpsco_bench.paths import documents, shared_dir
from dpsco_bench.plain import Plain
from dpsco_bench.registry import REGISTRIES, modules_in, papers, roots
from dpsco_bench.report.findings import FINDINGS
from dpsco_bench.report.own_figures import figure_names

DRAWN_IN = ("figures", "tables")  # modules or folders of a paper that say how its claims are shown
SHOWN_IN = (*DRAWN_IN, "findings", "algorithms", "bounds")
"""Modules that pages show besides: findings, listings, formulas, and the words of letters."""
LONGEST_CLAIMS, LEAST_SECONDS = 6, 10.0
"""How many claims are split, and the predicted seconds from which a part of one is a job of its own."""


def make_outline(files: Layout, config: Plain, overrides: Sequence[str]) -> Outline:
    """Make the plan, and write it and its outline where the results can be written.

    Raises DpscoError if another run works on them.
    """
    lock = None
    with suppress(OSError):  # a dry run over results that cannot be written
        lock = take(files.lock)
    try:
        plan = make_plan(files.profile, overrides)
        problems = (cell.problem_options for job in plan.jobs() for cell in job.cells)
        own_data = {str(options["path"]) for options in problems if "path" in options}
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
    claims = {entry.id: measured.present(entry) for entry in plan.claims}
    boards = {entry.id: entry for entry in plan.boards}
    boards |= {id: raced(entry, measured) for id, entry in boards.items() if any(job.skipped for job in entry.jobs)}
    seconds = {entry.id: _seconds(entry, predict) for entry in plan.entries}
    longest = sorted(claims, key=lambda id: -sum(seconds[id].values()))[:LONGEST_CLAIMS]
    return Outline(
        made_from,
        watched,
        {id: _claim(entry, seconds[id], id in longest) for id, entry in claims.items()},
        {id: _board(entry, seconds[id]) for id, entry in boards.items()},
        tuple(figure_names(claims)),
        site_digest(files.profile),
    )


def _seconds(entry: Entry, predict: Predictor) -> dict[str, float]:
    """Predicted seconds of a claim's parts, or of a leaderboard's instances."""
    found: dict[str, float] = defaultdict(float)
    for job in entry.jobs:
        found[part_of(job)] += sum(predict(step, job) for step in ("calibrate", "run") if is_wanted(step, job))
    return found


def _claim(entry: ClaimEntry, seconds: Mapping[str, float], split: bool) -> Outlined:
    """Outline a claim by its entry, its jobs and the code that judges. Raises InputError for plugins not given here."""
    check_given(path for job in entry.jobs for path in job.plugins)
    jobs = [(*_keys(job), job.present) for job in entry.jobs]
    parts = [part for part, spent in seconds.items() if split and spent > LEAST_SECONDS and len(seconds) > 1]
    timed = [job.key for job in entry.jobs if is_wanted("time", job)]
    kinds = sorted({KINDS.module(part.kind) for part in entry.claim.parts})
    made_from, of_parts = digest([entry.digest, jobs, judge_digest(entry)]), _of_parts(entry, seconds, parts, kinds)
    return Outlined(entry.claim.title, made_from, timed=digest(timed) if timed else "", **of_parts)


def _board(entry: BoardEntry, seconds: Mapping[str, float]) -> Outlined:
    """Outline a leaderboard by its entry, its jobs, and the code that ranks."""
    names = {instance.lower_bound for instance in Board.of(entry).instances} - {""}
    bounds = {module for name in names for module in bound_modules(name)}
    code = code_digest(["dpsco_bench.leaderboard.standings", *sorted(bounds)])
    title = f"{entry.board['title']} Standings and phase diagrams of {entry.id}."
    made_from = digest([entry.digest, [_keys(job) for job in entry.jobs], code])
    return Outlined(title, made_from, **_of_parts(entry, seconds, list(seconds)))


def _keys(job: Job) -> tuple[str, ...]:
    return job.name, job.key, job.calibration_key, job.skipped


def _of_parts(
    entry: Entry, seconds: Mapping[str, float], parts: Sequence[str], kinds: Sequence[str] = ()
) -> dict[str, Any]:
    """Digest what draws the figures, and the parts that are jobs of their own, each with its predicted seconds."""
    keys: dict[str, list[Any]] = {part: [] for part in parts}
    for job in entry.jobs:
        if (part := part_of(job)) in keys:
            keys[part].append((*_keys(job), job.decisions))
    rest = sum(spent for part, spent in seconds.items() if part not in parts)
    drawn = [verb_digest("figure"), drawing_digest(entry.paper), code_digest([*kinds, *own_drawing()])]
    return {
        "figure": digest(drawn),
        "parts": {part: digest(own) for part, own in keys.items()},
        "seconds": {"": round(rest, 1), **{part: round(seconds[part], 1) for part in parts}},
    }


def site_digest(profile: str) -> str:
    """Digest what pages show besides results: configuration, documents, recorded verdicts, the lock, and the code."""
    groups = ("claim/*/*", "table/*/*", "errata/*", "paper/*")
    files = [(path.name, digest(read_shipped(path))) for group in groups for path in conf_files(f"{group}.yaml")]
    beside = [*documents().values(), *sorted(shared_dir("docs").glob("*.svg"))]
    beside += [shared_dir("workflows") / f"recorded/{profile}.json", shared_dir("requirements") / "lock.txt"]
    files += [(path.name, sha256(path.read_bytes()).hexdigest()) for path in beside if path.is_file()]
    drawn = [*(drawing_digest(paper, SHOWN_IN) for paper in sorted(papers())), code_digest(own_drawing())]
    found = code_digest([f"dpsco_bench.{FINDINGS.core}"])
    return digest([verb_digest("site"), drawn, found, files])


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
