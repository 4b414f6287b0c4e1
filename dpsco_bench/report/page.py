"""The report: one self-contained HTML page, and its tables in three formats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.answer import STANDINGS
from dpsco_bench.claims.catalogue import load_errata
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.report.board import (
    board_tables,
    left_out_table,
    methods_table,
    nowhere_run,
    points_table,
    references_table,
    wins_table,
)
from dpsco_bench.report.figures import PageFigures, page_figures
from dpsco_bench.report.inputs import BoardResults, ClaimResults, Inputs
from dpsco_bench.report.ledger import privacy_table
from dpsco_bench.report.opening import claim_line, claims_table, headline, page_papers, paper_lines, papers_table
from dpsco_bench.report.own_figures import page_figures as own_page_figures
from dpsco_bench.report.own_figures import write_figures
from dpsco_bench.report.papers import (
    cells_table,
    errata_note,
    errata_table,
    orderings_table,
    rates_table,
)
from dpsco_bench.report.parallel import Task, in_parallel
from dpsco_bench.report.parts import parts_table
from dpsco_bench.report.phases import WORDS, page_phases, paper_colours
from dpsco_bench.report.provenance import facts, jobs_table
from dpsco_bench.report.rebuilt import rebuilt_tables
from dpsco_bench.report.scores import chance_text, claim_table, counts, counts_table, scoreboard, scores
from dpsco_bench.report.tables import Table, write_table
from dpsco_bench.report.wording import CALIBRATION_MEANINGS, SYMBOLS, meanings, paper_name, symbols

ASSETS = Path(__file__).with_name("assets")
WIDTHS = {
    "Answer": "long",
    "Remarks": "long",
    "Standing": "short",
    "What": "mid",
    "Reason": "long",
    "Privacy": "mid",
    "Verdict": "short",
    "Status": "mid",
    "Variant, options": "mid",
    "Accountant": "long",
    "Method": "mid",
    "Verdict, paper": "short",
    "Verdict, accounted": "short",
}
"""Least widths of columns of prose, so that a narrow screen scrolls instead of breaking every word."""
LEFT_OUT = ("Claim", "Kind", "Expected")
REBUILT_HEADING = ("Row",)


@dataclass(frozen=True)
class Cell:
    """One cell of an HTML table."""

    text: str
    numeric: bool
    kind: str
    tone: str
    width: str

    @property
    def symbol(self) -> str:
        """Symbol of a verdict's tone."""
        return SYMBOLS.get(self.tone, "·")


@dataclass(frozen=True)
class Group:
    """Consecutive rows under one heading."""

    heading: str
    anchor: str
    rows: list[list[Cell]]


def html_table(table: Table, hidden: tuple[str, ...] = ()) -> dict[str, Any]:
    """A table as the template reads it; hidden columns stay in the files only."""
    columns = [column for column in table.columns if column.title not in hidden]
    groups: list[Group] = []
    for row in table.rows:
        heading = table.group(row) if table.group else ("", "")
        if not groups or (groups[-1].heading, groups[-1].anchor) != heading:
            groups.append(Group(*heading, []))
        cells = []
        for column in columns:
            tone = column.style(row) if column.style else ""
            cells.append(Cell(column.show(row), column.numeric, column.kind, tone, WIDTHS.get(column.title, "")))
        groups[-1].rows.append(cells)
    heads = [
        {"title": c.title, "numeric": c.numeric, "kind": c.kind, "width": WIDTHS.get(c.title, "")} for c in columns
    ]
    empty = Group("", "", [])
    return {"id": table.id, "title": table.title, "note": table.note, "columns": heads, "groups": groups or [empty]}


def render(inputs: Inputs, figures: Mapping[str, PageFigures] | None = None) -> str:
    """The page. The same results give the same bytes.

    Parameters
    ----------
    figures : mapping, optional, `page_figures` of every claim by its id; drawn here where they are not given
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    environment.filters["breakable"] = breakable
    template = environment.from_string((ASSETS / "page.html.j2").read_text(encoding="utf-8"))
    text = template.render(**_context(inputs, figures or {c.id: page_figures(c) for c in inputs.claims}))
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def breakable(text: str) -> Any:
    """A name that may be broken after underscores and after its paper."""
    from markupsafe import Markup, escape

    pieces = re.findall(r"^[^._]+\.|[^_]*_|[^_]+", text)
    return Markup("<wbr>").join(Markup("<span>{}</span>").format(escape(piece)) for piece in pieces)


def _context(inputs: Inputs, figures: Mapping[str, PageFigures]) -> dict[str, Any]:
    from markupsafe import Markup

    rows = scores(inputs)
    board = scoreboard(inputs)
    lines = paper_lines(inputs, rows, {paper: name_of(inputs, paper) for paper in inputs.papers})
    return {
        "profile": inputs.profile,
        "css": Markup((ASSETS / "page.css").read_text(encoding="utf-8")),
        "claims": inputs.claims,
        "verdicts": len(rows),
        "papers_figure": Markup(page_papers(lines)),
        "headline": headline(lines),
        "papers_table": html_table(papers_table(lines)),
        "claims_table": html_table(claims_table(lines, inputs.profile)),
        "standings": [(word, symbols(meant.meaning)) for word, meant in STANDINGS.items()],
        "errata_count": sum(line.errata for line in lines),
        "boards": [_board(board) for board in inputs.boards],
        "counts": counts(rows),
        "chance": chance_text(rows),
        "counts_table": html_table(counts_table(rows)),
        "scoreboard": {**html_table(board, LEFT_OUT), "note": ""},
        "calibrations": CALIBRATION_MEANINGS,
        "meanings": [(word, tone, SYMBOLS[tone], text) for word, tone, text in meanings()],
        "privacy": html_table(privacy_table(inputs), ("Algorithm",)),
        "errata_note": errata_note([entry for paper in inputs.papers for entry in load_errata(paper)]),
        "papers": [_paper(inputs, paper, figures) for paper in inputs.papers],
        "facts": facts(inputs),
        "jobs": html_table(jobs_table(inputs)),
    }


def name_of(inputs: Inputs, paper: str) -> str:
    """Authors and year of a paper, from the source of its first claim."""
    return paper_name(inputs.of_paper(paper)[0].claim.source, paper)


def _paper(inputs: Inputs, paper: str, figures: Mapping[str, PageFigures]) -> dict[str, Any]:
    from markupsafe import Markup

    claims = inputs.of_paper(paper)
    errata = []
    for entry in load_errata(paper):
        touched = [claim.id for claim in claims if entry.id in claim.claim.errata]
        prose = {key: symbols(getattr(entry, key)) for key in ("title", "printed", "calculation", "consequence")}
        errata.append({"id": entry.id, "paper": paper, "command": entry.command, "claims": touched, **prose})
    return {
        "id": paper,
        "name": name_of(inputs, paper),
        "errata": errata,
        "rebuilt": [html_table(table, REBUILT_HEADING) for table in rebuilt_tables(inputs, paper)],
        "chapters": [{**c, "panels": [Markup(svg) for svg in c["panels"]]} for c in own_page_figures(inputs, paper)],
        "rates": html_table(rates_table(inputs, paper, name_of(inputs, paper))),
        "claims": [_claim(claim, figures[claim.id]) for claim in claims],
    }


def _board(board: BoardResults) -> dict[str, Any]:
    from markupsafe import Markup

    found = page_phases(board)
    instances = {instance.id: instance for instance in board.board.instances}
    return {
        "id": board.id,
        "title": board.board.title,
        "delta": symbols(f"{board.board.delta:g}"),
        "words": WORDS,
        "colours": paper_colours(board),
        "instances": [
            (instances[id].title, instances[id].note, [Markup(svg) for svg in panels]) for id, panels in found.items()
        ],
        "skipped": [(row.title, row.skipped) for row in board.rows if row.skipped],
        "nowhere": nowhere_run(board),
        "wins": html_table(wins_table(board)),
        "details": [
            html_table(table(board)) for table in (points_table, references_table, methods_table, left_out_table)
        ],
    }


def _claim(results: ClaimResults, figures: PageFigures) -> dict[str, Any]:
    from markupsafe import Markup

    claim = results.claim
    panels, wide, key = figures
    details = [table for table in (parts_table(results), orderings_table(results), cells_table(results)) if table.rows]
    return {
        "id": results.id,
        "title": symbols(claim.title),
        "source": claim.source,
        "statement": symbols(" ".join(claim.statement.split())),
        "assumptions": [symbols(text) for text in claim.assumptions],
        "errata": claim.errata,
        "answer": claim_line(results),
        "table": html_table(claim_table(results)),
        "panels": [Markup(svg) for svg in panels],
        "wide": [Markup(svg) for svg in wide],
        "key": key,
        "details": [html_table(table) for table in details],
    }


def all_tables(inputs: Inputs) -> Iterator[Table]:
    """Every table of the report that has raw values."""
    rows = scores(inputs)
    lines = paper_lines(inputs, rows, {paper: name_of(inputs, paper) for paper in inputs.papers})
    yield papers_table(lines)
    yield claims_table(lines, inputs.profile)
    yield scoreboard(inputs)
    for board in inputs.boards:
        yield from board_tables(board)
    yield counts_table(rows)
    yield privacy_table(inputs)
    yield errata_table([entry for paper in inputs.papers for entry in load_errata(paper)])
    yield jobs_table(inputs)
    for paper in inputs.papers:
        yield rates_table(inputs, paper, name_of(inputs, paper))
        yield from rebuilt_tables(inputs, paper)
    for claim in inputs.claims:
        for table in (cells_table(claim), orderings_table(claim)):
            if table.rows:
                yield table


@dataclass(frozen=True)
class Written:
    """Files of a report.

    Attributes
    ----------
    page : Path
    tables, figures : tuple of Path
        Each in every format.
    """

    page: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]

    @property
    def files(self) -> list[Path]:
        """All of them."""
        return [self.page, *self.tables, *self.figures]


def write_report(inputs: Inputs, folder: Path, figures: Path, cores: int = 1) -> Written:
    """Write ``report.html`` and ``tables/`` into a folder, and the papers' own figures into another.

    Parameters
    ----------
    folder : Path, ``results/<profile>``
    figures : Path, ``figures/<profile>``
    cores : int, how many processes draw
    """
    tables = [path for table in all_tables(inputs) for path in write_table(table, folder / "tables")]
    drawings: list[Task] = [
        partial(write_figures, inputs, figures),
        *(partial(page_figures, claim) for claim in inputs.claims),
    ]
    chapters, *drawn = in_parallel(drawings, cores)
    pages = dict(zip((claim.id for claim in inputs.claims), drawn, strict=True))
    write_atomic(folder / "report.html", render(inputs, pages))
    return Written(folder / "report.html", tuple(tables), tuple(chapters))
