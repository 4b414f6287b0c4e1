"""A page per paper: what was tested, its tables rebuilt, its figures, noise and errata; and a page per claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.analysis.answer import QUESTIONS, headline, question_of
from dpsco_bench.analysis.judge import FROM_MEMORY
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.registry import alphabetical, get_bound
from dpsco_bench.claims.catalogue import claim_file
from dpsco_bench.report import rebuilt as tables
from dpsco_bench.report.inputs import ClaimResults, grouped
from dpsco_bench.report.numbers import NOTHING, is_number, slope, span
from dpsco_bench.report.own_figures import FIGURES
from dpsco_bench.report.tables import Column, ReportTable, address
from dpsco_bench.report.verdicts import claim_table, reason, remarks, scoreboard, statement
from dpsco_bench.report.wording import Citation, find_citation, symbols
from dpsco_bench.site import markdown as md
from dpsco_bench.site.content import TONES, Pages, PaperLine, SiteContent, claims_table, papers_table
from dpsco_bench.site.pages.ledgers import ledger_table

TITLES = {tables.UTILITY: "Utility", tables.GRADIENTS: "Gradients"}
SUFFIXES = ("", ".curves", ".time")  # figures of a claim, behind its id
LEAST_SHOWN = 60  # comparisons of an ordering that a page shows; more stand in its files


def paper_pages(content: SiteContent) -> Pages:
    index = md.page(
        md.heading("Papers", target="papers"),
        f"{md.text(headline(content.inputs.answers.values()))}\n",
        md.table(papers_table(content.lines)),
        md.toctree([line.paper for line in content.lines]),
    )
    return {"papers/index": index, **{f"papers/{line.paper}": _paper(content, line) for line in content.lines}}


def _paper(content: SiteContent, line: PaperLine) -> str:
    paper, inputs, known = line.paper, content.inputs, find_citation(line.paper)
    rates = tables.rates_table(inputs, paper, line.name)
    asked = {key for _, answer in line.rows for key in answer.cells}
    pieces = [
        md.heading(line.name, target=address("paper", paper)),
        _cited(known) if known else "",
        md.table(line.answers, [title for key, title in QUESTIONS.items() if key not in asked]),
        f"{md.text(headline([answer for _, answer in line.answered]))}\n",
        md.table(line.counts),
    ]
    for found in (one for one in tables.rebuilt_tables(inputs, paper) if one.rows):
        pieces += [md.heading(found.title, 2, address("table", found.id)), rebuilt(content, found)]
        if isinstance(found.rows[0], tables.RebuiltRow):
            told = [title for title in found.columns if title.startswith(("Slope, ", "Verdict, ", "Claimed"))]
            pieces.append(f"What each entry was measured by, with its numbers:\n\n{md.table(found, told)}")
    figures = [own for own in FIGURES.of(paper).values() if content.drawn(own.name)]
    pieces += [md.heading("Figures across claims", 2)] if figures else []
    for own in figures:
        says = own.says(inputs)
        pieces += [md.heading(says, 3, address("figure", own.name)), md.text(own.caption) + "\n"]
        pieces.append(content.figure(own.name, says, "../"))
    if rates.rows:
        files = md.downloads(rates.id, "../")
        pieces.append(f"Exponents of all {len(rates.rows)} sweeps, claimed beside measured: {files}.\n")
    pieces += _ledgers(content, paper)
    errata = [f"{md.link(one.id, address(paper, one.id))} {md.text(one.title)}" for one in content.errata[paper]]
    return md.page(*pieces, *([md.heading("Errata", 2), md.bullets(errata)] if errata else ()))


def _ledgers(content: SiteContent, paper: str) -> list[str]:
    """Show its printed noise, and that of the methods that it compares with, which it does not print.

    Each mechanism, variant and status has the row of its largest real over claimed epsilon.
    """
    printed = [row for row in content.ledger.rows if row.first.calibration == "paper"]
    every = [row for row in printed if row.first.cell.algorithm.startswith(f"{paper}.")]
    groups = grouped(every, attrgetter("first.cell.algorithm", "first.calibrated.variant", "first.noise.status"))
    rows = [max(same, key=lambda row: max(cell.noise.excess for cell in row.cells)) for same in groups.values()]
    known = {*list_algorithms()} & {row.first.cell.algorithm for row in rows}
    recalled = {id for id in known if FROM_MEMORY in get_algorithm(id).source}
    own, cited = ([row for row in rows if (row.first.cell.algorithm in recalled) is of] for of in (False, True))
    said = (
        "What an accountant says of the paper's noise, at worst. A variant that an erratum corrects names it. The "
        "[privacy ledger](../privacy.md) has every row.\n"
    )
    beside = "The same of the methods that it compares with, whose noise is recalled from their papers:\n"
    pieces = [md.heading("Its noise", 2), said, ledger_table(content, own)]
    return pieces + ([beside, ledger_table(content, cited)] if cited else [])


def rebuilt(content: SiteContent, found: ReportTable) -> str:
    """Show a paper's table with its own rows and columns, below each entry what was measured; or a computed one."""
    if not isinstance(found.rows[0], tables.RebuiltRow):
        return md.table(found)
    rows: dict[str, list[tables.RebuiltRow]] = grouped(found.rows, lambda row: row.entry.row)
    more = list(dict.fromkeys(title for row in found.rows for title in row.entry.printed))
    used = {key: title for key, title in TITLES.items() if any(getattr(row.entry, key) for row in found.rows)}
    lines = []
    for name, own in rows.items():
        extra = [md.text(own[0].entry.printed.get(title, "")) for title in more]
        lines.append([md.text(name), *extra, *(_entry(content, own, column) for column in used)])
    return "{.plain}\n" + md.grid(["Row", *map(md.text, more), *used.values()], lines)


def _entry(content: SiteContent, rows: Sequence[tables.RebuiltRow], column: str) -> str:
    """Give an entry as printed, its exponents measured and, in brackets, stated, and its claims' answers as badges."""
    claimed = md.text(getattr(rows[0].entry, column) or NOTHING)
    sweeps = list({row.part: row.sweep for row in rows if row.claims == column}.values())
    noise = next((noise for noise in tables.CALIBRATIONS if any(noise in sweep.rows for sweep in sweeps)), "")
    lines = [f"**{claimed}**"]
    if not noise:
        return "<br>".join(lines + ["not measured in this profile"] * (claimed not in (NOTHING, "N/A")))
    shown = (sweep.rows[noise] for sweep in sweeps if noise in sweep.rows)
    sloped = grouped((row for row in shown if row.counted and is_number(row.slope)), lambda row: row.parameter)
    for name, own in sloped.items():
        measured, stated = (span([getattr(row, key) for row in own], slope) for key in ("slope", "bound_slope"))
        lines.append(f"in {md.text(symbols(name))}: {measured} ({stated})")
    for id in dict.fromkeys(sweep.claim.id for sweep in sweeps):
        cells = content.inputs.answers[id].cells
        known = [(said, cells[key]) for key, said in SAID.items() if key in cells]
        badges = (f"{said} {md.badge(symbols(cell.short), TONES[cell.word])}" for said, cell in known)
        lines.append(f"{md.link(md.code(id.partition('.')[2]), address(id))}: {', '.join(badges)}")
    return "<br>".join(lines)


SAID = {"printed": "shows", "noise": "private", "private": "shows with private noise"}
"""Question -> what a badge in a paper's table is called."""


def _cited(found: Citation) -> str:
    """Cite a paper, with links where there are identifiers, else say that the texts have none; then what was tested."""

    def arxiv(number: str) -> str:
        return f"[{md.text(f'arXiv:{number}')}](https://arxiv.org/abs/{number})"

    links = [arxiv(found.arxiv)] if found.arxiv else []
    links += [f"[doi:{md.text(found.doi)}](https://doi.org/{found.doi})"] if found.doi else []
    links += [f"[publisher]({found.address})"] if found.address else []
    where = f" {md.text(found.published)}" + (f" (from {md.text(found.known_from)})" if found.known_from else "") + "."
    missing = "The text used here gives neither arXiv number nor DOI of its own"
    missing += "" if found.published else ", nor a venue"
    told = f"{md.text(', '.join(found.authors))}. *{md.text(found.title)}*.{where if found.published else ''} "
    told += ", ".join(links) + " (identifiers added by hand)" * found.by_hand if links else missing
    cites = "; ".join(f"{md.text(name)}: {arxiv(number)}" for name, number in found.sources.items())
    return md.page(
        f"{told}.\n",
        f"{md.text(found.abstract)}\n" if found.abstract else "",
        f"Cited, with the numbers of its list of references: {cites}.\n" if cites else "",
    )


def claim_pages(content: SiteContent) -> Pages:
    """Write a page per claim, the list of them, and the list of all verdicts."""
    pages = {f"claims/{claim.id}": _claim(content, claim) for claim in content.inputs.claims}
    if not content.short:
        board = scoreboard(content.inputs)
        hidden = ("Kind", "Expected", "Remarks", "Paper's exponent", "Noise off")
        rows = f"{len(board.rows)} verdicts. Reasons and remarks stand on the page of each claim.\n"
        first = (md.NO_SEARCH, md.heading("All verdicts", target="verdicts"), rows)
        pages["verdicts"] = "\n".join([*first, md.table(board, hidden)])
    index = [
        md.heading("Claims", target="claims"),
        "Every claim with its answers. [All verdicts](../verdicts.md) has a row per experiment.\n",
        md.table(claims_table(content.inputs)),
        "" if content.short else md.toctree(["/verdicts"]),
    ]
    for paper in content.inputs.papers:
        entries = (f"{symbols(statement(one.claim))} <{one.id}>" for one in content.inputs.of_paper(paper))
        index.append(md.toctree([*entries], caption=content.names[paper]))
    return {"claims/index": "\n".join(index), **pages}


def _claim(content: SiteContent, results: ClaimResults) -> str:
    claim, answer = results.claim, content.inputs.answers[results.id]
    asked = [
        f"{md.text(question_of(answer.subject, key))}: {md.badge(symbols(cell.short), TONES[cell.word])}"
        + f", {md.prose(symbols(cell.why))}" * bool(cell.why)
        for key, cell in answer.cells.items()
    ]
    known = {entry.id for entry in content.errata[claim.paper]}
    errata = [md.link(id, address(claim.paper, id)) for id in claim.errata if id in known]
    source = [md.code(claim.id), md.link(md.text(claim.source), address("paper", claim.paper))]
    figures = [] if content.short else [f"{claim.id}{suffix}" for suffix in SUFFIXES]
    paper = re.sub(", .* ", " ", content.names[claim.paper])  # as people look for it: Wang 2017, Theorem 4.2: ...
    return md.page(
        md.heading(f"{paper}, {statement(claim)}", target=address(claim.id)),
        " · ".join([*source, *([f"errata {', '.join(errata)}"] if errata else [])]) + "\n",
        md.bullets([*asked, *(md.prose(symbols(remark)) for remark in answer.remarks)]),
        f"> {md.text(' '.join(claim.statement.split()))}\n",
        md.bullets(md.text(words) for words in claim.assumptions),
        *(content.figure(name, f"Figure of {claim.id}", "../") for name in figures),
        md.heading("Verdicts", 2),
        md.table(_verdict_table(results), anchored=True),
        *(() if content.short else _evidence(content, results)),
    )


def _verdict_table(results: ClaimResults) -> ReportTable:
    """Tabulate its verdicts, each with its reason and remarks beside the word, where they are seen."""
    whole = claim_table(results)
    first, rest = ("Part", "Noise", "Verdict"), ("Reason", "Remarks", "Expected")

    def why(row: Verdict) -> str:
        return ". ".join(text for text in (reason(row), remarks(results, row)) if text not in ("", NOTHING))

    columns = {title: whole.columns[title] for title in first} | {"Why": Column(why, kind="prose")}
    others = {title: column for title, column in whole.columns.items() if title not in (*first, *rest)}
    return replace(whole, columns=columns | others)


def _evidence(content: SiteContent, results: ClaimResults) -> list[str]:
    """Show what stands behind the verdicts: comparisons, where few enough to be read, parts, formulas and files."""
    compared, parts = tables.orderings_table(results), results.claim.parts
    few = 0 < len(compared.rows) <= LEAST_SHOWN
    bounds = {name.partition(".")[2]: get_bound(name) for name in dict.fromkeys(p.bound for p in parts if p.bound)}
    formulas = md.bullets(f"{md.code(name)} = {md.text(bound.text)}" for name, bound in bounds.items())
    names = {key: symbol for bound in bounds.values() for key, symbol in bound.all_symbols.items()}
    told = "; ".join(f"{md.text(key)}: {md.text(names[key].words)}" for key in alphabetical(names))
    methods = dict.fromkeys(method.algorithm for part in parts for method in part.methods)
    linked = (md.link(md.code(id), address("method", id) if id in content.algorithms else "") for id in methods)
    sources = [f"Methods, with their code: {', '.join(linked)}"] if methods else []
    for found in tables.number_tables(results):
        sources.append(f"{md.text(found.title)}: {md.downloads(found.id, '../')}")
    if file := claim_file(results.id):
        sources.append(f"The experiment as it is run: [{file.name}](../files/{results.id}.yaml)")
    return [
        md.heading("Comparisons", 3) + "\n" + md.table(compared) if few else "",
        md.heading("How it is measured", 2),
        md.table(tables.parts_table(results)),
        md.page(formulas and f"Bounds:\n\n{formulas}", told and f"{told}.\n"),
        md.heading("Numbers, sources, and how to make it again", 2),
        md.bullets(sources),
        md.fenced(f"dpsco claim {results.id} --profile {content.inputs.profile}", "console"),
    ]


def yaml_files(content: SiteContent) -> dict[str, Path]:
    """Name among the downloads -> file, of every claim that ships."""
    found = {claim.id: claim_file(claim.id) for claim in content.inputs.claims}
    return {f"{id}.yaml": path for id, path in found.items() if path is not None}
