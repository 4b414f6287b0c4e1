"""Make the outline of a profile: compose the plan, and digest what each conclusion is made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from dpsco_bench.claims.plan import BoardEntry, ClaimEntry, WorkPlan
from dpsco_bench.cli.depends import board_digest, claim_digest, figure_digest, site_digest
from dpsco_bench.cli.outlined import Outline, Outlined, state
from dpsco_bench.cli.overrides import listed_by
from dpsco_bench.cli.verbs.gate import predictor
from dpsco_bench.cli.verbs.plan import composed, keep
from dpsco_bench.execution.job_results import is_wanted
from dpsco_bench.execution.jobs import Entry, part_of
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.lock import take
from dpsco_bench.execution.plugins import load_plugins, plugin_files
from dpsco_bench.jsonio import digest, dumps_pretty, write_atomic
from dpsco_bench.plain import Plain
from dpsco_bench.report.own_figures import figure_names

LONGEST_CLAIMS, LEAST_SECONDS = 6, 10.0
"""How many claims are split, and the predicted seconds from which a part of one is a job of its own."""


def make_outline(files: Layout, config: Plain, overrides: Sequence[str]) -> Outline:
    """Compose the plan where it is stale, and write plan and outline where the results can be written.

    Raises ResultsInUse if another run works on them.
    """
    lock = None
    with suppress(PermissionError, OSError):  # a dry run over results that cannot be written
        lock = take(files.lock)
    try:
        plugins = listed_by(overrides, "plugins")
        load_plugins(plugins)
        plan = composed(files.plan, files.profile, overrides)
        watched = tuple(sorted({*map(str, plugin_files(plugins)), *_pinned(plan)}))
        outline = _outlined(files, plan, state(config, watched), watched)
        if lock:
            keep(plan, files)
            write_atomic(files.outline, dumps_pretty(outline))
    finally:
        if lock:
            lock.release()
    return outline


def _pinned(plan: WorkPlan) -> set[str]:
    """The user's own data files."""
    problems = (cell.problem_options for job in plan.jobs() for cell in job.cells)
    return {str(options["path"]) for options in problems if "path" in options}


def _outlined(files: Layout, plan: WorkPlan, made_from: str, watched: tuple[str, ...]) -> Outline:
    predict, measured = predictor(files.profile), files.measured
    claims = {entry.id: measured.present(entry) for entry in plan.claims}
    boards = {entry.id: measured.present(entry) for entry in plan.boards}
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


def _seconds(entry: Entry, predict: object) -> Counter[str]:
    """Predicted seconds of a claim's parts, or of a leaderboard's instances."""
    found: Counter[str] = Counter()
    for job in entry.jobs:
        found[part_of(job)] += sum(predict(step, job) for step in ("calibrate", "run") if is_wanted(step, job))  # type: ignore[operator]
    return found


def _measured_by(entry: Entry, part: str) -> str:
    """Digest of what a part is measured by."""
    jobs = [job for job in entry.jobs if part_of(job) == part]
    return digest([(job.name, job.key, job.calibration_key, job.skipped) for job in jobs])


def _claim(entry: ClaimEntry, seconds: Mapping[str, float], split: bool) -> Outlined:
    parts = [part for part, spent in seconds.items() if split and spent > LEAST_SECONDS and len(seconds) > 1]
    timed = [job.key for job in entry.jobs if is_wanted("time", job)]
    return Outlined(
        entry.claim.title,
        claim_digest(entry),
        figure_digest(entry.id),
        {part: _measured_by(entry, part) for part in parts},
        digest(timed) if timed else "",
        _rounded(seconds, parts),
    )


def _board(entry: BoardEntry, seconds: Mapping[str, float]) -> Outlined:
    title = f"{entry.board['title']} Standings and phase diagrams of {entry.id}."
    parts = {part: _measured_by(entry, part) for part in seconds}
    return Outlined(title, board_digest(entry), figure_digest(entry.id), parts, "", _rounded(seconds, list(parts)))


def _rounded(seconds: Mapping[str, float], parts: Sequence[str]) -> dict[str, float]:
    rest = sum(spent for part, spent in seconds.items() if part not in parts)
    return {"": round(rest, 1), **{part: round(seconds[part], 1) for part in parts}}
