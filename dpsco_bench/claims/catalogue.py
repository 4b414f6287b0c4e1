"""What the configuration tree says about claims, profiles, tables and errata, read without composing anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from dpsco_bench.claims.erratum import Erratum, parse_erratum
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.model import Claim
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.slug import slug
from dpsco_bench.claims.tables import TableText, parse_table
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.paths import conf_dir
from dpsco_bench.registry import absent_paper, is_given, paper_folders, papers, say_once


def conf_files(pattern: str) -> list[Path]:
    """Files of the configuration tree and of the folders ``conf`` of papers that bring their own.

    A paper has claims, tables, errata and words of its own alone: a file there of another paper, or one that cannot be
    read, is named in one line and left out. Raises InputError instead where the paper was given in this call.
    """
    found = sorted(conf_dir().glob(pattern))
    for paper, folder in paper_folders().items():
        for path in sorted((folder / "conf").glob(pattern)):
            owner = _OWNERS.get(pattern.partition("/")[0], lambda path: "")(path)
            error = _unreadable(path)
            if owner not in ("", paper):
                error = InputError(f"file of paper {paper}", str(path), f"one of its own: {paper} in place of {owner}")
            if error is None:
                found.append(path)
                continue
            if is_given(paper):
                raise error
            say_once(error)
    return found


_OWNERS: dict[str, Callable[[Path], str]] = {
    "claim": lambda path: path.parent.name,
    "table": lambda path: path.parent.name,
    "errata": lambda path: path.stem,
    "paper": lambda path: path.stem,
}
"""Folder of the configuration tree -> the paper that a file in it is of."""


def _unreadable(path: Path) -> InputError | None:
    """What is wrong with a file that cannot be read, or whose name is no text; None for any other."""
    try:
        str(path).encode()
        if path.is_file():
            path.open("rb").close()
            return None
        reason = "it is no file, or a link to none"
    except (OSError, UnicodeEncodeError) as error:
        reason = str(getattr(error, "strerror", None) or error)
    return InputError("file", str(path), "one that can be read", reason)


@contextmanager
def sparing(path: Path) -> Iterator[None]:
    """What a file of an installed paper fails with is said in a line, and nothing comes of it; others raise it."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if not of_installed(path):
            raise
        reason = str(error) if isinstance(error, DpscoError) else f"{type(error).__name__}: {error}"
        say_once(_in(path, DpscoError(f"left out: {' '.join(reason.split())}")))


def of_installed(path: Path) -> bool:
    """Whether a file is one that a paper brings which neither ships nor was given in this call."""
    return any(path.is_relative_to(folder) for paper, folder in paper_folders().items() if is_installed(paper))


def claim_files() -> dict[str, Path]:
    """Ids ``<paper>.<name>`` of all claims, sorted, and their files ``conf/claim/<paper>/<name>.yaml``."""
    return dict(sorted(_of_papers("claim/*/*.yaml").items()))


def _of_papers(pattern: str) -> dict[str, Path]:
    """Ids and files; of two ids with one address on the site, ``a_b`` and ``a.b``, the second is named and left out.

    Raises InputError instead where the second ships or was given in this call.
    """
    found, taken = dict[str, Path](), dict[str, str]()
    for path in conf_files(pattern):  # what ships comes first
        id = f"{path.parent.name}.{path.stem}"
        if (first := taken.setdefault(slug(id), id)) == id:
            found[id] = path
            continue
        error = InputError("id", id, f"one that differs from {first} in letters or digits")
        if not is_installed(id):
            raise _in(path, error)
        say_once(_in(path, error))
    return found


def claim_file(id: str) -> Path | None:
    """The file of one claim, found without listing the others; None for an unknown id."""
    paper, _, name = id.partition(".")
    found = conf_files(f"claim/{paper}/{name}.yaml") if re.fullmatch(r"\w+(\.\w+)+", id) else []
    return found[-1] if found else None


def claim_ids() -> list[str]:
    """Ids of all claims, sorted."""
    return list(claim_files())


def read_claim(id: str) -> Claim:
    """A claim that ships, uncomposed.

    Raises
    ------
    InputError
        For an unknown id, and a file that is no claim.
    """
    path = claim_file(id)
    if path is None:
        raise InputError("claim", id, nearest(id, claim_ids(), "dpsco list claims"))
    return _parsed(path)


def _parsed(path: Path) -> Claim:
    return _parsed_once(path, path.stat().st_mtime_ns, path.stat().st_size)


@cache
def _parsed_once(path: Path, changed: int, size: int) -> Claim:
    claim = parse_claim(read_shipped(path))
    check_id(claim.id, path)
    return claim


def check_id(id: str, path: Path) -> None:
    """A claim or table is called as its file is.

    Raises
    ------
    InputError
        Naming the file.
    """
    if id != (called := f"{path.parent.name}.{path.stem}"):
        raise InputError(f"{path}: id", id, f"{called}, as its file is called")


def read_claims() -> list[Claim]:
    """All claims, sorted by id; a wrong one is named and left out, unless its paper was given in this call."""
    found = []
    for id, path in claim_files().items():
        try:
            found.append(_parsed(path))
        except InputError as error:
            if is_given(id):
                raise
            say_once(_in(path, error))
    return found


def _in(path: Path, error: DpscoError) -> DpscoError:
    """What is wrong with a file, with its name."""
    return error if str(path) in str(error) else DpscoError(f"{path}: {error}")


def is_installed(name: str) -> bool:
    """Whether an entry is of a paper that neither ships nor was given in this call: what is wrong stops it alone."""
    package = papers().get(name.partition(".")[0], "")
    return bool(package) and package.split(".")[0] != "dpsco_bench" and not is_given(name)


def profile_claims(profile: str) -> list[str]:
    """Ids of the claims that a profile measures: all, unless its files name them. Absent papers are left out.

    What ships is named by what ships, and a paper that brings its own files names its own claims alone: another's is
    named in one line and left out, or stops the process where the paper was given in this call.

    Each paper names its claims in a file of its own, ``conf/profile/<profile>/<paper>.yaml``; a paper in a package may
    do so in ``conf/profile/<profile>.yaml``.

    Raises
    ------
    InputError
        If the file names an unknown claim, or no list of claims.
    """
    known = claim_ids()
    theirs = {paper: folder / "conf" for paper, folder in paper_folders().items() if (folder / "conf").is_dir()}
    shipped = _named(conf_dir(), profile)
    chosen = shipped or [id for id in known if id.partition(".")[0] not in theirs]
    for paper, root in theirs.items():
        own = [id for id in known if id.partition(".")[0] == paper]
        try:
            named = _named(root, profile)
        except InputError as error:
            if is_given(paper):
                raise
            say_once(DpscoError(f"{error}; the claims of {paper} are left out"))
            continue
        for id in sorted(set(named) - {*own}):
            unknown = InputError(f"claims of {paper} in profile {profile}", id, nearest(id, own))
            if is_given(paper):
                raise unknown
            say_once(unknown)
        kept = [id for id in named if id in own]
        chosen = [*chosen, *(kept or ([] if shipped else own))]
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
    """The tables' files, sorted by id; a wrong one is named and left out, unless its paper was given in this call."""
    found = []
    for path in _of_papers("table/*/*.yaml").values():
        try:
            text = parse_table(read_shipped(path))
            check_id(text.id, path)
        except InputError as error:
            if is_given(path.parent.name):
                raise
            say_once(_in(path, error))
            continue
        found.append(text)
    return sorted(found, key=lambda text: text.id)


def errata_papers() -> list[str]:
    """Papers that have an errata ledger."""
    return sorted(path.stem for path in conf_files("errata/*.yaml"))


def load_errata(paper: str) -> list[Erratum]:
    """Entries of a paper's ledger ``conf/errata/<paper>.yaml`` in their order; empty if there is none.

    A ledger of an installed paper in which something is wrong is named and left out.

    Raises
    ------
    InputError
        For an entry that `parse_erratum` refuses, of what ships or was given in this call.
    """
    found: list[Erratum] = []
    for path in conf_files(f"errata/{paper}.yaml"):
        try:
            entries = read_shipped(path)
            if not isinstance(entries, list):
                raise InputError(f"errata of {paper}", entries, "a list of mappings")
            read = [parse_erratum(paper, entry) for entry in entries]
            counts = Counter(slug(entry.id) for entry in [*found, *read])
            for entry in read:
                if counts[slug(entry.id)] > 1:
                    raise InputError(f"errata of {paper}", entry.id, "an id that no other entry has")
            found += read
        except InputError as error:
            if not is_installed(paper):
                raise
            say_once(_in(path, error))
    return found


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
            raise InputError(f"erratum of {paper}", id, nearest(id, known, f"dpsco show {paper}"))
    return [known[id] for id in ids]
