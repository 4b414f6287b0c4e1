"""Boxes of figures: one panel shrinks with the page, and two beside each other scroll where the page is narrower."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from dpsco_bench.report.drawing import PANEL_WIDTH

ONE_PANEL = 72 * PANEL_WIDTH * 1.2
"""Points up to which a figure is read on every screen: a panel, and names beside it."""
_DRAWN = re.compile(r"(?<=:::\{container\} )drawn(?=\n!\[.*?\]\(([^()\s]+\.svg)\)\n)")
_WIDTH = re.compile(r'width="([\d.]+)pt"')


def fit(folder: Path, pages: Iterable[str]) -> None:
    """Let figures of one panel shrink on pages of Markdown; needs the figures where the pages lead to."""
    for name in pages:
        path = folder / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        found = _DRAWN.sub(lambda figure, path=path: _kind(path.parent / figure[1]), page)  # type: ignore[misc]
        if found != page:
            path.write_text(found, encoding="utf-8")


@cache
def _kind(file: Path) -> str:
    """``fitting`` for a figure of one panel."""
    with file.open(encoding="utf-8") as opened:
        width = _WIDTH.search(opened.read(1000))
    return "fitting" if width and float(width[1]) <= ONE_PANEL else "drawn"
