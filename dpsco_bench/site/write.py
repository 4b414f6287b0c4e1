"""The site of a profile: its pages as Markdown, its figures and tables, and what Sphinx makes of them."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dpsco_bench.jsonio import naming, write_atomic
from dpsco_bench.paths import documents
from dpsco_bench.report.all_tables import all_tables
from dpsco_bench.report.audits import audits_figure
from dpsco_bench.report.drawing import style, svg_text
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.opening import papers_figure
from dpsco_bench.report.own_figures import figure_names, write_figures
from dpsco_bench.report.parallel import Task, beside
from dpsco_bench.report.tables import write_table
from dpsco_bench.site.boxes import fit
from dpsco_bench.site.content import Content
from dpsco_bench.site.finding_figures import write_figures as draw_findings
from dpsco_bench.site.findings import findings
from dpsco_bench.site.pages.claims import claim_pages, yaml_files
from dpsco_bench.site.pages.errata import errata_pages
from dpsco_bench.site.pages.guide import guide_pages
from dpsco_bench.site.pages.home import home_page
from dpsco_bench.site.pages.methods import method_pages
from dpsco_bench.site.pages.papers import paper_pages, privacy_page
from dpsco_bench.site.pages.provenance import provenance_page
from dpsco_bench.site.pages.which import which_pages
from dpsco_bench.site.rendered import rendered
from dpsco_bench.site.single import one_file, unlinked

TITLE = "dpsco_bench"
SITE, SINGLE = "site", "site.html"
"""Folder of the site, and the one file to mail, beside the other results."""


@dataclass(frozen=True)
class Sources:
    """Where a site's parts lie.

    Attributes
    ----------
    figures, tables : Path, folders that hold the figures and the tables of the profile
    coming : callable, waits for the papers' figures and the tables, which are made meanwhile; by default none are
    """

    figures: Path
    tables: Path
    coming: Task | None = None


def write_pages(inputs: Inputs, sources: Sources, folder: Path, single: bool = False) -> list[str]:
    """Write the pages as Markdown, with links to the figures and tables beside them; returns the pages' names.

    Raises InputError for a finding of what ships that the results do not support, and SiteError for a link that leads
    nowhere.

    Parameters
    ----------
    single : bool, whether all pages become one, which leaves out what makes it too large to mail
    """
    coming = figure_names(claim.id for claim in inputs.claims) if sources.coming else ()
    content = Content(inputs, sources.figures, frozenset(coming), single)
    drawn = folder / "figures" / "site"
    drawn.mkdir(parents=True)
    (folder / "files").mkdir()
    supported, unsaid = findings(content)
    with style():
        write_atomic(drawn / "papers.svg", svg_text(papers_figure(content.lines)))
        if content.audits:
            write_atomic(drawn / "audits.svg", svg_text(audits_figure(content.audits)))
    pages = {
        **paper_pages(content),
        **claim_pages(content),
        **method_pages(content),
        **which_pages(content),
        **privacy_page(content),
        **errata_pages(content),
        **guide_pages(content),
        **provenance_page(content),
    }
    said = draw_findings(supported, drawn)
    pages = {**home_page(content, said, unsaid), **pages}
    for name, page in rendered(unlinked(pages) if single else pages, single).items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    _place(folder, sources, yaml_files(content))
    return [*pages]


def _place(folder: Path, sources: Sources, files: Mapping[str, Path]) -> None:
    """What the pages show and offer beside their text: links to it, Sphinx copies what is used."""
    os.symlink(sources.figures.resolve(), folder / "figures" / "claims")
    os.symlink(sources.tables.resolve(), folder / "tables")
    for name, path in files.items():
        os.symlink(path.resolve(), folder / "files" / name)
    docs = next(iter(documents().values()), None)
    if docs is not None:
        os.symlink(docs.parent.resolve(), folder / "files" / "docs")


@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes
    ----------
    page : Path, the first page of the site
    pages : int, how many it has
    files : list of Path, all files of the site, the tables, and the papers' figures
    """

    page: Path
    pages: int
    files: list[Path]


def write_all(inputs: Inputs, folder: Path, figures: Path, cores: int = 1) -> Written:
    """Write a profile's tables, its papers' figures, and its site.

    Parameters
    ----------
    folder : Path, ``results/<profile>``
    figures : Path, ``figures/<profile>``, where the claims' figures lie
    cores : int, how many processes read and write pages

    Raises
    ------
    InputError
        For a finding that the results do not support.
    SiteError
        For a link without a target, or markup that cannot be read.
    """
    # What pages lead to and need not be there before they are built.
    rest = [partial(write_figures, inputs, figures), partial(_tables, inputs, folder)]
    with unswept(), beside(rest, cores) as written:
        page, pages = write_site(inputs, Sources(figures, folder / "tables", written), folder / SITE, cores)
        others = [path for files in written() for path in files]
    made = sorted(path for path in page.parent.rglob("*") if path.is_file())
    return Written(page, pages, [*made, *others])


@contextmanager
def unswept() -> Iterator[None]:
    """Leave garbage in cycles until the end: most objects live that long, and looking through them takes a third."""
    swept = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if swept:
            gc.enable()


def _tables(inputs: Inputs, folder: Path) -> list[Path]:
    """Write every table in every format; returns the files."""
    return [path for table in all_tables(inputs) for path in write_table(table, folder / "tables")]


def write_site(inputs: Inputs, sources: Sources, out: Path, cores: int = 1) -> tuple[Path, int]:
    """Build the site into a folder, which changes only when all of it is there.

    Returns its first page, and how many it has.
    """
    with _built(inputs, sources, out, "html", cores) as (made, pages, work):
        if out.exists():
            out.rename(work / "old")
        made.rename(out)
    return out / "index.html", pages


def write_one(inputs: Inputs, folder: Path, figures: Path) -> Path:
    """Build all pages as one file in a folder, style and pictures inside; returns it. Writes the tables too."""
    _tables(inputs, folder)
    sources = Sources(figures, folder / "tables")
    with unswept(), _built(inputs, sources, folder / SINGLE, "singlehtml", 1) as (made, _, _):
        write_atomic(folder / SINGLE, one_file(made))
    return folder / SINGLE


@contextmanager
def _built(inputs: Inputs, sources: Sources, out: Path, builder: str, cores: int) -> Iterator[tuple[Path, int, Path]]:
    """Sphinx's output in a folder beside the place where it goes, how many pages went in, and that folder's parent."""
    from dpsco_bench.site.sphinx import build

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as name:
        work = Path(name)
        with naming(out, work):
            (work / "pages").mkdir()
            pages = write_pages(inputs, sources, work / "pages", builder != "html")
            if sources.coming:
                sources.coming()
            fit(work / "pages", pages)
            build(work / "pages", work / "made", TITLE, builder, cores)
        for left in (".buildinfo", "objects.inv", "_sources"):
            remove(work / "made" / left)
        yield work / "made", len(pages), work


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
