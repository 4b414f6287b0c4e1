"""Tables of pages as HTML, by the library that reads the other Markdown too.

Sphinx keeps five nodes a cell and walks over all of them some two hundred times: of a site of large tables that is
most of the time. As HTML a table is one node, whose words the search finds as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from posixpath import relpath

from docutils.nodes import make_id
from markdown_it import MarkdownIt
from mdit_py_plugins.attrs import attrs_plugin

from dpsco_bench.errors import DpscoError
from dpsco_bench.site.markdown import fenced

_LABEL = re.compile(r"^\((\S+)\)=$", re.MULTILINE)
_ANCHOR = re.compile(r"\{#(\S+?)\}")
_TABLE = re.compile(r"^\{\.(sortable|plain)\}\n((?:\|.*\n)+)", re.MULTILINE)
_LINK = re.compile(r"\]\(#(\S+?)\)")


class SiteError(DpscoError):
    """A link without a target, or markup that cannot be read."""


def rendered(pages: Mapping[str, str], single: bool = False) -> dict[str, str]:
    """Turn the tables of pages into HTML.

    Raises SiteError for a link of a table without a target.

    Parameters
    ----------
    pages : mapping, name of a page -> its Markdown
    single : bool, whether all pages become one, in which an address is an anchor
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
            return fenced(_html(_LINK.sub(led, found[2]), found[1]), "{raw} html")

        return _TABLE.sub(table, page)

    return {name: page_of(name, page) for name, page in pages.items()}


def _html(rows: str, kind: str) -> str:
    """Render a table into the theme's box, which scrolls."""
    made = _reader().render(rows).replace('style="text-align:right"', 'class="text-right"')
    body = made.replace("<table>", f'<table class="{kind} table">', 1).strip()
    return f'<div class="pst-scrollable-table-container">{body}</div>'


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").use(attrs_plugin, spans=True)
