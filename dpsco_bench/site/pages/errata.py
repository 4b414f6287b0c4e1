"""The errata ledger: as printed, the calculation, what follows and what does not, and what checks it."""

from __future__ import annotations

from dpsco_bench.claims.catalogue import BY_HAND, Erratum
from dpsco_bench.report.address import address
from dpsco_bench.report.papers import errata_note
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.site.content import Content, Pages
from dpsco_bench.site.markdown import code, fenced, heading, link, table, text, toctree


def errata_pages(content: Content) -> Pages:
    """The list of all entries, and a page per paper."""
    papers = [paper for paper in content.inputs.papers if content.errata[paper]]
    entries = [entry for paper in papers for entry in content.errata[paper]]
    columns = (
        Column("Entry", lambda e: f"{e.paper} {e.id}", link=lambda e: address(e.paper, e.id)),
        Column("What", lambda e: e.title),
        Column("What follows", lambda e: e.consequence.split(". ")[0].rstrip(".") + "."),
    )
    index = [
        heading("Errata", target="errata"),
        f"{len(entries)} places where the texts used here, as printed, need a correction or a remark. "
        f"{text(errata_note([]))}\n",
        table(Table("errata.list", "Errata", columns, entries)),
        toctree(papers),
    ]
    return {"errata/index": "\n".join(index), **{f"errata/{paper}": _paper(content, paper) for paper in papers}}


def _paper(content: Content, paper: str) -> str:
    entries = content.errata[paper]
    pieces = [
        heading(f"Errata: {content.names[paper]}", target=address("errata", paper)),
        text(errata_note(entries)) + "\n",
    ]
    return "\n".join([*pieces, *(_entry(content, entry) for entry in entries)])


def _entry(content: Content, entry: Erratum) -> str:
    touched = [c.id for c in content.inputs.of_paper(entry.paper) if entry.id in c.claim.errata]
    claims = ", ".join(link(code(id), address(id)) for id in touched)
    pieces = [
        heading(f"{entry.id}. {entry.title}", 2, address(entry.paper, entry.id)),
        f"**Printed.** {text(entry.printed)}\n",
        f"**Calculation.** {text(entry.calculation)}\n",
        f"**What follows.** {text(entry.consequence)}\n",
        (f"Touches {claims}. " if claims else "") + ("Check it with\n" if entry.command else f"Check it {BY_HAND}.\n"),
        *([fenced(entry.command, "console")] if entry.command else []),
    ]
    return "\n".join(pieces)
