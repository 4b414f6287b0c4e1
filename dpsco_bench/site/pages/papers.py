"""A page per paper: what was tested, its own tables rebuilt, its figures, its noise, and its errata."""

from __future__ import annotations

from collections import Counter

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.analysis.answer_text import counted
from dpsco_bench.analysis.judge import FROM_MEMORY
from dpsco_bench.paths import documents
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.report.address import address
from dpsco_bench.report.ledger import LedgerRow
from dpsco_bench.report.opening import PaperLine, claims_table, headline, noise_table, papers_table
from dpsco_bench.report.own_figures import FIGURES
from dpsco_bench.report.papers import rates_table
from dpsco_bench.report.rebuilt import rebuilt_tables
from dpsco_bench.report.tables import Table
from dpsco_bench.report.wording import symbols
from dpsco_bench.site.citations import abstract_of, cited, find_citation
from dpsco_bench.site.content import Content, Pages
from dpsco_bench.site.ledger import ledger_table
from dpsco_bench.site.markdown import NO_SEARCH, bullets, code, figure, heading, link, table, text, toctree
from dpsco_bench.site.rebuilt import entries, rebuilt


def paper_pages(content: Content) -> Pages:
    """A page per paper, and the list of them."""
    names = [line.paper for line in content.lines]
    index = [
        heading("Papers", target="papers"),
        f"{text(headline(content.lines))}.\n",
        table(papers_table(content.lines)),
        table(noise_table(content.lines)),
        toctree(names),
    ]
    return {
        "papers/index": "\n".join(index),
        **{f"papers/{line.paper}": _paper(content, line) for line in content.lines},
    }


def _paper(content: Content, line: PaperLine) -> str:
    paper = line.paper
    known = find_citation(paper)
    pieces = [
        heading(line.name, target=address("paper", paper)),
        *((cited(known), abstract_of(known)) if known else ()),
        f"{text(headline([line]))}. {_noise(line)}\n",
        *_rebuilt(content, paper),
        heading("Its claims", 2),
        table(claims_table([line], content.inputs.profile)),
        *_figures(content, paper),
        *_exponents(content, line),
        *_ledgers(content, paper),
        *_errata(content, paper),
    ]
    return "\n".join(filter(None, pieces))


def _noise(line: PaperLine) -> str:
    """Say what is known of its own noise, and of the noise that it cites, a sentence each."""
    words = {
        "confirms": "proven private",
        "contradicts": "shown not to be private",
        "unproven": "not shown to be private or not",
    }
    sentences = []
    for found, whose in ((line.privacy, "its own printed noise"), (line.recalled, "noise recalled of cited sources")):
        if said := [f"{found[key]} {word}" for key, word in words.items() if found.get(key)]:
            sentences.append(f"Of the experiments on {whose}, {', '.join(said)}.")
    return " ".join(sentences)


def _rebuilt(content: Content, paper: str) -> list[str]:
    """The paper's own tables, entry by entry; then what each entry was measured by, with its numbers."""
    pieces = []
    for found in rebuilt_tables(content.inputs, paper):
        if found.rows:
            pieces += [heading(found.title, 2, address("table", found.id)), rebuilt(found)]
            if entries(found):
                pieces.append(f"What each entry was measured by, with its numbers:\n\n{table(found, _told(found))}")
    return pieces


def _told(found: Table) -> list[str]:
    """Titles of a rebuilt table's columns that its entries have told already; they stand in the files."""
    return [title for title in found.columns if title.startswith(("Slope, ", "Verdict, ", "Claimed"))]


def _figures(content: Content, paper: str) -> list[str]:
    drawn = [own for own in FIGURES.of(paper).values() if content.drawn(own.name)]
    pieces = [heading("Figures across claims", 2)] if drawn else []
    for own in drawn:
        says = own.says(content.inputs)
        pieces.append(heading(says, 3, address("figure", own.name)))
        pieces += [text(own.caption) + "\n", figure(f"../figures/claims/{own.name}.svg", says)]
    return pieces


def _exponents(content: Content, line: PaperLine) -> list[str]:
    """Say where its exponents stand, sweep by sweep; the claims' pages show them one by one."""
    found = rates_table(content.inputs, line.paper, line.name)
    files = f"[CSV](../tables/{found.id}.csv), [Parquet](../tables/{found.id}.parquet)"
    return [f"Exponents of all {len(found.rows)} sweeps, claimed beside measured: {files}.\n"] if found.rows else []


def _ledgers(content: Content, paper: str) -> list[str]:
    """Its printed noise, and that of the methods that it compares with, which it does not print."""
    rows = _own_ledger(content, paper)
    known = {*list_algorithms()} & {row.first.cell.algorithm for row in rows}
    recalled = {id for id in known if FROM_MEMORY in get_algorithm(id).source}
    own, cited = ([row for row in rows if (row.first.cell.algorithm in recalled) is of] for of in (False, True))
    pieces = [heading("Its noise", 2)]
    pieces.append(
        "What an accountant says of the paper's noise, at worst. A variant that an erratum corrects names it. The "
        "[privacy ledger](../privacy.md) has every row.\n"
    )
    pieces.append(ledger_table(content, own))
    if cited:
        pieces.append("The same of the methods that it compares with, whose noise is recalled of their sources:\n")
        pieces.append(ledger_table(content, cited))
    return pieces


def worst_excess(row: LedgerRow) -> float:
    """The largest bound over claim among a row's cells."""
    return max(cell.noise.excess for cell in row.cells)


def _own_ledger(content: Content, paper: str) -> list[LedgerRow]:
    """The paper's noise: of every mechanism and variant the row of largest real over claimed epsilon, by status."""
    worst: dict[tuple[str, str, str], LedgerRow] = {}
    for row in content.ledger.rows:
        cell = row.first
        if cell.calibration == "paper" and cell.cell.algorithm.startswith(f"{paper}."):
            key = cell.cell.algorithm, cell.calibrated.variant, cell.noise.status
            known = worst.get(key)
            if known is None or worst_excess(row) > worst_excess(known):
                worst[key] = row
    return list(worst.values())


def _errata(content: Content, paper: str) -> list[str]:
    entries = content.errata[paper]
    if not entries:
        return []
    told = (f"{link(entry.id, address(paper, entry.id))} {text(entry.title)}" for entry in entries)
    return [heading("Errata", 2), bullets(told)]


def privacy_page(content: Content) -> Pages:
    """The privacy ledger of all papers."""
    counts = Counter(row.first.noise.status for row in content.ledger.rows)
    said = ", ".join(f"{STATUS_WORDS[status]} {count}" for status, count in counts.most_common())
    intro = (
        "What an accountant of the actual sampling scheme says about the noise that was used, beside what is claimed "
        f"for it. Of {len(content.ledger.rows)} rows: {said}."
    )
    more = ", and [accounting](guide/accounting.md)" if "accounting" in documents() else ""
    how = f"How a mechanism is charged: {code('dpsco account METHOD')}{more}."
    page = [
        NO_SEARCH,
        heading("Privacy ledger", target="privacy"),
        text(intro) + "\n",
        how + "\n",
        *_audits(content),
        heading("Every mechanism", 2),
        ledger_table(content, content.ledger.rows, note=content.ledger.note),
        "[CSV](tables/privacy.csv), [Parquet](tables/privacy.parquet).\n",
    ]
    return {"privacy": "\n".join(page)}


def _audits(content: Content) -> list[str]:
    """All audits: the lower bound, the accountant's value and the claim of every algorithm on one axis."""
    counts = Counter(score.verdict for score in content.audits)
    if not counts:
        return []
    intro = (
        f"Runs on neighbouring data sets bound ε from below. {symbols(counted(counts))} All bounds hold "
        "together at 99.9 %. An audit can refute a claim; it never proves privacy."
    )
    more = " [How they are made](guide/audits.md)." if "audits" in documents() else ""
    return [heading("Audits", 2), text(intro) + more + "\n", figure("figures/site/audits.svg", "Audits")]
