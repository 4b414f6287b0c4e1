"""The site of a profile: its pages as Markdown, its figures and tables, and what Sphinx makes of them."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpsco_bench.jsonio import naming, write_atomic
from dpsco_bench.leaderboard.tables import board_tables
from dpsco_bench.paths import documents
from dpsco_bench.report.audits import audits_figure
from dpsco_bench.report.drawing import style, svg_text
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.opening import answers_table, claims_table, papers_figure, papers_table
from dpsco_bench.report.opening import counts_table as stated_table
from dpsco_bench.report.own_figures import write_figures
from dpsco_bench.report.papers import errata_table, number_tables, rates_table
from dpsco_bench.report.rebuilt import rebuilt_tables
from dpsco_bench.report.scores import counts_table, scoreboard
from dpsco_bench.report.tables import ReportTable, write_table
from dpsco_bench.site.content import SiteContent
from dpsco_bench.site.findings import draw_findings, findings
from dpsco_bench.site.pages.claims import claim_pages, yaml_files
from dpsco_bench.site.pages.guide import guide_pages
from dpsco_bench.site.pages.home import home_page, which_pages
from dpsco_bench.site.pages.ledgers import errata_pages, jobs_table, privacy_page, provenance_page
from dpsco_bench.site.pages.methods import method_pages
from dpsco_bench.site.pages.papers import paper_pages
from dpsco_bench.site.sphinx import one_file, rendered, unlinked

TITLE = "dpsco_bench"
SITE, SINGLE = "site", "site.html"  # folder of the site, and the one file to mail, beside the other results


def write_all(inputs: Inputs, folder: Path, figures: Path, cores: int = 1) -> tuple[Path, int]:
    """Write a profile's tables and figures, and its site, which changes only when it is whole.

    Returns the first page, and how many there are. Raises InputError for a finding that the results do not support, and
    SiteError for a link without a target, or markup that cannot be read.
    """
    write_figures(inputs, figures)
    out = folder / SITE
    with _built(inputs, figures, out, "html", cores) as (made, pages):
        if out.exists():
            out.rename(made.with_name("old"))
        made.rename(out)
    return out / "index.html", pages


def write_one(inputs: Inputs, folder: Path, figures: Path) -> Path:
    """Build all pages as one file in a folder, style and pictures inside; returns it. Writes the tables too."""
    with _built(inputs, figures, folder / SINGLE, "singlehtml", 1) as (made, _):
        write_atomic(folder / SINGLE, one_file(made))
    return folder / SINGLE


@contextmanager
def _built(inputs: Inputs, figures: Path, out: Path, builder: str, cores: int) -> Iterator[tuple[Path, int]]:
    """Write the tables, and give Sphinx's output in a folder beside its place, with the number of pages."""
    from dpsco_bench.site.sphinx import build

    tables = out.parent / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    gc.disable()  # most objects live until the end: looking through them takes a third of the time
    try:
        for table in all_tables(SiteContent(inputs, figures)):
            write_table(table, tables)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as name, naming(out, Path(name)):
            work = Path(name)
            pages = write_pages(inputs, figures, tables, work / "pages", builder != "html")
            build(work / "pages", work / "made", TITLE, builder, cores)
            for left in (".buildinfo", "objects.inv"):
                (work / "made" / left).unlink(missing_ok=True)
            shutil.rmtree(work / "made" / "_sources", ignore_errors=True)
            yield work / "made", len(pages)
    finally:
        gc.enable()


def all_tables(content: SiteContent) -> Iterator[ReportTable]:
    """List every table of the report that has raw values, which is written in all formats."""
    inputs, lines = content.inputs, content.lines
    yield papers_table(lines)
    for line in lines:
        yield answers_table(line)
        yield stated_table(line)
    yield claims_table(lines, inputs.profile)
    yield scoreboard(inputs)
    for board in inputs.boards:
        yield from board_tables(board)
    yield counts_table(content.scores)
    yield content.ledger
    yield errata_table([entry for entries in content.errata.values() for entry in entries])
    yield jobs_table(inputs)
    for paper in inputs.papers:
        yield rates_table(inputs, paper, content.names[paper])
        yield from rebuilt_tables(inputs, paper)
    for claim in inputs.claims:
        yield from number_tables(claim)


def write_pages(inputs: Inputs, figures: Path, tables: Path, folder: Path, single: bool = False) -> list[str]:
    """Write the pages as Markdown with links to figures and tables; ``single`` leaves out what is too large to mail."""
    content = SiteContent(inputs, figures, folder / "figures" / "site", single)
    content.own.mkdir(parents=True)
    (folder / "files").mkdir()
    supported, unsaid = findings(content)
    with style():
        write_atomic(content.own / "papers.svg", svg_text(papers_figure(content.lines)))
        if content.audits:
            write_atomic(content.own / "audits.svg", svg_text(audits_figure(content.audits)))
    draw_findings(supported, content.own)
    pages = {
        **home_page(content, supported, unsaid),
        **paper_pages(content),
        **claim_pages(content),
        **method_pages(content),
        **which_pages(content),
        **privacy_page(content),
        **errata_pages(content),
        **guide_pages(content),
        **provenance_page(content),
    }
    for name, page in rendered(unlinked(pages) if single else pages, single).items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    docs = next(iter(documents().values()), None)
    links = {folder / "files" / name: path for name, path in yaml_files(content).items()}
    links |= {folder / "files" / "docs": docs.parent} if docs else {}
    links |= {folder / "figures" / "claims": figures, folder / "tables": tables}
    for place, path in links.items():  # Sphinx copies what is used
        os.symlink(path.resolve(), place)
    return [*pages]
