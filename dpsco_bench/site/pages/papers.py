"""A page per paper: what was tested, its own tables rebuilt, its figures, its noise, and its errata."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.analysis.answer import QUESTIONS
from dpsco_bench.analysis.judge import FROM_MEMORY
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.report.inputs import grouped
from dpsco_bench.report.ledger import LedgerRow
from dpsco_bench.report.numbers import NOTHING, is_number, slope, span
from dpsco_bench.report.opening import PaperLine, answers_table, counts_table, headline, papers_table
from dpsco_bench.report.own_figures import FIGURES
from dpsco_bench.report.rebuilt import GRADIENTS, UTILITY, RebuiltRow, rates_table, rebuilt_tables
from dpsco_bench.report.tables import ReportTable, address
from dpsco_bench.report.wording import Citation, find_citation, symbols
from dpsco_bench.site import markdown as md
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.pages.ledgers import ledger_table

NOISES = ("paper", "accounted", "none")  # calibrations, the one whose exponents a paper's table shows first
TITLES = {UTILITY: "Utility", GRADIENTS: "Gradients"}


def paper_pages(content: SiteContent) -> Pages:
    index = [
        md.heading("Papers", target="papers"),
        f"{md.text(headline(content.lines))}\n",
        md.table(papers_table(content.lines)),
        md.toctree([line.paper for line in content.lines]),
    ]
    papers = {f"papers/{line.paper}": _paper(content, line) for line in content.lines}
    return {"papers/index": "\n".join(index), **papers}


def _paper(content: SiteContent, line: PaperLine) -> str:
    paper, known = line.paper, find_citation(line.paper)
    rates = rates_table(content.inputs, paper, line.name)
    files = md.downloads(rates.id, "../")
    errata = (
        f"{md.link(entry.id, address(paper, entry.id))} {md.text(entry.title)}" for entry in content.errata[paper]
    )
    unasked = [title for key, title in QUESTIONS.items() if not any(claim.cell(key) for claim in line.rows)]
    return md.page(
        md.heading(line.name, target=address("paper", paper)),
        *((cited(known), abstract_of(known)) if known else ()),
        md.table(answers_table(line), unasked),
        f"{md.text(headline([line]))}\n",
        md.table(counts_table(line)) if line.of("count", "law") else "",
        *_rebuilt(content, paper),
        *_figures(content, paper),
        f"Exponents of all {len(rates.rows)} sweeps, claimed beside measured: {files}.\n" if rates.rows else "",
        *_ledgers(content, paper),
        *([md.heading("Errata", 2), md.bullets(errata)] if content.errata[paper] else ()),
    )


def _figures(content: SiteContent, paper: str) -> list[str]:
    pieces = []
    for own in FIGURES.of(paper).values():
        if content.drawn(own.name):
            says = own.says(content.inputs)
            pieces += [md.heading(says, 3, address("figure", own.name)), md.text(own.caption) + "\n"]
            pieces.append(content.figure(own.name, says, "../"))
    return [md.heading("Figures across claims", 2), *pieces] if pieces else []


def _ledgers(content: SiteContent, paper: str) -> list[str]:
    """Show its printed noise, and that of the methods that it compares with, which it does not print."""
    rows = _own_ledger(content, paper)
    known = {*list_algorithms()} & {row.first.cell.algorithm for row in rows}
    recalled = {id for id in known if FROM_MEMORY in get_algorithm(id).source}
    own, cited = ([row for row in rows if (row.first.cell.algorithm in recalled) is of] for of in (False, True))
    pieces = [
        md.heading("Its noise", 2),
        "What an accountant says of the paper's noise, at worst. A variant that an erratum corrects names it. The "
        "[privacy ledger](../privacy.md) has every row.\n",
        ledger_table(content, own),
    ]
    if cited:
        pieces.append("The same of the methods that it compares with, whose noise is recalled of their sources:\n")
        pieces.append(ledger_table(content, cited))
    return pieces


def _own_ledger(content: SiteContent, paper: str) -> list[LedgerRow]:
    """Pick the row of largest real over claimed epsilon of every mechanism, variant and status of the paper's noise."""
    known = ((row, row.first) for row in content.ledger.rows)
    own = [row for row, cell in known if cell.calibration == "paper" and cell.cell.algorithm.startswith(f"{paper}.")]
    groups = grouped(own, lambda row: (row.first.cell.algorithm, row.first.calibrated.variant, row.first.noise.status))
    return [max(rows, key=lambda row: max(cell.noise.excess for cell in row.cells)) for rows in groups.values()]


def _rebuilt(content: SiteContent, paper: str) -> list[str]:
    """Show the paper's own tables, entry by entry; then what each entry was measured by, with its numbers."""
    pieces = []
    for found in (one for one in rebuilt_tables(content.inputs, paper) if one.rows):
        pieces += [md.heading(found.title, 2, address("table", found.id)), rebuilt(content, found)]
        if isinstance(found.rows[0], RebuiltRow):
            told = [title for title in found.columns if title.startswith(("Slope, ", "Verdict, ", "Claimed"))]
            pieces.append(f"What each entry was measured by, with its numbers:\n\n{md.table(found, told)}")
    return pieces


def rebuilt(content: SiteContent, found: ReportTable) -> str:
    """Show a paper's table with its own rows and columns, below each entry what was measured; or a computed one."""
    if not isinstance(found.rows[0], RebuiltRow):
        return md.table(found)
    rows: dict[str, list[RebuiltRow]] = grouped(found.rows, lambda row: row.entry.row)
    more = list(dict.fromkeys(title for row in found.rows for title in row.entry.printed))
    used = {key: title for key, title in TITLES.items() if any(getattr(row.entry, key) for row in found.rows)}
    lines = []
    for name, own in rows.items():
        extra = [md.text(own[0].entry.printed.get(title, "")) for title in more]
        lines.append([md.text(name), *extra, *(_entry(content, own, column) for column in used)])
    return "{.plain}\n" + md.grid(["Row", *map(md.text, more), *used.values()], lines)


def _entry(content: SiteContent, rows: Sequence[RebuiltRow], column: str) -> str:
    """Give an entry as printed, its exponents measured beside stated, and the answers of its claims as badges."""
    claimed = md.text(getattr(rows[0].entry, column) or NOTHING)
    sweeps = list({row.sweep.name: row.sweep for row in rows if row.claims == column}.values())
    noise = next((noise for noise in NOISES if any(noise in sweep.rows for sweep in sweeps)), "")
    if not noise:
        return "<br>".join([f"**{claimed}**", *["not measured in this profile"] * (claimed not in (NOTHING, "N/A"))])
    shown = [sweep.rows[noise] for sweep in sweeps if noise in sweep.rows]
    lines = [f"**{claimed}**", *_exponents([row for row in shown if row.counted])]
    for id in dict.fromkeys(sweep.claim.id for sweep in sweeps):
        line = content.claims[id]
        keys = [key for key in SAID if key in line.answer.cells]
        badges = (f"{SAID[key]} {md.badge(symbols(line.answer.cells[key].short), line.tone(key))}" for key in keys)
        lines.append(f"{md.link(md.code(id.partition('.')[2]), address(id))}: {', '.join(badges)}")
    return "<br>".join(lines)


SAID = {"printed": "shows", "noise": "private", "private": "shows with private noise"}
"""Question -> what a badge in a paper's table is called."""


def _exponents(rows: Sequence[Verdict]) -> list[str]:
    """List for each parameter the measured slopes and, in brackets, the stated ones."""
    found = grouped((row for row in rows if is_number(row.slope)), lambda row: row.parameter)
    return [
        f"in {md.text(symbols(name))}: {span([one.slope for one in own], slope)} "
        f"({span([one.bound_slope for one in own], slope)})"
        for name, own in found.items()
    ]


def arxiv_link(number: str, words: str = "") -> str:
    return f"[{md.text(words or f'arXiv:{number}')}](https://arxiv.org/abs/{number})"


def abstract_of(found: Citation) -> str:
    """Say what of it was tested, with links to what it cites; empty where its file has neither."""
    links = "; ".join(f"{md.text(name)}: {arxiv_link(number)}" for name, number in found.sources.items())
    cites = f"Cited, with the numbers of its list of references: {links}." if links else ""
    said = [*filter(None, [md.text(found.abstract), cites])]
    return "\n\n".join(said) + "\n" if said else ""


def cited(found: Citation) -> str:
    """Cite a paper, with links where there are identifiers; else say that the texts have none."""
    links = [arxiv_link(found.arxiv)] if found.arxiv else []
    links += [f"[doi:{md.text(found.doi)}](https://doi.org/{found.doi})"] if found.doi else []
    links += [f"[publisher]({found.address})"] if found.address else []
    where = f" {md.text(found.published)}" + (f" (from {md.text(found.known_from)})" if found.known_from else "") + "."
    missing = "The text used here gives neither arXiv number nor DOI of its own"
    missing += "" if found.published else ", nor a venue"
    told = f"{md.text(', '.join(found.authors))}. *{md.text(found.title)}*.{where if found.published else ''} "
    added = " (identifiers added by hand)" * found.by_hand
    return told + (", ".join(links) + added if links else missing) + ".\n"
