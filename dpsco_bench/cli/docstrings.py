"""What a docstring in NumPy's style says: its prose, and its entries of parameters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_PARAMETERS = "Parameters\n----------\n"
_ENTRY = re.compile(r"^(\w[\w, ]*?)(?: : .*)?\n((?:    .*(?:\n|$))+)", re.MULTILINE)
_HEADING = re.compile(r"^\w+\n-+\n")


def entries(doc: str) -> dict[str, str]:
    """Names of parameters as an entry has them, such as ``n, d`` -> what it says, on one line."""
    section = doc.partition(_PARAMETERS)[2].partition("\n\n")[0]
    return {names: " ".join(text.split()) for names, text in _ENTRY.findall(section)}


def paragraphs(doc: str) -> list[str]:
    """Its prose, the summary first: other sections, such as notes, without their heading, and no parameters."""
    before, _, section = doc.partition(_PARAMETERS)
    after = section.partition("\n\n")[2]
    pieces = [_HEADING.sub("", piece) for piece in f"{before}\n\n{after}".split("\n\n")]
    return [piece.strip("\n") for piece in pieces if piece.strip()]


def on_others(doc: str, options: Collection[str]) -> Iterator[tuple[str, str]]:
    """Entries that speak of more than options, such as ``given`` and ``variant``, and what they say."""
    for names, text in entries(doc).items():
        if not set(names.split(", ")) <= set(options):
            yield names, text
