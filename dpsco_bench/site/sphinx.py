"""Sphinx on a folder of Markdown: the site, or the one page to mail. Nothing is fetched, and warnings are errors."""

from __future__ import annotations

import base64
import io
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from dpsco_bench.site.rendered import SiteError

THEME = Path(__file__).with_name("theme")
NO_SIDEBAR = ("index", "*/index", "verdicts", "which", "privacy", "benchmarks", "provenance")
"""Pages without pages beside them; their tables need the room."""
CONTENTS = ("guide/*", "errata/*", "benchmarks")
"""Pages with a list of their headings, which takes a fifth of the width from their tables."""


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
            "footer_start": [],
            "footer_center": [],
            "footer_end": [],
            "pygments_light_style": "a11y-high-contrast-light",
            "pygments_dark_style": "a11y-high-contrast-dark",
        },
        "html_sidebars": {page: [] for page in NO_SIDEBAR},
        "html_static_path": [str(static)],
        "html_css_files": ["dt_bundle.css", "site.css"],
        "html_js_files": [("tables.js", {"defer": "defer"})],
        "html_search_scorer": str(THEME / "search.js"),
        "html_use_index": False,
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "html_show_sphinx": False,
        "html_show_copyright": False,
        "html_permalinks_icon": "#",
        "autodoc_typehints": "none",
        "napoleon_use_ivar": True,
        "autodoc_member_order": "bysource",
    }


def build(source: Path, out: Path, title: str, builder: str = "html", cores: int = 1) -> None:
    """Build pages from a folder of Markdown.

    Parameters
    ----------
    source : Path, with ``index.md``
    out : Path, made anew
    builder : str, ``html`` or ``singlehtml``
    cores : int, how many processes read and write

    Raises
    ------
    SiteError
        For the first of Sphinx's warnings.
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
    """Write the style, and DataTables as itables ships it, in a form that opens from the file system.

    A browser refuses to load a module from a file, so the bundle travels as text inside a script.
    """
    import itables

    folder.mkdir(parents=True, exist_ok=True)
    shipped = Path(itables.__file__).parent / "html"
    bundle = base64.b64encode((shipped / "dt_bundle.js").read_bytes()).decode("ascii")
    (folder / "datatables.js").write_text(f'window.dataTablesBundle = "{bundle}";\n', encoding="ascii")
    for path in (shipped / "dt_bundle.css", THEME / "tables.js", THEME / "site.css"):
        shutil.copyfile(path, folder / path.name)
    return folder
