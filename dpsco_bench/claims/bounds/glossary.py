"""What the symbols in texts of bounds mean: for readers, and for tests of a text against the function that judges."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.notation import read
from dpsco_bench.claims.bounds.registry import BOUNDS
from dpsco_bench.errors import InputError
from dpsco_bench.registry import Registry

if TYPE_CHECKING:  # the catalogue reads claims, and claims may name axes in these symbols
    from dpsco_bench.claims.erratum import Erratum


@dataclass(frozen=True)
class Symbol:
    """What a symbol stands for.

    Attributes
    ----------
    words : str, for readers; without a source, a text in the notation, which defines it
    source : str or callable
        Where its value is: attributes or entries of a `BoundContext` such as ``schedule.steps``, of which the first is
        taken that is there; or a function of one.
    printed : str, its letter in the paper, and in quotations of it, where that is another one
    """

    words: str
    source: str | Callable[[BoundContext], Any] = ""
    printed: str = ""

    @property
    def place(self) -> str:
        """The source where it names entries."""
        return self.source if isinstance(self.source, str) else ""


Glossary = Mapping[str, Symbol]
GLOSSARIES: Registry[Glossary] = Registry("glossary", "bounds", core="claims.bounds")
COMMON: Glossary = {
    "n": Symbol("number of records", "n"),
    "d": Symbol("dimension, the problem's effective one", "d"),
    "eps": Symbol("claimed epsilon", "epsilon"),
    "delta": Symbol("claimed delta", "delta"),
    "l": Symbol("ln(1/delta); accounted: (eps/gdp_mu(eps, delta))^2, so that eps/sqrt(l) is the Gaussian-DP parameter"),
    "p": Symbol("that of the problem's norm", "constants.norm"),
    "e": Symbol("Euler's number", lambda c: math.e),
}


def glossary(paper: str, module: str, symbols: Glossary) -> None:
    """Register the symbols in texts of a paper's bounds, those of ``<paper>.formula`` and of ``<paper>_more.formula``.

    Parameters
    ----------
    module : str, ``__name__`` of the module that calls
    symbols : mapping of str to Symbol, they hide common ones

    Raises
    ------
    InputError
        For a value that is no Symbol with words.
    """
    for name, symbol in symbols.items():
        if not isinstance(symbol, Symbol) or not isinstance(symbol.words, str):
            raise InputError(f"{name} of the glossary of {paper}", symbol, 'a Symbol with words, e.g. Symbol("radius")')
    GLOSSARIES.add(paper, symbols, module)


def glossary_of(bound: str) -> Glossary:
    """All symbols that a bound's text may use: common ones, its paper's, and other formulas under their short names."""
    prefix = bound.partition(".")[0]
    formulas = {name.partition(".")[2]: Symbol(entry.text) for name, entry in BOUNDS.of(prefix).items()}
    return {**formulas, **COMMON, **(_registered(prefix) or _registered(prefix.rpartition("_")[0]))}


def _registered(paper: str) -> Glossary:
    """A paper's own symbols."""
    return GLOSSARIES.find(paper) or {}


def errata_letters(paper: str, errata: Iterable[Erratum]) -> str:
    """Which letters in errata, those of its bounds, are others in the paper that they quote: a sentence, or none."""
    texts = [text for e in errata for text in (e.title, e.printed, e.calculation, e.consequence)]
    found = [
        f"{name}, {symbol.words}, is printed as {symbol.printed}"
        for name, symbol in _registered(paper).items()
        if symbol.printed and any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts)
    ]
    return f"In {paper} {'; '.join(found)}." if found else ""


def schedule_letter(paper: str, field: str) -> str:
    """How a field of the schedules of a paper's methods is called before readers.

    By the symbol of its value where that is the field's letter with an index: ``kappa_q`` for ``kappa``, which without
    one is a condition number everywhere.
    """
    named = GLOSSARIES.find(paper) or {}
    found = [name for name, symbol in named.items() if symbol.place == f"schedule.{field}"]
    return next((name for name in found if name.startswith(f"{field}_")), field)


def symbols_in(bound: str, text: str) -> dict[str, Symbol]:
    """Symbols of a bound's text and of their definitions, in alphabetical order; none for a text in words."""
    known, waiting = glossary_of(bound), [text]
    found: dict[str, Symbol] = {}
    while waiting:
        try:
            names = read(waiting.pop()).names & known.keys()
        except InputError:
            continue
        for name in names - found.keys():
            found[name] = known[name]
            waiting += [] if known[name].source else [known[name].words]
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def evaluate(bound: str, text: str, context: BoundContext, label: str = "") -> float:
    """The number that a text says, from the glossary alone: what the bound's function is to return.

    Raises InputError for a text that is not in the notation, an unknown symbol, or a source that is not there.

    Parameters
    ----------
    bound : str, its name, which decides the glossary
    text : str, in the notation
    context : BoundContext, where the sources are
    label : str
        An alternative of the text. Under the calibration ``accounted`` the formula of that label is taken if there is
        one, in definitions too.
    """
    known = glossary_of(bound)

    def lookup(name: str) -> Any:
        if name not in known:
            raise InputError(f"symbol in the text of {bound}", name, "one of its glossary")
        symbol = known[name]
        if callable(symbol.source):
            return symbol.source(context)
        return _entry(context, symbol.source) if symbol.source else of(symbol.words, "")

    def of(text: str, label: str) -> float:
        found = read(text)
        accounted = not label and context.calibration == "accounted" and found.has("accounted")
        return found.value(lookup, "accounted" if accounted else label)

    return of(text, label)


def _entry(context: BoundContext, source: str) -> Any:
    """The first entry that is there, of those that a source names."""
    for place in source.split(" or "):
        head, _, key = place.partition(".")
        found = getattr(context, head)
        if not key:
            return found
        value = found.get(key) if isinstance(found, Mapping) else getattr(found, key)
        if value is not None:
            return value
    raise InputError("source", source, "an entry of the cell")
