"""What the configuration tree says about claims, profiles, tables and errata, read without composing anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpsco_bench.claims.files import read_shipped, read_yaml
from dpsco_bench.claims.slug import slug
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.paths import conf_dir
from dpsco_bench.registry import absent_paper, paper_folders

if TYPE_CHECKING:
    from dpsco_bench.claims.erratum import Erratum
    from dpsco_bench.claims.model import Claim
    from dpsco_bench.claims.tables import TableText

T = TypeVar("T", "Claim", "TableText")
CLAIM_SUFFIXES = (".yaml", ".yml")


def conf_files(pattern: str) -> list[Path]:
    """Files of the configuration tree and of the folders ``conf`` of papers that bring their own."""
    own = [path for folder in paper_folders().values() for path in sorted((folder / "conf").glob(pattern))]
    return [*sorted(conf_dir().glob(pattern)), *own]


def claim_files(what: str = "claim") -> dict[str, Path]:
    """Ids ``<paper>.<name>`` of all claims (or tables), sorted, and their files ``conf/claim/<paper>/<name>.yaml``.

    Raises InputError for two ids with one address on the site, such as ``a_b`` and ``a.b``.
    """
    found, taken = dict[str, Path](), dict[str, Path]()
    for path in conf_files(f"{what}/*/*.yaml"):
        id = f"{path.parent.name}.{path.stem}"
        if (first := taken.setdefault(slug(id), path)) is not path:
            raise InputError(f"{path}: id", id, f"one that differs from that of {first} in letters or digits")
        found[id] = path
    return dict(sorted(found.items()))


def claim_file(id: str) -> Path | None:
    """The file of one claim, found without listing the others; None for an unknown id."""
    paper, _, name = id.partition(".")
    found = conf_files(f"claim/{paper}/{name}.yaml") if re.fullmatch(r"\w+(\.\w+)+", id) else []
    return found[-1] if found else None


def claim_ids() -> list[str]:
    """Ids of all claims, sorted."""
    return list(claim_files())


def read_claim(id: str) -> Claim:
    """A claim that ships, uncomposed. Raises InputError for an unknown id, and a file that is no claim."""
    path = claim_file(id)
    if path is None:
        raise InputError("claim", id, nearest(id, claim_ids(), "dpsco list claims"))
    return _parsed(path)


def _parsed(path: Path) -> Claim:
    return _parsed_once(path, path.stat().st_mtime_ns, path.stat().st_size)


@cache
def _parsed_once(path: Path, changed: int, size: int) -> Claim:
    from dpsco_bench.claims.parsing import parse_claim  # which loads every kind, and SciPy: lists do without

    return _named_as(path, parse_claim)


def _named_as(path: Path, parse: Callable[[Any], T]) -> T:
    """Read a claim or table that is called as its file is. Raises DpscoError, naming the file."""
    with naming(path):
        found = parse(read_shipped(path))
        check_id(found.id, path)
    return found


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name a file in what is wrong with it."""
    try:
        yield
    except DpscoError as error:
        if str(path) not in str(error):
            error.args = (f"{path}: {error}",)
        raise


def check_id(id: str, path: Path) -> None:
    """Refuse a claim or table that is not called as its file is. Raises InputError, naming the file."""
    if id != (called := f"{path.parent.name}.{path.stem}"):
        raise InputError(f"{path}: id", id, f"{called}, as its file is called")


def read_claims(text: str = "") -> list[Claim]:
    """All claims whose files have a text in them, sorted by id. Raises DpscoError naming a file that is wrong."""
    return [_parsed(path) for path in claim_files().values() if not text or text in path.read_text(encoding="utf-8")]


def own_claims(files: Sequence[str | Path]) -> dict[str, dict[str, Any]]:
    """Claims in a user's own files, by id; each file is written like those of ``conf/claim``.

    Raises InputError for something that is no such file, or an id that is taken.
    """
    taken, found = set(claim_ids()), {}
    for file in files:
        if not isinstance(file, str | Path) or Path(file).suffix not in CLAIM_SUFFIXES or not Path(file).is_file():
            raise InputError("claims", file, "a list of existing YAML files (.yaml)")
        entry = read_yaml(Path(file), "claims")
        id = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(id, str) or "." not in id.strip("."):
            raise InputError(f"id in {file}", "missing" if id is None else id, "given, of the form paper.name")
        if id in taken:
            raise InputError(f"id in {file}", id, "one that no other claim has")
        taken.add(id)
        found[id] = entry
    return found


@contextmanager
def errors_of(id: str, files: Sequence[str | Path]) -> Iterator[None]:
    """Errors about a claim of one's own name the file that it is in."""
    try:
        yield
    except DpscoError as error:
        file = next((str(file) for file in files if id in own_claims([file])), "")
        if not file or file in str(error):
            raise
        raise DpscoError(f"{file}: {error}") from error


def find_claim_id(text: str, known: Collection[str] | None = None) -> str:
    """Resolve an id as a user writes it: ``_`` may stand for ``.`` and ``/`` for the first dot.

    Raises InputError for an unknown claim.

    Parameters
    ----------
    text : str, as written
    known : collection of str, optional, ids to choose from; by default those of ``conf/claim``
    """
    known = claim_ids() if known is None else known
    wanted = text.replace("/", ".", 1).replace("_", ".")
    for id in known:
        if id == text or id.replace("_", ".") == wanted:
            return id
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
    """The claims that a configuration tree names for a profile, those of absent papers left out; empty for none."""
    files = [*root.glob(f"profile/{profile}.yaml"), *sorted(root.glob(f"profile/{profile}/*.yaml"))]
    found: list[str] = []
    for path in files:
        entry = read_shipped(path)
        if isinstance(entry, dict) and "claims" not in entry:
            continue
        claims = entry["claims"] if isinstance(entry, dict) else entry
        if not isinstance(entry, dict) or not isinstance(claims, list) or not claims:
            raise InputError(f"{path}: claims", claims, "a list of claims, at least one")
        for id in claims:
            if not isinstance(id, str):
                raise InputError(f"{path}: claims", id, "ids of claims, which are texts")
        found += claims
    return [id for id in found if not absent_paper(id)]


def table_texts() -> list[TableText]:
    """The tables' files, sorted by id. Raises DpscoError naming the file in which something is wrong."""
    from dpsco_bench.claims.tables import parse_table

    return [_named_as(path, parse_table) for path in claim_files("table").values()]


def errata_papers() -> list[str]:
    """Papers that have an errata ledger."""
    return sorted(path.stem for path in conf_files("errata/*.yaml"))


def load_errata(paper: str) -> list[Erratum]:
    """Entries of a paper's ledger ``conf/errata/<paper>.yaml`` in their order; empty if there is none.

    Raises DpscoError, naming the file, for an entry that `parse_erratum` refuses.
    """
    from dpsco_bench.claims.erratum import parse_erratum

    found: list[Erratum] = []
    for path in conf_files(f"errata/{paper}.yaml"):
        with naming(path):
            entries = read_shipped(path)
            if not isinstance(entries, list):
                raise InputError(f"errata of {paper}", entries, "a list of mappings")
            found += [parse_erratum(paper, entry) for entry in entries]
            counts = Counter(slug(entry.id) for entry in found)
            if twice := [entry.id for entry in found if counts[slug(entry.id)] > 1]:
                raise InputError(f"errata of {paper}", twice[0], "an id that no other entry has")
    return found


def find_errata(paper: str, ids: list[str]) -> list[Erratum]:
    """Entries of a ledger by id. Raises InputError for an id that the ledger does not have."""
    known = {entry.id: entry for entry in load_errata(paper)}
    for id in ids:
        if id not in known:
            raise InputError(f"erratum of {paper}", id, nearest(id, known, f"dpsco show {paper}"))
    return [known[id] for id in ids]
