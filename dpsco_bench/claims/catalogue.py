"""Read claims, profiles, tables and errata from the configuration tree, without composing anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from dpsco_bench.claims.files import build_checked, fits, listed, read_shipped, read_yaml
from dpsco_bench.claims.model import Claim
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.paths import conf_dir
from dpsco_bench.plain import IF_GIVEN, UNWRITTEN, Plain, Record
from dpsco_bench.registry import absent_paper, paper_folders

T = TypeVar("T", Claim, "TableText")
CLAIM_SUFFIXES = (".yaml", ".yml")


def conf_files(pattern: str) -> list[Path]:
    """Files of the configuration tree and of the folders ``conf`` of papers that bring their own."""
    own = [path for folder in paper_folders().values() for path in sorted((folder / "conf").glob(pattern))]
    return [*sorted(conf_dir().glob(pattern)), *own]


def claim_files(what: str = "claim") -> dict[str, Path]:
    """Ids ``<paper>.<name>`` of all claims (or tables), sorted, and their files ``conf/claim/<paper>/<name>.yaml``."""
    return dict(sorted((f"{path.parent.name}.{path.stem}", path) for path in conf_files(f"{what}/*/*.yaml")))


def claim_file(id: str) -> Path | None:
    """Find the file of one claim without listing the others; None for an unknown id."""
    paper, _, name = id.partition(".")
    found = conf_files(f"claim/{paper}/{name}.yaml") if re.fullmatch(r"\w+(\.\w+)+", id) else []
    return found[-1] if found else None


def claim_ids() -> list[str]:
    return list(claim_files())


def read_claim(id: str) -> Claim:
    """Read a claim that ships, uncomposed. Raises InputError for an unknown id, and a file that is no claim."""
    path = claim_file(id)
    if path is None:
        raise InputError("claim", id, nearest(id, claim_ids(), "dpsco list claims"))
    return _parsed(path, path.read_bytes())


@cache
def _parsed(path: Path, content: bytes) -> Claim:
    """Read a claim's file, once for each content."""
    from dpsco_bench.claims.parsing import parse_claim  # which loads every kind, and SciPy: lists do without

    return _named_as(path, parse_claim)


def _named_as(path: Path, parse: Callable[[Any], T]) -> T:
    """Read a claim or table that is called as its file is. Raises DpscoError, naming the file."""
    with naming(path):
        found = parse(read_shipped(path))
        if found.id != (called := f"{path.parent.name}.{path.stem}"):
            raise InputError(f"{path}: id", found.id, f"{called}, as its file is called")
    return found


@contextmanager
def naming(path: object) -> Iterator[None]:
    """Name a file, or a place, in what is wrong with it."""
    try:
        yield
    except DpscoError as error:
        if str(path) not in str(error):
            error.args = (f"{path}: {error}",)
        raise


def read_claims(text: str = "") -> list[Claim]:
    """All claims whose files have a text in them, sorted by id. Raises DpscoError naming a file that is wrong."""
    contents = {path: path.read_bytes() for path in claim_files().values()}
    return [_parsed(path, content) for path, content in contents.items() if text.encode() in content]


def read_own(files: Iterable[str | Path], key: str) -> Iterator[tuple[str | Path, Any]]:
    """Read a user's own files one by one. Raises InputError, under the name ``key``, for what is no YAML file."""
    for file in files:
        if Path(str(file)).suffix not in CLAIM_SUFFIXES or not Path(str(file)).is_file():
            raise InputError(key, file, "a list of existing YAML files (.yaml)")
        yield file, read_yaml(Path(file), key)


def own_claims(files: Sequence[str | Path]) -> dict[str, dict[str, Any]]:
    """Claims in a user's own files, by id; each file is written like those of ``conf/claim``.

    Raises InputError for something that is no such file, or an id that is taken.
    """
    known, found = claim_ids(), dict[str, dict[str, Any]]()
    for file, entry in read_own(files, "claims"):
        id = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(id, str) or "." not in id.strip("."):
            raise InputError(f"id in {file}", "missing" if id is None else id, "given, of the form paper.name")
        if id in (*known, *found):
            raise InputError(f"id in {file}", id, "one that no other claim has")
        found[id] = entry
    return found


@contextmanager
def errors_of(id: str, files: Sequence[str | Path]) -> Iterator[None]:
    """Name the file of a user's claim in errors about it."""
    try:
        yield
    except DpscoError:
        file = next((file for file in files if id in own_claims([file])), "")
        with naming(file):
            raise


def find_claim_id(text: str, known: Collection[str] | None = None) -> str:
    """Resolve an id as a user writes it: ``_`` may stand for ``.`` and ``/`` for the first dot.

    The ids to choose from are by default those of ``conf/claim``. Raises InputError for an unknown claim.
    """
    known = claim_ids() if known is None else known
    wanted = text.replace("/", ".", 1).replace("_", ".")
    for id in known:
        if id == text or id.replace("_", ".") == wanted:
            return id
    if text.replace("/", ".", 1) in claim_ids():
        raise InputError("claim", text, "one that the profile measures: see the paper's conf/profile")
    raise InputError("claim", text, nearest(text, known, "dpsco list claims"))


def profile_claims(profile: str) -> list[str]:
    """Ids of the claims that a profile measures: all, unless its files name them. Absent papers are left out.

    Each paper names its claims in a file of its own, ``conf/profile/<profile>/<paper>.yaml``; a paper in a package may
    do so in ``conf/profile/<profile>.yaml``. Raises InputError if the file names an unknown claim, or no list of
    claims.
    """
    known = claim_ids()
    theirs = {paper: folder / "conf" for paper, folder in paper_folders().items() if (folder / "conf").is_dir()}
    shipped = _named(conf_dir(), profile)
    chosen = shipped or [id for id in known if id.partition(".")[0] not in theirs]
    for paper, root in theirs.items():
        own = [id for id in known if id.partition(".")[0] == paper]
        chosen = [*chosen, *(_named(root, profile) or ([] if shipped else own))]
    for id in chosen:
        if id not in known:
            raise InputError(f"claims of profile {profile}", id, nearest(id, known, "dpsco list claims"))
    return list(dict.fromkeys(chosen)) if shipped else sorted(set(chosen))


def _named(root: Path, profile: str) -> list[str]:
    """List the claims that a configuration tree names for a profile, without those of absent papers."""
    found: list[str] = []
    for path in [*root.glob(f"profile/{profile}.yaml"), *sorted(root.glob(f"profile/{profile}/*.yaml"))]:
        entry = read_shipped(path)
        claims = entry.get("claims", []) if isinstance(entry, dict) else entry
        if not fits(claims, list[str]):
            raise InputError(f"{path}: claims", claims, "a list of ids of claims")
        found += claims
    return [id for id in found if not absent_paper(id)]


def table_texts() -> list[TableText]:
    """Read the tables' files, sorted by id. Raises DpscoError naming the file in which something is wrong."""
    return [_named_as(path, parse_table) for path in claim_files("table").values()]


def errata_papers() -> list[str]:
    return sorted(path.stem for path in conf_files("errata/*.yaml"))


def load_errata(paper: str) -> list[Erratum]:
    """Entries of a paper's ledger ``conf/errata/<paper>.yaml`` in their order; empty if there is none.

    Raises DpscoError, naming the file, for missing or unknown keys, and a word that is none of `CHANGES`.
    """
    found: list[Erratum] = []
    for path in conf_files(f"errata/{paper}.yaml"):
        with naming(path):
            entries = read_shipped(path)
            if not fits(entries, list[Mapping[str, Any]]):
                raise InputError(f"errata of {paper}", entries, "a list of mappings")
            for entry in entries:
                where = f"errata of {paper}, {entry.get('id', '?')}"
                texts = {key: " ".join(str(value).split()) for key, value in entry.items()}
                if (changes := texts.get("changes", "missing")) not in CHANGES:
                    raise InputError(f"{where}: changes", changes, nearest(changes, CHANGES))
                found.append(build_checked(Erratum, {**texts, "paper": paper}, where))
            if len({entry.id for entry in found}) < len(found):
                raise InputError(f"errata of {paper}", [entry.id for entry in found], "different ids")
    return found


def find_errata(paper: str, ids: list[str]) -> list[Erratum]:
    """Entries of a ledger by id. Raises InputError for an id that the ledger does not have."""
    known = {entry.id: entry for entry in load_errata(paper)}
    for id in ids:
        if id not in known:
            raise InputError(f"erratum of {paper}", id, nearest(id, known, f"dpsco show {paper}"))
    return [known[id] for id in ids]


BY_HAND = "by hand: the calculation above"
"""How an erratum is checked that no command speaks of."""


@dataclass(frozen=True)
class Change:
    """Class of changes of an erratum: what a sentence that counts them calls it, and exactly what belongs here."""

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
"""Rule for an entry that would have two words."""


@dataclass(frozen=True)
class Erratum:
    """One entry of a paper's errata ledger.

    ``printed`` is what the text used here says, with the number of the formula; ``calculation`` why it cannot stand as
    printed; ``consequence`` what follows, and what does not. ``changes`` is a word of `CHANGES`; a command checks the
    entry unless only the calculation does.
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


def counted_changes(errata: Iterable[Erratum]) -> str:
    """How many entries change what, a sentence."""
    found = Counter(entry.changes for entry in errata)
    first, *others = (f"{found[word]} {change.counted}" for word, change in CHANGES.items())
    number, _, what = first.partition(" ")
    verb = "changes" if number == "1" else "change"
    every = "entry" if found.total() == 1 else "entries"
    return f"Of {found.total()} {every} {number} {verb} {what}, {', '.join(others[:-1])} and {others[-1]}."


COMMON_N = 4096
"""Size at which risks stand where a table names none."""


@dataclass(frozen=True)
class TableRow(Record):
    """A row as the paper prints it, and what measures it.

    Attributes
    ----------
    printed : mapping, title of a further column of the paper -> the row's entry in it
    common_n : float or None, in place of the table's
    claims, parts : list of str, and mapping by claim: what it states, and what measures this row alone
    schedule : mapping, name -> what of the method's schedule is shown
    flags : list of str, first words of the method's warnings that are shown
    every_cell : list of str, parts of which each cell is a row, not the nearest one alone
    own : mapping, what a computed table asks for besides
    """

    row: str
    utility: str = field(default="", metadata=IF_GIVEN)
    gradients: str = field(default="", metadata=IF_GIVEN)
    printed: Mapping[str, str] = field(default_factory=dict, metadata=IF_GIVEN)
    common_n: float | None = field(default=None, metadata=IF_GIVEN)
    claims: list[str] = field(default_factory=list, metadata=IF_GIVEN)
    parts: Mapping[str, list[str]] = field(default_factory=dict, metadata=IF_GIVEN)
    schedule: Mapping[str, str] = field(default_factory=dict, metadata=IF_GIVEN)
    flags: list[str] = field(default_factory=list, metadata=IF_GIVEN)
    every_cell: list[str] = field(default_factory=list, metadata=IF_GIVEN)
    own: Plain = field(default_factory=dict, metadata=UNWRITTEN)

    def to_json(self) -> Plain:
        return {**super().to_json(), **self.own}


@dataclass(frozen=True)
class TableText(Record):
    """A table's file.

    ``common_n`` is the size at which risks stand, in place of `COMMON_N`. A table without ``computed``, the name of
    what computes it, is rebuilt from measurements. ``lower_bound`` names the bound of its caption, beside which risks
    stand.
    """

    id: str
    title: str = field(default="", metadata=IF_GIVEN)
    source: str = field(default="", metadata=IF_GIVEN)
    common_n: float | None = field(default=None, metadata=IF_GIVEN)
    computed: str = field(default="", metadata=IF_GIVEN)
    lower_bound: str = field(default="", metadata=IF_GIVEN)
    note: str = field(default="", metadata=IF_GIVEN)
    rows: list[TableRow] = field(default_factory=list, metadata=IF_GIVEN)

    @property
    def note_line(self) -> str:
        return " ".join(self.note.split())


def parse_table(entry: Plain) -> TableText:
    """Read a table from its file.

    Raises InputError naming the row and the key that is missing, of another type, or unknown where nothing of its own
    computes the table.
    """
    where = f"table {entry.get('id', '?')}"
    rows, known = [], {f.name for f in fields(TableRow)}
    for row in listed(entry.get("rows"), f"{where}: rows"):
        if entry.get("computed") and isinstance(row, Mapping):
            own = {key: value for key, value in row.items() if key not in known}
            row = {**{key: value for key, value in row.items() if key in known}, "own": own}
        rows.append(build_checked(TableRow, row, f"{where}, row"))
    return build_checked(TableText, {**entry, "rows": rows}, where)
