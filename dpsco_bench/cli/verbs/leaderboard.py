"""``dpsco leaderboard [ID] [--profile PROFILE]``: all methods on common instances at equal accounted (eps, delta)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsco_bench.cli.options import add_json, add_plugins
from dpsco_bench.cli.output import Column, Row, labelled, number, print_json, table
from dpsco_bench.privacy.ledger import STATUS_WORDS

if TYPE_CHECKING:
    from dpsco_bench.analysis.ranking import Skipped, Standing, Unrun
    from dpsco_bench.execution.summary import HeldOut

SUMMARY = "which method to pick: all methods on common instances at equal accounted (epsilon, delta)"
EPILOG = """settings: seed=2017 backend=numpy backend.dtype=float64 backend.fused=true data.root=data plugins=[FILE,...]
A board of one's own is given by its file: dpsco leaderboard my_board.yaml --plugin my_method.py
One line per instance and point (n, d, epsilon): the winner and the margin. Those that cannot be told apart stand below.
--all shows every method. Finished jobs are kept in results/store, so an interrupted run resumes."""
POINT = (
    Column("instance", "instance"),
    Column("n", "n", numeric=True),
    Column("d", "d", numeric=True),
    Column("epsilon", "epsilon", numeric=True),
)
COLUMNS = (
    *POINT,
    Column("first", "winner"),
    Column("risk", "risk", numeric=True),
    Column("margin", "margin [95 %]", numeric=True),
    Column("search", "search", numeric=True),
    Column("trivial", "trivial", numeric=True),
)
ALL_COLUMNS = (
    *POINT,
    Column("method", "method"),
    Column("risk", "risk [95 %]", numeric=True),
    Column("loss", "held out: loss", numeric=True),
    Column("accuracy", "accuracy", numeric=True),
    Column("gradients", "gradients", numeric=True),
    Column("says", ""),
)
HELD_OUT = ("loss", "accuracy")
"""Columns that a table has where a point of it has such numbers."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "arguments", nargs="*", metavar="ID|KEY=VALUE", help="a board, or its file (default: all boards), and settings"
    )
    parser.add_argument("--profile", default="ci", help="smoke, ci or full (default: ci)")
    parser.add_argument("--all", action="store_true", help="every method, and what was not run with the reason")
    add_json(parser)
    add_plugins(parser)


def execute(args: argparse.Namespace) -> int:
    """Plan the boards, run what is missing, and print the standings."""
    from dpsco_bench.claims.compose import check_profile
    from dpsco_bench.cli.boards import asked_boards, board_entries, run_board
    from dpsco_bench.execution.layout import Layout

    check_profile(args.profile)
    ids, settings = asked_boards(args.arguments, args.plugin)
    measured = Layout(args.profile).measured
    rows = [row for entry in board_entries(ids, args.profile, settings) for row in run_board(entry, measured)]
    if args.json:
        print_json(rows)
    else:
        _print(rows, args.all)
    return 0


def _print(rows: Sequence[Standing | Skipped], everything: bool) -> None:
    from dpsco_bench.analysis.decided import decided_text
    from dpsco_bench.analysis.ranking import Standing

    measured = [row for row in rows if isinstance(row, Standing)]
    if not measured:
        print("no method ran at any point")
    elif everything:
        notes: dict[str, int] = {}
        lines = [line for row in measured for line in _lines(row, notes)]
        print(table([one for one in ALL_COLUMNS if one.key not in HELD_OUT or _has(lines, one.key)], lines))
        for reason, place in notes.items():
            print(labelled(f"({place})", reason, 5))
    else:
        print(table(COLUMNS, [_winner(row) for row in measured]))
    for told in [*(line for row in measured for line in _told(row)), *(_held_out(measured) if everything else ())]:
        print(told)
    for failed in dict.fromkeys((item.method, item.reason) for row in measured for item in _failures(row)):
        print(labelled(f"{failed[0]} failed:", failed[1], len(failed[0]) + 9))
    for said in filter(None, [decided_text(measured)]):
        print(labelled("*", said, 2))
    for kind in dict.fromkeys(row.risk_kind for row in measured):
        of = dict.fromkeys(row.instance for row in measured if row.risk_kind == kind)
        print(labelled(f"{kind} risks:", ", ".join(of), len(kind) + 8))
    for row in rows:
        if row.skipped:
            print(f"{row.instance}: skipped: {row.skipped}")


def _place(row: Standing) -> Row:
    return {"instance": row.instance, "n": row.n, "d": row.d, "epsilon": number(row.epsilon)}


def _winner(row: Standing) -> Row:
    risks = {method.method: method.risk for method in row.methods}
    low, high = row.margin_ci
    decided = row.runner_up is not None and not row.contenders
    return {
        **_place(row),
        "first": _first(row),
        "risk": number(risks.get(row.winner, row.trivial), 3),
        "margin": f"{number(row.margin, 2)} [{number(low, 2)}, {number(high, 2)}]" if decided else "-",
        "search": number(row.search.risk, 3) if row.search else "-",
        "trivial": number(row.trivial, 3),
    }


def _first(row: Standing) -> str:
    """The winner and how many are tied with it; the names of all stand below the table."""
    if row.contenders:
        return "undecided"
    if row.runner_up is None:
        return "none proven private"
    return row.tied[0] if len(row.tied) == 1 else f"{row.tied[0]} = {len(row.tied) - 1} more"


def _told(row: Standing) -> list[str]:
    """Who is tied, and what it takes to decide where contenders are left out as too long; nothing of a sole winner."""
    place = f"{row.instance}, n = {row.n}, d = {row.d}, epsilon = {number(row.epsilon)}:"
    if row.contenders:
        left = "; ".join(f"{one.method} takes {one.cost}" for one in row.contenders)
        return [place, labelled("  undecided", f"{' = '.join(row.tied)} of those run; {left}")]
    if row.runner_up is None:
        ran = f"{len(row.methods)} ran without a proof, which --all shows" if row.methods else "--all says why"
        return [place, labelled("  not compared", f"no method whose privacy is proven ran; {ran}", 16)]
    return [place, labelled("  tied", " = ".join(row.tied))] if len(row.tied) > 1 else []


def _has(lines: Sequence[Row], key: str) -> bool:
    return any(line.get(key, "-") != "-" for line in lines)


def _held_out(rows: Sequence[Standing]) -> list[str]:
    """What the held-out numbers of methods are to be held against; points on the same records have the same."""
    places: dict[str, list[str]] = {}
    for row in rows:
        told = [
            labelled(f"  {name}", f"held out: loss {number(found.loss, 3)}{_accuracy(found)}", 20)
            for key, name in (("trivial", "trivial solution"), ("without_privacy", "without privacy"))
            if (found := row.held_out.get(key))
        ]
        if told:
            places[f"{row.instance}, n = {row.n}, d = {row.d}:"] = told
    return [line for place, told in places.items() for line in (place, *told)]


def _accuracy(found: HeldOut) -> str:
    return "" if found.accuracy is None else f", accuracy {number(found.accuracy, 3)}"


def _failures(row: Standing) -> list[Unrun]:
    return [item for item in row.left_out if item.status == "failed"]


def _lines(row: Standing, notes: dict[str, int]) -> list[Row]:
    """A line per method; reasons are numbered in ``notes``, each once."""
    lines: list[Row] = []
    for method in row.methods:
        low, high = method.ci
        says = "" if method.ranked else f"not ranked ({_note(notes, STATUS_WORDS[method.privacy_status])})"
        says = ("first" if len(row.tied) == 1 else "tied") if method.tied else says
        if method.tied and row.contenders:
            says += f" ({_note(notes, 'first of those that were run')})"
        risk = f"{number(method.risk, 3)} [{number(low, 2)}, {number(high, 2)}]"
        gradients = number(float(method.gradient_evaluations), 3)
        held = method.held_out
        lines.append(
            {
                **_place(row),
                "method": method.method,
                "risk": risk,
                "loss": number(held and held.loss, 3),
                "accuracy": number(held and held.accuracy, 3),
                "gradients": gradients,
                "says": says,
            }
        )
    for item in row.left_out:
        says = f"{item.status.replace('_', ' ')} ({_note(notes, item.reason)})"
        lines.append({**_place(row), "method": item.method, "says": says})
    return lines


def _note(notes: dict[str, int], reason: str) -> int:
    return notes.setdefault(reason, len(notes) + 1)
