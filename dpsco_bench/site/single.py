"""The one file to mail: Sphinx's single page with its style and pictures inside, and nothing that runs."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import unquote

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


def unlinked(pages: Mapping[str, str]) -> dict[str, str]:
    """Pages, by name, in which words that lead to a page that is not there lead nowhere."""

    def kept(name: str, found: re.Match[str]) -> str:
        page = normpath(join(name, "..", found[2]))
        return found[0] if page in pages else found[1] or f"the site's page `{page}`"

    return {name: _TO_PAGE.sub(partial(kept, name), page) for name, page in pages.items()}


def one_file(made: Path) -> str:
    """The page of a folder that Sphinx's builder ``singlehtml`` wrote, as a page that needs no other file."""
    page = (made / "index.html").read_text(encoding="utf-8")
    page = _SCRIPT.sub("", page)
    page = _OTHER_LINK.sub("", page)
    page = _SEARCH.sub("", page)
    page = _STYLE.sub(lambda found: f"<style>{_style(made / found[1])}</style>", page)
    page = _DOUBLE.sub('href="#', page)
    page = _DOWNLOAD.sub(r"\1", page)
    page = _sections(page)
    page = _IMAGE.sub(lambda found: f'{found[1]}src="{_data(made / unquote(found[2]))}"', page)
    return page.replace('data-bs-theme="auto"', "")


def _sections(page: str) -> str:
    """The bar of sections, which leads to the first page of each."""
    first: dict[str, str] = {}
    for target, title in _PAGE.findall(page):
        first.setdefault(title, target)
    return _SECTION.sub(lambda found: f"{found[1]}#{first.get(found[3], '')}{found[2]}", page)


def _style(path: Path) -> str:
    """A style sheet without fonts of its own, which would be further files."""
    return _FONT.sub("", path.read_text(encoding="utf-8")) if path.is_file() else ""


def _data(path: Path) -> str:
    """A picture as part of its page."""
    content = path.read_bytes()
    if path.suffix != ".svg":
        return f"data:image/{path.suffix[1:]};base64,{base64.b64encode(content).decode()}"
    return f"data:image/svg+xml;base64,{base64.b64encode(rounded(content.decode()).encode()).decode()}"


def rounded(picture: str) -> str:
    """An SVG whose paths have coordinates to a hundredth of a point; transforms, which magnify, stay as they are."""
    return _PATH.sub(lambda path: f'd="{_LONG.sub(_hundredth, path[1])}"', picture)


def _hundredth(found: re.Match[str]) -> str:
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
