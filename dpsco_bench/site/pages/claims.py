"""A page per claim: the question, the answer in a sentence, its figure, every verdict with its reason, sources."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from dpsco_bench.analysis.answer import question_of
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.registry import alphabetical, get_bound
from dpsco_bench.claims.catalogue import claim_file
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.numbers import NOTHING
from dpsco_bench.report.opening import ClaimLine, claims_table
from dpsco_bench.report.rebuilt import number_tables, orderings_table, parts_table
from dpsco_bench.report.tables import Column, ReportTable, address
from dpsco_bench.report.verdicts import claim_table, reason, remarks, scoreboard, statement
from dpsco_bench.report.wording import symbols
from dpsco_bench.site import markdown as md
from dpsco_bench.site.content import Pages, SiteContent

SUFFIXES = ("", ".curves", ".time", ".shown")  # figures of a claim, behind its id
LEAST_SHOWN = 60  # comparisons of an ordering that a page shows; more stand in its files


def claim_pages(content: SiteContent) -> Pages:
    """Write a page per claim, the list of them, and the list of all verdicts."""
    return {
        "claims/index": _index(content),
        **({} if content.short else {"verdicts": _verdicts(content)}),
        **{f"claims/{claim.id}": _claim(content, claim) for claim in content.inputs.claims},
    }


def _index(content: SiteContent) -> str:
    papers = {content.names[paper]: content.inputs.of_paper(paper) for paper in content.inputs.papers}
    pages = [
        md.toctree([f"{symbols(statement(claim.claim))} <{claim.id}>" for claim in claims], caption=name)
        for name, claims in papers.items()
    ]
    first = [
        md.heading("Claims", target="claims"),
        "Every claim with its answers. [All verdicts](../verdicts.md) has a row per experiment.\n",
        md.table(claims_table(content.lines, content.inputs.profile)),
        "" if content.short else md.toctree(["/verdicts"]),
    ]
    return "\n".join([*first, *pages])


def _verdicts(content: SiteContent) -> str:
    hidden = ("Kind", "Expected", "Remarks", "Paper's exponent", "Noise off")
    board = scoreboard(content.inputs)
    rows = f"{len(board.rows)} verdicts. Reasons and remarks stand on the page of each claim.\n"
    return "\n".join([md.NO_SEARCH, md.heading("All verdicts", target="verdicts"), rows, md.table(board, hidden)])


def _claim(content: SiteContent, results: ClaimResults) -> str:
    claim, line = results.claim, content.claims[results.id]
    known = {entry.id for entry in content.errata[claim.paper]}
    errata = [md.link(id, address(claim.paper, id)) for id in claim.errata if id in known]
    source = [md.code(claim.id), md.link(md.text(claim.source), address("paper", claim.paper))]
    figures = [] if content.short else [f"{claim.id}{suffix}" for suffix in SUFFIXES]
    paper = re.sub(", .* ", " ", content.names[claim.paper])  # as people look for it: Wang 2017, Theorem 4.2: ...
    return md.page(
        md.heading(f"{paper}, {statement(claim)}", target=address(claim.id)),
        " · ".join([*source, *([f"errata {', '.join(errata)}"] if errata else [])]) + "\n",
        _answers(line),
        md.quote(" ".join(claim.statement.split())),
        md.bullets(md.text(words) for words in claim.assumptions),
        *(content.figure(name, f"Figure of {claim.id}", "../") for name in figures),
        md.heading("Verdicts", 2),
        md.table(_verdict_table(results), anchored=True),
        *(() if content.short else _evidence(content, results)),
    )


def _answers(line: ClaimLine) -> str:
    found, asked = line.answer, []
    for key, cell in found.cells.items():
        word = md.badge(symbols(cell.short), line.tone(key))
        asked.append(f"{md.text(question_of(found.subject, key))}: {word} {md.prose(symbols(cell.why))}")
    return md.bullets([*asked, *(md.prose(symbols(remark)) for remark in found.remarks)])


def _evidence(content: SiteContent, results: ClaimResults) -> list[str]:
    """Show what stands behind the verdicts: comparisons, where they are few enough to be read, parts and formulas."""
    compared = orderings_table(results)
    few = 0 < len(compared.rows) <= LEAST_SHOWN
    return [
        md.heading("Comparisons", 3) + "\n" + md.table(compared) if few else "",
        md.heading("How it is measured", 2),
        md.table(parts_table(results)),
        _formulas(results),
        md.heading("Numbers, sources, and how to make it again", 2),
        _sources(content, results),
        md.fenced(f"dpsco claim {results.id} --profile {content.inputs.profile}", "console"),
    ]


def _verdict_table(results: ClaimResults) -> ReportTable:
    """Tabulate its verdicts, each with its reason and remarks beside the word, where they are seen."""
    whole = claim_table(results)
    first, rest = ("Part", "Noise", "Verdict"), ("Reason", "Remarks", "Expected")

    def why(row: Verdict) -> str:
        return ". ".join(text for text in (reason(row), remarks(results, row)) if text not in ("", NOTHING))

    columns = {title: whole.columns[title] for title in first} | {"Why": Column(why, kind="prose")}
    others = {title: column for title, column in whole.columns.items() if title not in (*first, *rest)}
    return replace(whole, columns=columns | others)


def _formulas(results: ClaimResults) -> str:
    names = dict.fromkeys(part.bound for part in results.claim.parts if part.bound)
    bounds = {name.partition(".")[2]: get_bound(name) for name in names}
    said = md.bullets(f"{md.code(name)} = {md.text(bound.text)}" for name, bound in bounds.items())
    symbols = {key: symbol for bound in bounds.values() for key, symbol in bound.all_symbols.items()}
    told = "; ".join(f"{md.text(key)}: {md.text(symbols[key].words)}" for key in alphabetical(symbols))
    return "\n".join(filter(None, [said and f"Bounds:\n\n{said}", told and f"{told}.\n"]))


def _sources(content: SiteContent, results: ClaimResults) -> str:
    methods = dict.fromkeys(method.algorithm for part in results.claim.parts for method in part.methods)
    linked = [
        md.link(md.code(id), address("method", id)) if id in content.algorithms else md.code(id) for id in methods
    ]
    items = [f"Methods, with their code: {', '.join(linked)}"] if linked else []
    for found in number_tables(results):
        items.append(f"{md.text(found.title)}: {md.downloads(found.id, '../')}")
    file = claim_file(results.id)
    if file is not None:
        items.append(f"The experiment as it is run: [{file.name}](../files/{results.id}.yaml)")
    return md.bullets(items)


def yaml_files(content: SiteContent) -> dict[str, Path]:
    """Name among the downloads -> file, of every claim that ships."""
    found = {claim.id: claim_file(claim.id) for claim in content.inputs.claims}
    return {f"{id}.yaml": path for id, path in found.items() if path is not None}
