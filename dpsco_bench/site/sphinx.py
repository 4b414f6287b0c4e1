"""Sphinx on a folder of Markdown: the site, or the one page to mail. Nothing is fetched, and warnings are errors.

Tables go in as HTML. Sphinx keeps five nodes a cell and walks over all of them some two hundred times: of a site of
large tables that is most of the time. As HTML a table is one node, whose words the search finds as well.
"""

from __future__ import annotations

import base64
import io
import re
import shutil
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from posixpath import join, normpath, relpath
from typing import Any
from urllib.parse import unquote

from docutils.nodes import make_id
from markdown_it import MarkdownIt
from mdit_py_plugins.attrs import attrs_plugin

from dpsco_bench.errors import DpscoError
from dpsco_bench.site.markdown import fenced

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


def settings(title: str, static: Path) -> dict[str, Any]:
    """Configure Sphinx: sections on top, the pages of a section at the side, headings of a page opposite."""
    return {
        "project": title,
        "html_title": title,
        "html_short_title": title,
        "extensions": ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"],
        "myst_enable_extensions": ["attrs_inline", "attrs_block", "colon_fence"],
        "myst_heading_anchors": 3,
        "myst_ref_domains": ["std"],
        "smartquotes": False,
        "exclude_patterns": ["figures", "tables", "files"],
        "html_theme": "pydata_sphinx_theme",
        "html_theme_options": {
            "logo": {"text": title},
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


def build(source: Path, out: Path, title: str, builder: str = "html", cores: int = 1) -> None:
    """Build pages anew from a folder of Markdown, by the ``builder`` ``html`` or ``singlehtml``.

    Raises SiteError for the first of Sphinx's warnings.
    """
    import myst_parser  # noqa: F401  the configuration names it
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    source, out = source.resolve(), out.resolve()
    said = io.StringIO()
    trees = source.with_name(f"{source.name}.trees")
    config = settings(title, _assets(source.with_name(f"{source.name}.static")))
    with patch_docutils(None), docutils_namespace():
        application = Sphinx(
            str(source), None, str(out), str(trees), builder, config, None, said, freshenv=False, parallel=cores
        )
        application.add_search_language(_words())
        application.build()
    script = out / "_static" / "scripts" / "pydata-sphinx-theme.js"
    if script.is_file():  # the theme tells the console what it does
        script.write_text(script.read_text("utf-8").replace("console.log(", "void("), encoding="utf-8")
    warnings = [line for line in re.sub(r"\x1b\[[\d;]*m", "", said.getvalue()).splitlines() if line.strip()]
    if warnings:
        more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
        raise SiteError(f"site: {warnings[0].replace(str(source) + '/', '')}{more}")


def _words() -> type:
    """English as the search reads it; the stem of a word is looked for once, not once a page."""
    from sphinx.search.en import SearchEnglish

    class Words(SearchEnglish):
        def __init__(self, options: dict[str, str]) -> None:
            super().__init__(options)
            self.stem = cache(super().stem)  # type: ignore[method-assign]

    return Words


def _assets(folder: Path) -> Path:
    """Write the style, and DataTables as text in a script: a browser refuses to load a module from a file."""
    import itables

    folder.mkdir(parents=True, exist_ok=True)
    shipped = Path(itables.__file__).parent / "html"
    bundle = base64.b64encode((shipped / "dt_bundle.js").read_bytes()).decode("ascii")
    (folder / "datatables.js").write_text(f'window.dataTablesBundle = "{bundle}";\n', encoding="ascii")
    for path in (shipped / "dt_bundle.css", THEME / "tables.js", THEME / "site.css"):
        shutil.copyfile(path, folder / path.name)
    return folder


class SiteError(DpscoError):
    """A link without a target, or markup that cannot be read."""


def rendered(pages: Mapping[str, str], single: bool = False) -> dict[str, str]:
    """Turn the tables of pages into HTML; where all are ``single`` page, an address is an anchor.

    Raises SiteError for a link of a table without a target.
    """
    homes = {target: name for name, page in pages.items() for target in _LABEL.findall(page)}
    tables = ((name, rows) for name, page in pages.items() for _, rows in _TABLE.findall(page))
    anchors = {target: name for name, rows in tables for target in _ANCHOR.findall(rows)}

    def page_of(name: str, page: str) -> str:
        def led(found: re.Match[str]) -> str:
            target = found[1]
            home = anchors.get(target) or homes.get(target)
            if home is None:
                raise SiteError(f"site: {name}: a table links to {target}, which is nowhere")
            anchor = target if target in anchors else make_id(target)
            away = not single and home != name
            return f"]({relpath(f'{home}.html', f'{name}/..') if away else ''}#{anchor})"

        def table(found: re.Match[str]) -> str:
            made = _READER.render(_LINK.sub(led, found[2])).replace('style="text-align:right"', 'class="text-right"')
            body = made.replace("<table>", f'<table class="{found[1]} table">', 1).strip()
            return fenced(f'<div class="pst-scrollable-table-container">{body}</div>', "{raw} html")  # it scrolls

        return _TABLE.sub(table, page)

    return {name: page_of(name, page) for name, page in pages.items()}


def unlinked(pages: Mapping[str, str]) -> dict[str, str]:
    """Unlink words that lead to a page that is not there."""

    def kept(name: str, found: re.Match[str]) -> str:
        page = normpath(join(name, "..", found[2]))
        return found[0] if page in pages else found[1] or f"the site's page `{page}`"

    return {name: _TO_PAGE.sub(partial(kept, name), page) for name, page in pages.items()}


def one_file(made: Path) -> str:
    """Make the page of a folder that Sphinx's builder ``singlehtml`` wrote a page that needs no other file."""
    page = (made / "index.html").read_text(encoding="utf-8")
    for pattern in (_SCRIPT, _OTHER_LINK, _SEARCH):
        page = pattern.sub("", page)
    styles = {path: made / path for path in _STYLE.findall(page)}
    texts = {name: path.read_text(encoding="utf-8") if path.is_file() else "" for name, path in styles.items()}
    page = _STYLE.sub(lambda found: f"<style>{_FONT.sub('', texts[found[1]])}</style>", page)  # fonts are further files
    page = _DOUBLE.sub('href="#', page)
    page = _DOWNLOAD.sub(r"\1", page)
    first: dict[str, str] = {}  # the bar of sections leads to the first page of each
    for target, title in _PAGE.findall(page):
        first.setdefault(title, target)
    page = _SECTION.sub(lambda found: f"{found[1]}#{first.get(found[3], '')}{found[2]}", page)
    page = _IMAGE.sub(lambda found: f'{found[1]}src="{_data(made / unquote(found[2]))}"', page)
    return page.replace('data-bs-theme="auto"', "")


def _data(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".svg":
        content = rounded(content.decode()).encode()
    kind = "svg+xml" if path.suffix == ".svg" else path.suffix[1:]
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def rounded(picture: str) -> str:
    """Round the coordinates of an SVG's paths to a hundredth of a point; transforms, which magnify, stay."""
    hundredth = partial(_LONG.sub, lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."))
    return _PATH.sub(lambda path: f'd="{hundredth(path[1])}"', picture)
