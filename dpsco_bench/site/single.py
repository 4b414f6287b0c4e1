"""The one file to mail: Sphinx's single page with its style and pictures inside, and nothing that runs."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from urllib.parse import unquote

_STYLE = re.compile(r'<link[^>]*?href="([^"?]+\.css)[^"]*"[^>]*>')
_SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>", re.S)
_OTHER_LINK = re.compile(r'<link[^>]*rel="(?:icon|index|search|next|prev|preload|canonical|author)"[^>]*>')
_IMAGE = re.compile(r'(<img[^>]*?)src="([^"]+)"')
_DOUBLE = re.compile(r'href="#document-[^"#]*#')
_DOWNLOAD = re.compile(r'<a[^>]*?href="_downloads/[^"]*"[^>]*>(.*?)</a>', re.S)
_SEARCH = re.compile(r"<(button|dialog|form)\b[^>]*(?:search|theme-switch|primary-toggle|sidebar)[^>]*>.*?</\1>", re.S)
_FONT = re.compile(r"@font-face\s*{[^}]*}")


def one_file(made: Path) -> str:
    """The page of a folder that Sphinx's builder ``singlehtml`` wrote, as a page that needs no other file."""
    page = (made / "index.html").read_text(encoding="utf-8")
    page = _SCRIPT.sub("", page)
    page = _OTHER_LINK.sub("", page)
    page = _SEARCH.sub("", page)
    page = _STYLE.sub(lambda found: f"<style>{_style(made / found[1])}</style>", page)
    page = _IMAGE.sub(lambda found: f'{found[1]}src="{_data(made / unquote(found[2]))}"', page)
    page = _DOUBLE.sub('href="#', page)
    page = _DOWNLOAD.sub(r"\1", page)
    return page.replace('data-bs-theme="auto"', "")


def _style(path: Path) -> str:
    """A style sheet without fonts of its own, which would be further files."""
    return _FONT.sub("", path.read_text(encoding="utf-8")) if path.is_file() else ""


def _data(path: Path) -> str:
    """A picture as part of its page; coordinates to a hundredth of a point."""
    content = path.read_bytes()
    if path.suffix != ".svg":
        return f"data:image/{path.suffix[1:]};base64,{base64.b64encode(content).decode()}"
    text = re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), content.decode())
    return f"data:image/svg+xml;base64,{base64.b64encode(text.encode()).decode()}"
