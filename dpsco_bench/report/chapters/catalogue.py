"""The papers' own figures by paper, their files, and their place on the page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from dpsco_bench.report.chapters import bassily2021, su2023
from dpsco_bench.report.chapters.elements import ChapterFigure
from dpsco_bench.report.drawing import Line, compose, inline_svg, save, single, style, words_panel
from dpsco_bench.report.inputs import Inputs

CHAPTERS: dict[str, tuple[ChapterFigure, ...]] = {"bassily2021": bassily2021.FIGURES, "su2023": su2023.FIGURES}
UNMEASURED = "nothing of it is measured in this profile"


def write_chapters(inputs: Inputs, folder: Path) -> list[Path]:
    """Write every figure of the profile's papers as SVG and PDF; one without measurements says so in words.

    Parameters
    ----------
    inputs : Inputs
    folder : Path
        Where ``<paper>.<id>.svg`` and ``.pdf`` go.

    Returns
    -------
    list of Path
        The files, without suffix.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with style():
        for paper in inputs.papers:
            for chapter in CHAPTERS.get(paper, ()):
                empty = words_panel(chapter.id, [Line(UNMEASURED)])
                figure = chapter.figure(inputs) or compose([empty], chapter.title, chapter.caption)
                path = folder / f"{paper}.{chapter.id}"
                save(figure, path)
                written.append(path)
    return written


def page_chapters(inputs: Inputs, paper: str) -> list[dict[str, Any]]:
    """Figures of a paper for the page: ``id``, ``title``, ``caption`` and ``panels`` (SVG); only what is measured."""
    found = []
    with style(**{"svg.fonttype": "none"}):
        for chapter in CHAPTERS.get(paper, ()):
            name, label = f"{paper}-{chapter.id}", escape(f"{paper}, {chapter.title}", quote=True)
            panels = [inline_svg(single(p), f"{name}-{i}", label) for i, p in enumerate(chapter.draw(inputs))]
            if panels:
                text = {"id": f"{paper}.{chapter.id}", "title": chapter.title, "caption": chapter.caption}
                found.append({**text, "panels": panels})
    return found
