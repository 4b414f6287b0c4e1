"""Figures of papers that belong to no single claim, and panels that a paper adds to a claim's figure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from matplotlib.figure import Figure

from dpsco_bench.errors import InputError, failing_as
from dpsco_bench.registry import Registry
from dpsco_bench.report.drawing import Panel, compose, save, style
from dpsco_bench.report.inputs import ClaimResults, Inputs

Draw = Callable[[Inputs], Sequence[Panel]]
DrawClaim = Callable[[ClaimResults], Sequence[Panel]]
Say = Callable[[Inputs], str]


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper."""

    name: str  # ``<paper>.<id>``, also the name of its files
    title: str  # what it shows, or says where that depends on no result
    caption: str
    draw: Draw  # inputs -> panels; none where the profile has measured nothing of it
    message: Say | None = None  # inputs -> what it says, where results decide that

    def figure(self, inputs: Inputs) -> Figure:
        """Compose the panels under what they say; without panels the words that nothing was measured."""
        panels = self.draw(inputs)
        if not panels:
            unmeasured = Panel("Nothing of it is measured in this profile", line=self.name)
            return compose([unmeasured], self.title, self.caption)
        return compose(panels, self.says(inputs), self.caption)

    def says(self, inputs: Inputs) -> str:
        with failing_as(f"message of figure {self.name}"):
            return self.message(inputs) if self.message else self.title


FIGURES: Registry[PaperFigure] = Registry("figure", "figures")
PANELS: Registry[DrawClaim] = Registry("claim with further panels", "figures")


def paper_figure(name: str, title: str, caption: str, message: Say | None = None) -> Callable[[Draw], Draw]:
    """Register a function as the figure ``<paper>.<id>`` of its paper (used as a decorator; see `PaperFigure`)."""
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise InputError("figure", name, "letters, digits, dots, hyphens and underscores")

    def register(draw: Draw) -> Draw:
        FIGURES.add(name, PaperFigure(name, title, caption, draw, message), draw.__module__)
        return draw

    return register


def claim_panels(*claims: str) -> Callable[[DrawClaim], DrawClaim]:
    """Register a function of a claim's results whose panels stand before those of its parts (used as a decorator)."""

    def register(draw: DrawClaim) -> DrawClaim:
        for claim in claims:
            PANELS.add(claim, draw, draw.__module__)
        return draw

    return register


def figure_names(claims: Iterable[str]) -> list[str]:
    return [name for paper in dict.fromkeys(claim.split(".", 1)[0] for claim in claims) for name in FIGURES.of(paper)]


def write_figures(inputs: Inputs, folder: Path) -> list[Path]:
    """Write every figure of the profile's papers as SVG and PDF; one without measurements says so in words."""
    folder.mkdir(parents=True, exist_ok=True)
    written = list[Path]()
    for own in (own for paper in inputs.papers for own in FIGURES.of(paper).values()):
        with style(), failing_as(f"figure {own.name}"):  # a style each, since a figure may change it
            written += save(own.figure(inputs), folder / own.name)
    return written


Dash = Literal["-", "--", "-.", ":"] | tuple[float, tuple[float, ...]]


@dataclass(frozen=True)
class MethodStyle:
    """Say how the curve of a method is drawn and called."""

    name: str  # what the key calls the method
    colour: str  # a colour of Matplotlib
    dash: Dash = "-"  # a line style of Matplotlib; lengths are in widths of the line
    end_only: bool = False  # whether its iterates carry no noise before the end, so that only the output is drawn
    returns: str = ""  # optional, what the key adds to "what is returned" where that is not the last iterate


METHOD_STYLES: Registry[MethodStyle] = Registry("style of method", "figures")
DASHES: tuple[Dash, ...] = ("-", "--", ":")
PLAIN = [(colour, dash) for dash in DASHES for colour in ("#E69F00", "#000000", "#F0E442")]
"""Looks of the labels without a style, in turn."""


def method_styles(module: str, paper: str, styles: Mapping[str, MethodStyle]) -> None:
    """Say how figures show the methods of a paper's claims; a label without a style is called by its words.

    ``module`` is the caller's ``__name__``. Raises InputError if another module has styled a label of that paper.
    """
    for label, look in styles.items():
        METHOD_STYLES.add(f"{paper}.{label}", look, module)


def styles_of(paper: str, labels: Sequence[str]) -> dict[str, MethodStyle]:
    """Find the style of each label in claims of a paper, those without one by their place among their like."""
    looks = itertools.cycle(PLAIN)
    known = {label: METHOD_STYLES.find(f"{paper}.{label}") for label in labels}
    return {label: style or MethodStyle(label.replace("_", " "), *next(looks)) for label, style in known.items()}
