"""The site of a profile: its pages as Markdown, its figures and tables, and what Sphinx makes of them.

Sphinx fetches nothing, and its warnings are errors. Tables go in as HTML: it keeps five nodes a cell and walks over all
of them some two hundred times. As HTML a table is one node, whose words the search finds as well.
"""

from __future__ import annotations

import base64
import gc
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from posixpath import join, normpath, relpath
from typing import Any
from urllib.parse import unquote

from docutils.nodes import make_id
from markdown_it import MarkdownIt
from mdit_py_plugins.attrs import attrs_plugin

from dpsco_bench.errors import DpscoError
from dpsco_bench.jsonio import naming, write_atomic
from dpsco_bench.leaderboard.tables import board_tables
from dpsco_bench.paths import shared_dir
from dpsco_bench.report.drawing import style, svg_text
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.kind_figures import audits_figure
from dpsco_bench.report.own_figures import write_figures
from dpsco_bench.report.rebuilt import errata_table, number_tables, rates_table, rebuilt_tables
from dpsco_bench.report.tables import ReportTable, write_table
from dpsco_bench.report.verdicts import counts_table, scoreboard
from dpsco_bench.site import markdown as md
from dpsco_bench.site.content import SiteContent, claims_table, papers_figure, papers_table
from dpsco_bench.site.pages.home import draw_findings, findings, guide_pages, home_page, which_pages
from dpsco_bench.site.pages.ledgers import errata_pages, jobs_table, privacy_page, provenance_page
from dpsco_bench.site.pages.methods import method_pages
from dpsco_bench.site.pages.papers import claim_pages, paper_pages, yaml_files

TITLE = "dpsco_bench"
SITE, SINGLE = "site", "site.html"  # folder of the site, and the one file to mail, beside the other results
THEME = Path(__file__).with_name("theme")
NO_SIDEBAR = ("index", "*/index", "verdicts", "which", "privacy", "provenance")
"""Pages without pages beside them; their tables need the room."""
CONTENTS = ("index", "guide/*", "errata/*", "papers/*", "claims/*.*", "methods/*.*")
"""Pages with a list of their headings, "On this page"."""
_LABEL = re.compile(r"^\((\S+)\)=$", re.MULTILINE)
_ANCHOR = re.compile(r"\{#(\S+?)\}")
_TABLE = re.compile(r"^\{\.(sortable|plain)\}\n((?:\|.*\n)+)", re.MULTILINE)
_LINK = re.compile(r"\]\(#(\S+?)\)")
_STYLE = re.compile(r'<link[^>]*?href="([^"?]+\.css)[^"]*"[^>]*>')
_SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>", re.S)
_OTHER_LINK = re.compile(r'<link[^>]*rel="(?:icon|index|search|next|prev|preload|canonical|author)"[^>]*>')
_IMAGE = re.compile(r'(<img[^>]*?)src="([^"]+)"')
_DOUBLE = re.compile(r'href="#document-[^"#]*#')
_DOWNLOAD = re.compile(r'<a[^>]*?href="_downloads/[^"]*"[^>]*>(.*?)</a>', re.S)
_SEARCH = re.compile(r"<(button|dialog|form)\b[^>]*(?:search|theme-switch|primary-toggle|sidebar)[^>]*>.*?</\1>", re.S)
_FONT = re.compile(r"@font-face\s*{[^}]*}")
_PAGE = re.compile(
    r'<span id="(document-[^"]+)"></span>\s*<section[^>]*>\s*(?:<span id="[^"]*"></span>\s*)*<h\d>([^<]*)<a class="head'
)
_SECTION = re.compile(r'(<a class="nav-link nav-internal" href=")#(">\s*(.*?)\s*</a>)', re.S)
_TO_PAGE = re.compile(r"\[([^\[\]]*)\]\(([\w./-]+)\.md\)")
_PATH = re.compile(r'\bd="([^"]*)"')
_LONG = re.compile(r"-?\d+\.\d{3,}(?![\de])")
_READER = MarkdownIt("commonmark").enable("table").use(attrs_plugin, spans=True)


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
    tables = out.parent / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    gc.disable()  # most objects live until the end: looking through them takes a third of the time
    try:
        for table in all_tables(SiteContent(inputs, figures)):
            write_table(table, tables)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as name, naming(out, Path(name)):
            pages, made = Path(name) / "pages", Path(name) / "made"
            written = write_pages(inputs, figures, tables, pages, builder != "html")
            build(pages, made, builder, cores)
            for left in (".buildinfo", "objects.inv"):
                (made / left).unlink(missing_ok=True)
            shutil.rmtree(made / "_sources", ignore_errors=True)
            yield made, len(written)
    finally:
        gc.enable()


def all_tables(content: SiteContent) -> Iterator[ReportTable]:
    """List every table of the report that has raw values, which is written as files."""
    inputs, lines = content.inputs, content.lines
    yield papers_table(lines)
    for line in lines:
        yield from (line.answers, line.counts)
    yield claims_table(inputs)
    yield scoreboard(inputs)
    for board in inputs.boards:
        yield from board_tables(board)
    yield counts_table(inputs.rows)
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
            write_atomic(content.own / "audits.svg", svg_text(audits_figure(inputs.claims)))
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
    for name, page in rendered(pages, single).items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    links = {folder / "files" / name: path for name, path in yaml_files(content).items()}
    links |= {folder / "files" / "docs": shared_dir("docs"), folder / "figures" / "claims": figures}
    links |= {folder / "tables": tables}
    for place, path in links.items():  # Sphinx copies what is used
        os.symlink(path.resolve(), place)
    return [*pages]


def settings(static: Path) -> dict[str, Any]:
    """Configure Sphinx: sections on top, the pages of a section at the side, headings of a page opposite."""
    return {
        **dict.fromkeys(("project", "html_title", "html_short_title"), TITLE),
        "extensions": ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"],
        "myst_enable_extensions": ["attrs_inline", "attrs_block", "colon_fence"],
        "myst_heading_anchors": 3,
        "myst_ref_domains": ["std"],
        "smartquotes": False,
        "exclude_patterns": ["figures", "tables", "files"],
        "html_theme": "pydata_sphinx_theme",
        "html_theme_options": {
            "logo": {"text": TITLE},
            "navbar_align": "left",
            "header_links_before_dropdown": 9,
            "show_nav_level": 1,
            "navigation_depth": 2,
            "collapse_navigation": False,  # open, the list of a folder is made once; closed, anew for each page
            "show_toc_level": 2,
            "secondary_sidebar_items": {page: ["page-toc"] for page in CONTENTS},
            **{place: [] for place in ("footer_start", "footer_center", "footer_end")},
            "pygments_light_style": "a11y-high-contrast-light",
            "pygments_dark_style": "a11y-high-contrast-dark",
        },
        "html_context": {"default_mode": "auto"},
        "html_sidebars": {page: [] for page in NO_SIDEBAR},
        "html_static_path": [str(static)],
        "html_css_files": ["dt_bundle.css", "site.css"],
        "html_js_files": [("tables.js", {"defer": "defer"})],
        "html_search_scorer": str(THEME / "search.js"),
        "html_use_index": False,
        "html_copy_source": False,
        **dict.fromkeys(("html_show_sourcelink", "html_show_sphinx", "html_show_copyright"), False),
        "html_permalinks_icon": "#",
        "autodoc_typehints": "none",
        "napoleon_use_ivar": True,
        "autodoc_member_order": "bysource",
    }


def build(source: Path, out: Path, builder: str, cores: int) -> None:
    """Build pages anew from a folder of Markdown, by the ``builder`` ``html`` or ``singlehtml``.

    DataTables goes in as text in a script: a browser refuses to load a module from a file. Raises SiteError for the
    first of Sphinx's warnings.
    """
    import itables
    import myst_parser  # noqa: F401  the configuration names it
    from sphinx.application import Sphinx
    from sphinx.search.en import SearchEnglish
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    class Words(SearchEnglish):
        """English as the search reads it; the stem of a word is looked for once, not once a page."""

        def __init__(self, options: dict[str, str]) -> None:
            super().__init__(options)
            self.stem = cache(super().stem)  # type: ignore[method-assign]

    source, said, shipped = source.resolve(), io.StringIO(), Path(itables.__file__).parent / "html"
    static, trees = (source.with_name(f"{source.name}.{end}") for end in ("static", "trees"))
    static.mkdir(parents=True)
    bundle = base64.b64encode((shipped / "dt_bundle.js").read_bytes()).decode("ascii")
    (static / "datatables.js").write_text(f'window.dataTablesBundle = "{bundle}";\n', encoding="ascii")
    for path in (shipped / "dt_bundle.css", THEME / "tables.js", THEME / "site.css"):
        shutil.copyfile(path, static / path.name)
    with patch_docutils(None), docutils_namespace():
        config = settings(static)
        application = Sphinx(source, None, out, trees, builder, config, None, said, freshenv=False, parallel=cores)
        application.add_search_language(Words)
        application.build()
    warnings = [line for line in re.sub(r"\x1b\[[\d;]*m", "", said.getvalue()).splitlines() if line.strip()]
    if warnings:
        more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
        raise SiteError(f"site: {warnings[0].replace(str(source) + '/', '')}{more}")


class SiteError(DpscoError):
    """A link without a target, or markup that cannot be read."""


def rendered(pages: Mapping[str, str], single: bool = False) -> dict[str, str]:
    """Turn the tables of pages into HTML; where all are ``single`` page, an address is an anchor.

    There words that lead to a page that is left out lead nowhere. Raises SiteError for a link of a table without a
    target.
    """
    homes = {target: name for name, page in pages.items() for target in _LABEL.findall(page)}
    tables = ((name, rows) for name, page in pages.items() for _, rows in _TABLE.findall(page))
    anchors = {target: name for name, rows in tables for target in _ANCHOR.findall(rows)}

    def led(name: str, found: re.Match[str]) -> str:
        target = found[1]
        home = anchors.get(target) or homes.get(target)
        if home is None:
            raise SiteError(f"site: {name}: a table links to {target}, which is nowhere")
        page = "" if single or home == name else relpath(f"{home}.html", f"{name}/..")
        return f"]({page}#{target if target in anchors else make_id(target)})"

    def table(name: str, found: re.Match[str]) -> str:
        made = _READER.render(_LINK.sub(partial(led, name), found[2]))
        body = made.replace('style="text-align:right"', 'class="text-right"')
        body = body.replace("<table>", f'<table class="{found[1]} table">', 1).strip()
        return md.fenced(f'<div class="pst-scrollable-table-container">{body}</div>', "{raw} html")  # it scrolls

    def kept(name: str, found: re.Match[str]) -> str:
        page = normpath(join(name, "..", found[2]))
        return found[0] if page in pages or not single else found[1] or f"the site's page `{page}`"

    return {
        name: _TABLE.sub(partial(table, name), _TO_PAGE.sub(partial(kept, name), page)) for name, page in pages.items()
    }


def one_file(made: Path) -> str:
    """Make the page of a folder that Sphinx's builder ``singlehtml`` wrote a page that needs no other file.

    Coordinates of paths in pictures are rounded to a hundredth of a point; transforms, which magnify, stay.
    """

    def sheet(found: re.Match[str]) -> str:
        path = made / found[1]
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        return f"<style>{_FONT.sub('', text)}</style>"  # fonts are further files

    def picture(found: re.Match[str]) -> str:
        drawn = (made / unquote(found[2])).read_text(encoding="utf-8")
        drawn = _PATH.sub(lambda path: f'd="{hundredth(path[1])}"', drawn)
        return f'{found[1]}src="data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"'

    hundredth = partial(_LONG.sub, lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."))
    page = (made / "index.html").read_text(encoding="utf-8")
    for pattern in (_SCRIPT, _OTHER_LINK, _SEARCH):
        page = pattern.sub("", page)
    page = _DOUBLE.sub('href="#', _STYLE.sub(sheet, page))
    page = _DOWNLOAD.sub(r"\1", page)
    first: dict[str, str] = {}  # the bar of sections leads to the first page of each
    for target, title in _PAGE.findall(page):
        first.setdefault(title, target)
    page = _SECTION.sub(lambda found: f"{found[1]}#{first.get(found[3], '')}{found[2]}", page)
    return _IMAGE.sub(picture, page).replace('data-bs-theme="auto"', "")
