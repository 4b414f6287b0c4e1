"""The errata ledger: as printed, the calculation, what follows and what does not, what it changes, what checks it."""

from __future__ import annotations

from dpsco_bench.claims.erratum import BY_HAND, CHANGES, WEIGHTIEST, Erratum, counted_changes
from dpsco_bench.report.address import address
from dpsco_bench.report.papers import errata_note
from dpsco_bench.report.tables import Column, ReportTable, leads_to
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.markdown import bullets, code, fenced, heading, link, table, text, toctree

ENTRY = "An entry is a place where a text used here, as printed, needs a correction or a remark."


def errata_pages(content: SiteContent) -> Pages:
    """Write the list of all entries, and a page per paper."""
    papers = [paper for paper in content.inputs.papers if content.errata[paper]]
    entries = [entry for paper in papers for entry in content.errata[paper]]
    columns = {
        "Entry": Column(lambda entry: f"{entry.paper} {entry.id}", link=leads_to("paper", "id")),
        "What": Column("title"),
        "Changes": Column("changes", kind="code"),
        "What follows": Column("consequence", lambda words: words.split(". ")[0].rstrip(".") + "."),
    }
    index = [
        heading("Errata", target="errata"),
        text(f"{counted_changes(entries)} {ENTRY} {errata_note([])}") + "\n",
        legend(),
        table(ReportTable("errata.list", "Errata", columns, entries)),
        toctree(papers),
    ]
    return {"errata/index": "\n".join(index), **{f"errata/{paper}": _paper(content, paper) for paper in papers}}


def legend() -> str:
    """Say what the words for changes mean."""
    return bullets(f"{code(word)}: {text(change.meaning)}" for word, change in CHANGES.items()) + f"\n{WEIGHTIEST}\n"


def _paper(content: SiteContent, paper: str) -> str:
    entries = content.errata[paper]
    title = heading(f"Errata: {content.names[paper]}", target=address("errata", paper))
    told = f"{text(counted_changes(entries))} {link('What the words mean', 'errata')}. {text(errata_note(entries))}\n"
    return "\n".join([title, told, *(_entry(content, entry) for entry in entries)])


def _entry(content: SiteContent, entry: Erratum) -> str:
    touched = [c.id for c in content.inputs.of_paper(entry.paper) if entry.id in c.claim.errata]
    claims = ", ".join(link(code(id), address(id)) for id in touched)
    pieces = [
        heading(f"{entry.id}. {entry.title}", 2, address(entry.paper, entry.id)),
        f"**Printed.** {text(entry.printed)}\n",
        f"**Calculation.** {text(entry.calculation)}\n",
        f"**What follows.** {text(entry.consequence)}\n",
        f"**Changes.** {code(entry.changes)}\n",
        (f"Touches {claims}. " if claims else "") + ("Check it with\n" if entry.command else f"Check it {BY_HAND}.\n"),
        *([fenced(entry.command, "console")] if entry.command else []),
    ]
    return "\n".join(pieces)
