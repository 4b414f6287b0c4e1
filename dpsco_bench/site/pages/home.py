"""The first page: the answers of all papers in bars, then what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.cli.describe import describe
from dpsco_bench.leaderboard.phases import uncompared_text
from dpsco_bench.leaderboard.standings import TRIVIAL, BoardResults, decided_text
from dpsco_bench.leaderboard.tables import (
    algorithms,
    nowhere_run,
    points_table,
    references_table,
    winner_text,
    wins_table,
)
from dpsco_bench.report.citations import method_name
from dpsco_bench.report.opening import headline, papers_table
from dpsco_bench.report.scores import chance_text
from dpsco_bench.report.tables import Column, ReportTable, address
from dpsco_bench.report.wording import symbols
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.findings import Supported, Unsaid
from dpsco_bench.site.markdown import bullets, code, fenced, figure, heading, link, prose, table, text, toctree

SECTIONS = ("papers/index", "claims/index", "methods/index", "which", "privacy", "errata/index", "provenance")
WHAT = (
    "Papers on differentially private convex optimisation state bounds on the excess risk, on gradient counts and on "
    "(eps, delta). This site says, claim by claim, what their methods do when they are run as printed, and when their "
    "noise is what privacy needs."
)
WARNING = (
    "This is a measuring instrument, not a release mechanism: floating-point noise has finite tails and known attacks. "
    "A status “proven” speaks of the mechanism in exact arithmetic."
)
UNSAID = "Nothing is said of these statements, since what they rest on is not there:"
MAILED = (
    "This one file has the findings, the papers, the verdicts of every claim with their reasons, which method, the "
    "privacy ledger, the errata and the benchmarks. The site has, besides, a figure of every claim, its parts and "
    "numbers, the code of every method, and a search."
)
STAND = (
    "Two questions are asked of every theorem, table row and figure: does it show, and is its noise private? "
    "[Reading a verdict](guide/reading.md) explains the words and marks."
)


def home_page(content: SiteContent, found: Sequence[Supported], unsaid: Sequence[Unsaid]) -> Pages:
    lines = content.lines
    title = "Findings" if found else "What this profile measures"
    left_out = [f"“{text(entry.title)}”: {text(entry.reason)}." for entry in unsaid]
    pieces = [
        heading("Does it show, and is it private?", target="standings"),
        f"{STAND}\n",
        figure("figures/site/papers.svg", headline(lines)),
        f"{text(WHAT)}\n",
        f"Profile {code(content.inputs.profile)}. {text(headline(lines))} {text(chance_text(content.scores))}\n",
        table(papers_table(lines)),
        f"{text(MAILED)}\n" if content.short else "",
        heading(title, 2, target="findings"),
        *(_finding(number, finding) for number, finding in enumerate(found, start=1)),
        f"{heading('What this run does not measure', 2)}\n{UNSAID}\n\n{bullets(left_out)}" if unsaid else "",
        f":::{{warning}}\n{text(WARNING)}\n:::\n",
        toctree([*SECTIONS, "guide/index"]),
    ]
    return {"index": "\n".join(filter(None, pieces))}


def _finding(number: int, finding: Supported) -> str:
    target = address("finding", finding.id)
    claims = [link(code(id), address(id)) for id in finding.claims]
    pages = [f"[]({page})" if page.startswith("#") else f"[]({page}.md)" for page in finding.finding.pages]
    pieces = [
        heading(f"{number}. {finding.said.title}", 3, target),
        prose(finding.said.sentence) + "\n",
        figure(f"figures/site/{target}.svg", finding.said.title) if finding.said.points else "",
        f"**What it means.** {prose(finding.said.means)}\n",
        f"Behind it: {', '.join([*claims, *pages])}\n",
    ]
    return "\n".join(filter(None, pieces))


INTRO = (
    "Every method of the papers on common instances, each calibrated by its accountant to the same (eps, delta), with "
    "the hyper-parameters of its theorem. A method whose privacy is not proven is shown in the tables and cannot win."
)
START = "A point that looks at no data."
COLLAPSE = "Does n ε/√d decide the risk?"
OWN = "For a point of your own, or your own data, `choose` runs every method that accepts it and ranks them:"


def which_pages(content: SiteContent) -> Pages:
    boards = content.inputs.boards
    first = [heading("Which method", target="which"), text(INTRO) + "\n", OWN + "\n"]
    command = "dpsco choose problem=logistic_glm domain=l2_ball n=16384 d=10 epsilon=1"
    first.append(fenced(command, "console"))
    return {"which": "\n".join([*first, *(_board(content, board) for board in boards)])}


def _board(content: SiteContent, board: BoardResults) -> str:
    collapse = f"{board.id}.collapse"
    delta = symbols(f"{board.board.delta:g}")
    slow = ((code(one.id), uncompared_text(rows)) for one, rows in board.by_instance)
    pieces = [
        heading(board.board.title, 2) if len(content.inputs.boards) > 1 else "",
        f"All points have δ = {delta}.\n",
        text(decided_text(board.points)) + "\n",
        content.figure(board.id, board.board.title) if content.drawn(board.id) else "",
        bullets(f"{instance}: {text(words)}" for instance, words in slow if words),
        table(explained(board)),
        *([heading(COLLAPSE, 2), content.figure(collapse, COLLAPSE)] if content.drawn(collapse) else ()),
        heading("Winners, point by point", 2, address("board", board.id, "points")),
        table(with_names(points_table(board))),
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
    found, known = wins_table(board), algorithms(board)
    told = {TRIVIAL: START}  # nothing of one whose file or paper is not here
    told |= {label: str(describe(id)["summary"]) for label, id in known.items() if id in list_algorithms()}
    what = Column("0", lambda label: told.get(label, ""), kind="prose")
    name = replace(found.columns["Method"], show=method_name, kind="text")
    return replace(found, columns={**found.columns, "Method": name, "What it is": what})


def with_names(found: ReportTable) -> ReportTable:
    winner = replace(found.columns["Winner"], value=partial(winner_text, name=method_name))
    return replace(found, columns={**found.columns, "Winner": winner})
