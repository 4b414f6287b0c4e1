"""Which method: the boards' winners point by point, as diagrams and tables; all methods on a page of their own."""

from __future__ import annotations

from dataclasses import replace

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.cli.describe import describe
from dpsco_bench.leaderboard.phases import uncompared_text
from dpsco_bench.leaderboard.standings import TRIVIAL, BoardResults, decided_text
from dpsco_bench.leaderboard.tables import algorithms, nowhere_run, points_table, references_table, wins_table
from dpsco_bench.report.address import address
from dpsco_bench.report.tables import Column, ReportTable
from dpsco_bench.report.wording import symbols
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.markdown import bullets, code, fenced, heading, table, text

INTRO = (
    "Every method of the papers on common instances, each calibrated by its accountant to the same (eps, delta), with "
    "the hyper-parameters of its theorem. A method whose privacy is not proven is shown in the tables and cannot win."
)
START = "A point that looks at no data."
COLLAPSE = "Does n ε/√d decide the risk?"
OWN = "For a point of your own, or your own data, `choose` runs every method that accepts it and ranks them:"


def which_pages(content: SiteContent) -> Pages:
    """Show the winners by point, and what they were won against."""
    boards = content.inputs.boards
    first = [heading("Which method", target="which"), text(INTRO) + "\n", OWN + "\n"]
    command = "dpsco choose problem=logistic_glm domain=l2_ball n=20000 d=50 epsilon=1 delta=1e-6"
    first.append(fenced(command, "console"))
    return {"which": "\n".join([*first, *(_board(content, board) for board in boards)])}


def _board(content: SiteContent, board: BoardResults) -> str:
    collapse = f"{board.id}.collapse"
    delta = symbols(f"{board.board.delta:g}")
    slow = ((code(one.id), uncompared_text(rows)) for one, rows in board.by_instance)
    pieces = [
        heading(board.board.title, 2),
        f"All points have δ = {delta}.\n",
        text(decided_text(board.points)) + "\n",
        content.figure(board.id, board.board.title) if content.drawn(board.id) else "",
        bullets(f"{instance}: {text(words)}" for instance, words in slow if words),
        table(explained(board)),
        *([heading(COLLAPSE, 2), content.figure(collapse, COLLAPSE)] if content.drawn(collapse) else ()),
        heading("Winners, point by point", 2, address("board", board.id, "points")),
        table(points_table(board)),
        "All methods at all points: "
        f"[CSV](tables/{board.id}.methods.csv), [Parquet](tables/{board.id}.methods.parquet). "
        "The page of [each method](methods/index.md) has its places.\n",
        heading("What the risks stand beside", 2, address("board", board.id, "references")),
        table(references_table(board)),
        heading("What was not run, and why", 2),
        bullets(f"{code(name)}: {text(reason)}" for name, reason in nowhere_run(board)),
        "Every method that was left out at a point, with its reason: "
        f"[CSV](tables/{board.id}.left_out.csv), [Parquet](tables/{board.id}.left_out.parquet).\n",
    ]
    return "\n".join(filter(None, pieces))


def explained(board: BoardResults) -> ReportTable:
    """Tabulate winners with what each of them is."""
    found, known = wins_table(board), algorithms(board)
    told = {TRIVIAL: START}  # nothing of one whose file or paper is not here
    told |= {label: str(describe(id)["summary"]) for label, id in known.items() if id in list_algorithms()}
    what = Column("0", lambda label: told.get(label, ""), kind="prose")
    return replace(found, columns={**found.columns, "What it is": what})
