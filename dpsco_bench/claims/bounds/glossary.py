"""Letters of bounds before readers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dpsco_bench.claims.bounds.registry import GLOSSARIES, paper_symbols

if TYPE_CHECKING:  # the catalogue reads claims, and claims may name axes in these symbols
    from dpsco_bench.claims.erratum import Erratum


def errata_letters(paper: str, errata: Iterable[Erratum]) -> str:
    """Name letters of errata that the quoted paper prints otherwise: a sentence, or none."""
    texts = [text for e in errata for text in (e.title, e.printed, e.calculation, e.consequence)]
    found = [
        f"{name}, {symbol.words}, is printed as {symbol.printed}"
        for name, symbol in paper_symbols(paper).items()
        if symbol.printed and any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts)
    ]
    return f"In {paper} {'; '.join(found)}." if found else ""


def schedule_letter(paper: str, field: str) -> str:
    """Name a field of the schedules of a paper's methods as readers know it.

    By the symbol of its value where that is the field's letter with an index: ``kappa_q`` for ``kappa``, which without
    one is a condition number everywhere.
    """
    named = GLOSSARIES.find(paper) or {}
    found = [name for name, symbol in named.items() if symbol.place == f"schedule.{field}"]
    return next((name for name in found if name.startswith(f"{field}_")), field)
