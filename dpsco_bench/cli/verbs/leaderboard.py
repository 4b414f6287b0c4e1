"""``dpsco leaderboard [ID] [--profile PROFILE]``: all methods on common instances at equal accounted (eps, delta)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpsco_bench.analysis.races import race, raced
from dpsco_bench.claims.jobs import plan_settings
from dpsco_bench.claims.plan import LeftOut
from dpsco_bench.cli import console as ui
from dpsco_bench.cli.overrides import asked_ids
from dpsco_bench.cli.verbs.claim import weigh
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.worker import make_all
from dpsco_bench.leaderboard.board import PREFIX, board_ids, plan_boards
from dpsco_bench.leaderboard.standings import Skipped, Standing, decided_text, standings
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.report.tables import Column, Number

SUMMARY = "which method to pick: all methods on common instances at equal accounted (epsilon, delta)"
EPILOG = """settings: seed=2017 backend=numpy backend.dtype=float64 backend.fused=true data.root=data plugins=[FILE,...]
A board of one's own is given by its file: dpsco leaderboard my_board.yaml --plugin my_method.py
One line per instance and point (n, d, epsilon): the winner and the margin. Those that cannot be told apart stand below.
--all shows every method. Finished jobs are kept in results/store, so an interrupted run resumes."""


def configure(parser: argparse.ArgumentParser) -> None:
    boards = "a board, or its file (default: all boards), and settings"
    parser.add_argument("arguments", nargs="*", metavar="ID|KEY=VALUE", help=boards)
    ui.add_shared(parser, "profile", "json", "plugin")
    parser.add_argument("--all", action="store_true", help="every method, and what was not run with the reason")


def execute(args: argparse.Namespace) -> int:
    """Plan the boards, run what is missing, and print the standings."""
    rows = run_boards(args.profile, *asked_boards(args.arguments, args.plugin))
    return ui.answer(args.json, rows, screen(rows, args.all))


def asked_boards(arguments: Sequence[str], plugins: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Sort arguments into ids of boards, by default all, and settings. Raises InputError for an unknown one."""

    def find(name: str, known: list[str]) -> list[str]:
        id = PREFIX + name.removeprefix(PREFIX)
        if id not in known:
            raise InputError("leaderboard", name, nearest(name, known))
        return [id]

    ids, known, settings = asked_ids(arguments, plugins, "boards", board_ids(), find)
    return ids or known, settings


def run_boards(profile: str, ids: Sequence[str], settings: Sequence[str]) -> list[Standing | Skipped]:
    """Calibrate, run and rank boards; a method that fails is told and left out. Raises its error where all fail."""
    measured, rows, failed = Layout(profile).measured, list[Standing | Skipped](), dict[str, DpscoError]()

    def lost(job: Job, error: DpscoError) -> None:
        ui.say(f"{job.title}: failed: {error}")
        failed.setdefault(job.key, error)  # jobs with one key are made once

    def make(jobs: Sequence[Job]) -> None:
        here = [job for job in jobs if not job.skipped]  # what is skipped is told below the standings
        make_all(here, measured, ui.say, weigh, lost)

    for entry in plan_boards(profile, plan_settings(profile, settings), ids):
        failed.clear()
        entry = race(raced(entry, measured), measured, make)
        jobs = tuple(job for job in entry.jobs if job.key not in failed)
        if failed and not jobs:
            raise next(iter(failed.values()))
        gone: dict[tuple[str, float], LeftOut] = {}  # each method at a point once: of a grid of signals each is a cell
        for job in (job for job in entry.jobs if job.key in failed):
            reason = " ".join(str(failed[job.key]).split())
            gone |= {(cell.method, cell.value): LeftOut.of(cell, "failed", reason) for cell in job.cells}
        rows += standings(replace(entry, jobs=jobs, left_out=(*entry.left_out, *gone.values())), measured.load)
    return rows


def screen(rows: Sequence[Standing | Skipped], everything: bool) -> Iterator[str]:
    points = [row for row in rows if isinstance(row, Standing)]
    if not points:
        yield "no method ran at any point"
    elif everything:
        notes: dict[str, int] = {}
        yield ui.table(METHODS, [line for row in points for line in _methods(row, notes)])
        yield from (ui.labelled(f"({place})", reason, 5) for reason, place in notes.items())
    else:
        yield ui.table(WINNERS, points)
    for row in points:
        yield from _told(row)
    held = {f"{row.instance}, n = {row.n}, d = {row.d}:": row.held_out for row in points if row.held_out}
    for place, found in held.items() if everything else ():  # points on the same records have the same
        yield place
        for key, name in (("trivial", "trivial solution"), ("without_privacy", "without privacy")):
            yield ui.labelled(f"  {name}", f"held out: {ui.held_text(found[key])}", 20)
    failed = ((item.method, item.reason) for row in points for item in row.left_out if item.status == "failed")
    for method, reason in dict.fromkeys(failed):
        yield ui.labelled(f"{method} failed:", reason, len(method) + 9)
    if said := decided_text(points):
        yield ui.labelled("*", said, 2)
    for kind in dict.fromkeys(row.risk_kind for row in points):
        of = dict.fromkeys(row.instance for row in points if row.risk_kind == kind)
        yield ui.labelled(f"{kind} risks:", ", ".join(of), len(kind) + 8)
    yield from (f"{row.instance}: skipped: {row.skipped}" for row in rows if row.skipped)


def _winner(row: Standing) -> str:
    others = f" = {len(row.tied) - 1} more" * (len(row.tied) > 1)
    first = "none proven private" if row.runner_up is None else row.tied[0] + others
    return "undecided" if row.contenders else first


def _margin(row: Standing) -> str:
    return f"{ui.number(row.margin, 2)} {ui.interval(row.margin_ci)}" if row.decided else "-"


POINT = {"instance": Column("instance"), **{name: Number(name, ui.digits()) for name in ("n", "d", "epsilon")}}
WINNERS = {
    **POINT,
    "winner": Column(_winner),
    "risk": Number("least", ui.digits(3)),
    "margin [95 %]": Number(_margin),
    "search": Number(lambda row: ui.number(row.search and row.search.risk, 3)),
    "trivial": Number("trivial", ui.digits(3)),
}
METHODS = {
    **{**POINT, "method": Column("method"), "risk [95 %]": Number("risk"), **ui.held_out("held_out_")},
    **{"gradients": Number("gradient_evaluations", ui.digits(3)), "": Column("says")},
}


def _methods(row: Standing, notes: dict[str, int]) -> Iterator[Plain]:
    """Give a row of the table for each method, and each that did not run; reasons are numbered in ``notes``."""

    def note(reason: str) -> str:
        return f"({notes.setdefault(reason, len(notes) + 1)})"

    for method in row.methods:
        says = "" if method.ranked else f"not ranked {note(STATUS_WORDS[method.privacy_status])}"
        if method.dropped:
            says = f"dropped after {method.dropped}"
        if method.tied:
            says = "first" if len(row.tied) == 1 else "tied"
            says += f" {note('first of those that were run')}" if row.contenders else ""
        yield {
            **vars(row),
            **vars(method),
            "risk": f"{ui.number(method.risk, 3)} {ui.interval(method.ci)}",
            "says": says,
        }
    for item in row.left_out:
        yield {**vars(row), **vars(item), "says": f"{item.status.replace('_', ' ')} {note(item.reason)}"}


def _told(row: Standing) -> list[str]:
    """Say who is tied, and what deciding takes where contenders are left out as too long; nothing of a sole winner."""
    place = f"{row.instance}, n = {row.n}, d = {row.d}, epsilon = {ui.number(row.epsilon)}:"
    if row.contenders:
        left = "; ".join(f"{one.method} takes {one.cost}" for one in row.contenders)
        return [place, ui.labelled("  undecided", f"{' = '.join(row.tied)} of those run; {left}")]
    if row.runner_up is None:
        ran = f"{len(row.methods)} ran without a proof, which --all shows" if row.methods else "--all says why"
        return [place, ui.labelled("  not compared", f"no method whose privacy is proven ran; {ran}", 16)]
    return [place, ui.labelled("  tied", " = ".join(row.tied))] if len(row.tied) > 1 else []
