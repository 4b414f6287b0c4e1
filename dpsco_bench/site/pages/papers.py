"""A page per paper: what was tested, its own tables rebuilt, its figures, its noise, and its errata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.analysis.judge import FROM_MEMORY
from dpsco_bench.claims.catalogue import conf_files, naming
from dpsco_bench.claims.entries import build_checked
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.report.address import address
from dpsco_bench.report.ledger import LedgerRow
from dpsco_bench.report.numbers import NOTHING
from dpsco_bench.report.opening import PaperLine, claims_table, headline, noise_table, papers_table
from dpsco_bench.report.own_figures import FIGURES
from dpsco_bench.report.panels import BESIDE
from dpsco_bench.report.papers import judged_calibrations, rates_table
from dpsco_bench.report.rebuilt import GRADIENTS, UTILITY, RebuiltRow, rebuilt_tables
from dpsco_bench.report.scores import Score
from dpsco_bench.report.tables import ReportTable
from dpsco_bench.report.wording import noise_name, parameter_symbol
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.markdown import badge, bullets, code, heading, link, table, text, toctree
from dpsco_bench.site.pages.privacy import ledger_table

TITLES = {UTILITY: "Utility", GRADIENTS: "Gradients"}
NOISE_WORDS = {
    "confirms": "proven private",
    "contradicts": "shown not to be private",
    "unproven": "not shown to be private or not",
}


def paper_pages(content: SiteContent) -> Pages:
    """Write a page per paper, and the list of them."""
    index = [
        heading("Papers", target="papers"),
        f"{text(headline(content.lines))}.\n",
        table(papers_table(content.lines)),
        table(noise_table(content.lines)),
        toctree([line.paper for line in content.lines]),
    ]
    papers = {f"papers/{line.paper}": _paper(content, line) for line in content.lines}
    return {"papers/index": "\n".join(index), **papers}


def _paper(content: SiteContent, line: PaperLine) -> str:
    paper, known = line.paper, find_citation(line.paper)
    rates = rates_table(content.inputs, paper, line.name)
    files = f"[CSV](../tables/{rates.id}.csv), [Parquet](../tables/{rates.id}.parquet)"
    errata = (f"{link(entry.id, address(paper, entry.id))} {text(entry.title)}" for entry in content.errata[paper])
    pieces = [
        heading(line.name, target=address("paper", paper)),
        *((cited(known), abstract_of(known)) if known else ()),
        f"{text(headline([line]))}. {_noise(line)}\n",
        *_rebuilt(content, paper),
        heading("Its claims", 2),
        table(claims_table([line], content.inputs.profile)),
        *_figures(content, paper),
        f"Exponents of all {len(rates.rows)} sweeps, claimed beside measured: {files}.\n" if rates.rows else "",
        *_ledgers(content, paper),
        *([heading("Errata", 2), bullets(errata)] if content.errata[paper] else ()),
    ]
    return "\n".join(filter(None, pieces))


def _noise(line: PaperLine) -> str:
    """Say what is known of its own noise, and of the noise that it cites, a sentence each."""
    sentences = []
    for found, whose in ((line.privacy, "its own printed noise"), (line.recalled, "noise recalled of cited sources")):
        if said := [f"{found[key]} {word}" for key, word in NOISE_WORDS.items() if found.get(key)]:
            sentences.append(f"Of the experiments on {whose}, {', '.join(said)}.")
    return " ".join(sentences)


def _figures(content: SiteContent, paper: str) -> list[str]:
    pieces = []
    for own in FIGURES.of(paper).values():
        if content.drawn(own.name):
            says = own.says(content.inputs)
            pieces += [heading(says, 3, address("figure", own.name)), text(own.caption) + "\n"]
            pieces.append(content.figure(own.name, says, "../"))
    return [heading("Figures across claims", 2), *pieces] if pieces else []


def _ledgers(content: SiteContent, paper: str) -> list[str]:
    """Show its printed noise, and that of the methods that it compares with, which it does not print."""
    rows = _own_ledger(content, paper)
    known = {*list_algorithms()} & {row.first.cell.algorithm for row in rows}
    recalled = {id for id in known if FROM_MEMORY in get_algorithm(id).source}
    own, cited = ([row for row in rows if (row.first.cell.algorithm in recalled) is of] for of in (False, True))
    pieces = [
        heading("Its noise", 2),
        "What an accountant says of the paper's noise, at worst. A variant that an erratum corrects names it. The "
        "[privacy ledger](../privacy.md) has every row.\n",
        ledger_table(content, own),
    ]
    if cited:
        pieces.append("The same of the methods that it compares with, whose noise is recalled of their sources:\n")
        pieces.append(ledger_table(content, cited))
    return pieces


def worst_excess(row: LedgerRow) -> float:
    """Find the largest bound over claim among a row's cells."""
    return max(cell.noise.excess for cell in row.cells)


def _own_ledger(content: SiteContent, paper: str) -> list[LedgerRow]:
    """Pick the row of largest real over claimed epsilon of every mechanism, variant and status of the paper's noise."""
    groups: dict[tuple[str, str, str], list[LedgerRow]] = {}
    for row in content.ledger.rows:
        cell = row.first
        if cell.calibration == "paper" and cell.cell.algorithm.startswith(f"{paper}."):
            groups.setdefault((cell.cell.algorithm, cell.calibrated.variant, cell.noise.status), []).append(row)
    return [max(rows, key=worst_excess) for rows in groups.values()]


def _rebuilt(content: SiteContent, paper: str) -> list[str]:
    """Show the paper's own tables, entry by entry; then what each entry was measured by, with its numbers.

    What the entries have told already stands in the files alone.
    """
    pieces = []
    for found in (one for one in rebuilt_tables(content.inputs, paper) if one.rows):
        pieces += [heading(found.title, 2, address("table", found.id)), rebuilt(found)]
        if isinstance(found.rows[0], RebuiltRow):
            told = [title for title in found.columns if title.startswith(("Slope, ", "Verdict, ", "Claimed"))]
            pieces.append(f"What each entry was measured by, with its numbers:\n\n{table(found, told)}")
    return pieces


def rebuilt(found: ReportTable) -> str:
    """Show a paper's table as the paper has it, an entry a cell: the claim, and below it the verdicts that measure it.

    A table that a function computes has other rows, and reads as it is.
    """
    if not isinstance(found.rows[0], RebuiltRow):
        return table(found)
    rows: dict[str, list[RebuiltRow]] = {}
    for row in found.rows:
        rows.setdefault(row.entry.row, []).append(row)
    head = f"{{.plain}}\n| Row | {' | '.join(TITLES.values())} |\n| --- | {' | '.join('---' for _ in TITLES)} |\n"
    lines = [f"| {text(name)} | {' | '.join(_entry(own, column) for column in TITLES)} |" for name, own in rows.items()]
    return head + "\n".join(lines) + "\n"


def _entry(rows: Sequence[RebuiltRow], column: str) -> str:
    claimed = text(getattr(rows[0].entry, column) or NOTHING)
    sweeps = list({row.sweep.part: row.sweep for row in rows if row.claims == column}.values())
    told = []
    for noise in judged_calibrations(sweeps):
        if scores := [sweep.scores[noise] for sweep in sweeps if noise in sweep.scores]:
            told += _lines(noise_name(noise), scores)
    told = told or ["not measured in this profile"] * (claimed not in (NOTHING, "N/A"))
    return "<br>".join([f"**{claimed}**", *told])


def _lines(noise: str, scores: Sequence[Score]) -> list[str]:
    """Give every sweep a line where their parameters tell them apart; else count the sweeps of each verdict."""
    if len({score.row.parameter for score in scores}) == len(scores):
        return [
            f"{badge(score.verdict, score.mark)} "
            f"{link(f'in {text(parameter_symbol(score.row.parameter))}', _part(score))}, {noise}: {text(score.slope)}"
            f"{f', {BESIDE}' if score.row.beside else ''}"
            for score in scores
        ]
    words: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        aside = f" {BESIDE}" if score.row.beside else ""
        words.setdefault((badge(score.verdict, score.mark), aside), []).append(score)
    told = [
        f"{shown} {link('1', _part(own[0])) if len(own) == 1 else len(own)}{aside}"
        for (shown, aside), own in words.items()
    ]
    claims = dict.fromkeys(score.results.id for score in scores)
    led = ", ".join(link(code(id.partition(".")[2]), address(id)) for id in claims)
    return [f"{noise}, {len(scores)} sweeps: {', '.join(told)} ({led})"]


def _part(score: Score) -> str:
    return address(score.results.id, score.row.part)


@dataclass(frozen=True)
class Citation:
    """A publication, from the texts that this project reads: ``conf/paper/<paper>.yaml``.

    Attributes
    ----------
    published : str, where; empty if no text says it
    known_from : str, what says so, where the paper's own text does not
    arxiv, doi : str, identifiers; empty if no text gives them, since none is filled in from elsewhere
    abstract : str, what of it was tested
    sources : mapping, publications that it cites -> arXiv number, where its list of references gives one
    """

    title: str
    authors: list[str]
    published: str = ""
    known_from: str = ""
    arxiv: str = ""
    doi: str = ""
    abstract: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)


def find_citation(paper: str) -> Citation | None:
    """Read what is known of a paper; None where it has no file. Raises DpscoError for a wrong key."""
    for path in conf_files(f"paper/{paper}.yaml")[-1:]:
        with naming(path):
            return read_citation(path)
    return None


def read_citation(path: Path) -> Citation:
    """Read a file's citation. Raises InputError for a wrong key."""
    made: Citation = build_checked(Citation, read_shipped(path), f"paper {path.stem}")
    return made


def arxiv_link(number: str, words: str = "") -> str:
    """Link to a preprint."""
    return f"[{text(words or f'arXiv:{number}')}](https://arxiv.org/abs/{number})"


def abstract_of(found: Citation) -> str:
    """Say what of it was tested, with links to what it cites; empty where its file has neither."""
    links = "; ".join(f"{text(name)}: {arxiv_link(number)}" for name, number in found.sources.items())
    cites = f"Cited, with the numbers of its list of references: {links}." if links else ""
    said = [*filter(None, [text(found.abstract), cites])]
    return "\n\n".join(said) + "\n" if said else ""


def cited(found: Citation) -> str:
    """Cite a paper, with links where there are identifiers; else say that the texts have none."""
    links = [arxiv_link(found.arxiv)] if found.arxiv else []
    links += [f"[doi:{text(found.doi)}](https://doi.org/{found.doi})"] if found.doi else []
    where = f" {text(found.published)}" + (f" (from {text(found.known_from)})" if found.known_from else "") + "."
    missing = "The text used here gives neither arXiv number nor DOI of its own"
    missing += "" if found.published else ", nor a venue"
    told = f"{text(', '.join(found.authors))}. *{text(found.title)}*.{where if found.published else ''} "
    return told + (", ".join(links) if links else missing) + ".\n"
