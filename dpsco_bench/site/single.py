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
    page = _STYLE.sub(lambda found: f"<style>{_style(made / found[1])}</style>", page)
    page = _DOUBLE.sub('href="#', page)
    page = _DOWNLOAD.sub(r"\1", page)
    first: dict[str, str] = {}  # the bar of sections leads to the first page of each
    for target, title in _PAGE.findall(page):
        first.setdefault(title, target)
    page = _SECTION.sub(lambda found: f"{found[1]}#{first.get(found[3], '')}{found[2]}", page)
    page = _IMAGE.sub(lambda found: f'{found[1]}src="{_data(made / unquote(found[2]))}"', page)
    return page.replace('data-bs-theme="auto"', "")


def _style(path: Path) -> str:
    """Read a style sheet without fonts of its own, which would be further files."""
    return _FONT.sub("", path.read_text(encoding="utf-8")) if path.is_file() else ""


def _data(path: Path) -> str:
    """Write a picture as part of its page."""
    content = path.read_bytes()
    if path.suffix == ".svg":
        content = rounded(content.decode()).encode()
    kind = "svg+xml" if path.suffix == ".svg" else path.suffix[1:]
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def rounded(picture: str) -> str:
    """Round the coordinates of an SVG's paths to a hundredth of a point; transforms, which magnify, stay."""
    hundredth = partial(_LONG.sub, lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."))
    return _PATH.sub(lambda path: f'd="{hundredth(path[1])}"', picture)
