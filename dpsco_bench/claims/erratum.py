"""An entry of a paper's errata ledger, and the words for what it changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dpsco_bench.claims.entries import build_checked
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.plain import Plain

BY_HAND = "by hand: the calculation above"
"""How an erratum is checked that no command speaks of."""


@dataclass(frozen=True)
class Change:
    """What entries of one class change.

    Attributes
    ----------
    counted : str, what a sentence calls it that counts them
    meaning : str, exactly what belongs here
    """

    counted: str
    meaning: str


CHANGES: Mapping[str, Change] = {
    "rate": Change(
        "a rate of a paper's own methods",
        "A power of n, d or eps has to be another one, in a bound or a count that the paper states for its own "
        "methods.",
    ),
    "constant": Change(
        "a constant",
        "A constant or a logarithm has to be another one, in a bound, a noise, a step or a proof, also where the text "
        "is read as it is meant. Or one that is left open is given a value. Powers and privacy stay.",
    ),
    "guarantee": Change(
        "a privacy guarantee",
        "With what is printed a stated (eps, delta) is exceeded, as the entry shows. Or that of one of the paper's "
        "methods is shown neither by its text nor here, for some of the losses or numbers that it is stated for.",
    ),
    "text": Change(
        "none of these",
        "None of the three. It is a misprint or a missing symbol that the text itself sets right, a condition, an "
        "argument, a remark, or an entry for another paper's method. Or what is printed holds, and is only larger than "
        "needed.",
    ),
}
"""Word of the field ``changes`` -> what it means."""
WEIGHTIEST = "An entry that changes several has the weightiest: a guarantee before a rate, a rate before a constant."
"""Which word an entry has that would have two."""


@dataclass(frozen=True)
class Erratum:
    """One entry of a paper's errata ledger.

    Attributes
    ----------
    id, title : str, ``E1``, and what it is about
    changes : str, a word of `CHANGES`
    printed : str, what the text used here says, with the number of the formula
    calculation : str, why it cannot stand as printed
    consequence : str, what follows, and what does not
    command : str, one command that checks it; empty where only the calculation does
    paper : str, prefix of the paper's ids
    """

    id: str
    title: str
    changes: str
    printed: str
    calculation: str
    consequence: str
    paper: str
    command: str = ""

    @property
    def check(self) -> str:
        """The command, or that the calculation is followed by hand."""
        return self.command or BY_HAND


def parse_erratum(paper: str, entry: Plain) -> Erratum:
    """An entry of a paper's ledger as its file has it.

    Raises InputError for missing or unknown keys, and a word that is none of `CHANGES`.
    """
    if not isinstance(entry, Mapping):
        raise InputError(f"errata of {paper}", entry, "a list of mappings")
    where = f"errata of {paper}, {entry.get('id', '?')}"
    texts = {key: " ".join(str(value).split()) for key, value in entry.items()}
    changes = texts.get("changes", "missing")
    if changes not in CHANGES:
        raise InputError(f"{where}: changes", changes, nearest(changes, CHANGES))
    return build_checked(Erratum, {**texts, "paper": paper}, where)


def counted_changes(errata: Iterable[Erratum]) -> str:
    """How many entries change what, a sentence."""
    found = Counter(entry.changes for entry in errata)
    first, *others = (f"{found[word]} {change.counted}" for word, change in CHANGES.items())
    number, _, what = first.partition(" ")
    verb = "changes" if number == "1" else "change"
    every = "entry" if found.total() == 1 else "entries"
    return f"Of {found.total()} {every} {number} {verb} {what}, {', '.join(others[:-1])} and {others[-1]}."
