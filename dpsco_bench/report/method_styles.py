"""How figures of curves show methods: what a paper says of its labels, and a cycle of looks for all others."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dpsco_bench.registry import Registry

Dash = Literal["-", "--", "-.", ":"] | tuple[float, tuple[float, ...]]


@dataclass(frozen=True)
class MethodStyle:
    """Say how the curve of a method is drawn and called.

    Attributes
    ----------
    name : str, what the key calls the method
    colour : str, a colour of Matplotlib
    dash : str or (offset, lengths), a line style of Matplotlib; lengths are in widths of the line
    end_only : bool, whether its iterates carry no noise before the end, so that only the output is drawn
    returns : str, optional, what the key adds to "what is returned" where that is not the last iterate
    """

    name: str
    colour: str
    dash: Dash = "-"
    end_only: bool = False
    returns: str = ""


METHOD_STYLES: Registry[MethodStyle] = Registry("style of method", "figures")
COLOURS = ("#E69F00", "#000000", "#F0E442")
DASHES: tuple[Dash, ...] = ("-", "--", ":")
"""Looks of the labels without a style, in turn."""


def method_styles(module: str, paper: str, styles: Mapping[str, MethodStyle]) -> None:
    """Say how figures show the methods of a paper's claims; a label without a style is called by its words.

    Raises InputError if another module has styled a label of that paper.

    Parameters
    ----------
    module : str, ``__name__`` of the caller, a module ``figures`` of the paper
    paper : str, prefix of the ids of the claims
    styles : mapping of str to MethodStyle, label of a method in those claims -> its style
    """
    for label, style in styles.items():
        METHOD_STYLES.add(f"{paper}.{label}", style, module)


def styles_of(paper: str, labels: Sequence[str]) -> dict[str, MethodStyle]:
    """Find the style of each label in claims of a paper, those without one by their place among their like."""
    known = {label: METHOD_STYLES.find(f"{paper}.{label}") for label in labels}
    looks = itertools.cycle(itertools.product(DASHES, COLOURS))
    plain = {label: MethodStyle(label.replace("_", " "), *next(looks)[::-1]) for label in labels if not known[label]}
    return {label: style or plain[label] for label, style in known.items()}
