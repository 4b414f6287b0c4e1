"""What the configuration tree says about claims, tables and errata, read without composing anything.

Only descriptions are read here; whatever is run has been composed by Hydra.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.paths import conf_dir


@dataclass(frozen=True)
class Erratum:
    """One entry of a paper's errata ledger.

    Attributes
    ----------
    id, title : str
        ``E1``, and what it is about.
    printed : str
        What the text used here says, with the number of the formula.
    calculation : str
        Why it cannot stand as printed.
    consequence : str
        What follows, and what does not.
    command : str
        One command that checks it.
    paper : str
        Prefix of the paper's ids.
    """

    id: str
    title: str
    printed: str
    calculation: str
    consequence: str
    command: str
    paper: str


def errata_papers() -> list[str]:
    """Papers that have an errata ledger."""
    return sorted(path.stem for path in (conf_dir() / "errata").glob("*.yaml"))


def load_errata(paper: str) -> list[Erratum]:
    """Entries of a paper's ledger ``conf/errata/<paper>.yaml`` in their order; empty if there is none.

    Raises
    ------
    InputError
        For an entry with missing or unknown keys.
    """
    path = conf_dir() / "errata" / f"{paper}.yaml"
    names = {f.name for f in fields(Erratum)} - {"paper"}
    entries = []
    for entry in _read(path) if path.is_file() else []:
        if set(entry) != names:
            raise InputError(f"errata of {paper}", entry.get("id", "?"), "an entry with " + ", ".join(sorted(names)))
        entries.append(Erratum(**{key: " ".join(str(value).split()) for key, value in entry.items()}, paper=paper))
    return entries


def find_errata(paper: str, ids: list[str]) -> list[Erratum]:
    """Entries of a ledger by id.

    Raises
    ------
    InputError
        For an id that the ledger does not have.
    """
    known = {entry.id: entry for entry in load_errata(paper)}
    for id in ids:
        if id not in known:
            raise InputError(f"erratum of {paper}", id, "one of " + ", ".join(known))
    return [known[id] for id in ids]


def claim_texts() -> list[Mapping[str, Any]]:
    """The claims' files, uncomposed, sorted by id; each has ``id``, ``title``, ``source``, ``statement``, ``parts``."""
    return _described("claim")


def table_texts() -> list[Mapping[str, Any]]:
    """The tables' files, uncomposed, sorted by id; each has an ``id``."""
    return _described("table")


def _described(group: str) -> list[Mapping[str, Any]]:
    paths = sorted((conf_dir() / group).glob("*/*.yaml"))
    return sorted(({"id": f"{p.parent.name}.{p.stem}", **_read(p)} for p in paths), key=lambda entry: entry["id"])


@cache
def _read(path: Path) -> Any:
    import yaml  # type: ignore[import-untyped]

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
