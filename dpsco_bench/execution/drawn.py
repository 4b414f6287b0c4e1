"""Marks beside what was drawn: the digest of each file, of what the files were made from, and what was absent then.

A run writes its figures, page and tables once and looks at them no more. By the mark the next run sees that one of them
is no longer what was written, or was written without something that is there now.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.execution.store import damaged, misplaced, read_sealed
from dpsco_bench.jsonio import dumps_canonical, sealed, write_atomic
from dpsco_bench.plain import IF_GIVEN, Record


@dataclass
class Drawn:
    """What was drawn.

    Attributes
    ----------
    files : list of Path, they may lie in other folders than the mark
    absent : collection of Path, what they are made without, as it is not there
    """

    files: list[Path] = field(default_factory=list)
    absent: Iterable[Path] = ()


@dataclass(frozen=True)
class Mark(Record):
    """What a mark says; files by their paths from its folder.

    Attributes
    ----------
    made_from : str, digest of what they were made from
    files : mapping of path to digest
    absent : tuple of path, what was not there
    """

    made_from: str
    files: Mapping[str, str]
    absent: tuple[str, ...] = field(default=(), metadata=IF_GIVEN)

    @classmethod
    def of(cls, drawn: Drawn, made_from: str, folder: Path) -> Mark:
        """Of files that are there."""
        files = {os.path.relpath(path, folder): _digest(path) for path in drawn.files}
        return cls(made_from, files, tuple(sorted(os.path.relpath(path, folder) for path in drawn.absent)))


def _read(mark: Path) -> Mark | None:
    found = read_sealed(mark)
    return Mark.from_json(found) if found else None


@contextmanager
def drawing(mark: Path | None, made_from: str = "") -> Iterator[Drawn]:
    """Held while files are drawn: the mark goes first, and comes back when all of them are there.

    Parameters
    ----------
    mark : Path or None
        None for files that no run will look for.
    made_from : str
        Digest of what the files are made from; empty where that is known elsewhere, or nowhere.

    Yields
    ------
    Drawn
        To be filled.
    """
    drawn = Drawn()
    if mark is None:
        yield drawn
        return
    mark.unlink(missing_ok=True)
    yield drawn
    write_atomic(mark, sealed(dumps_canonical(Mark.of(drawn, made_from, mark.parent))))


def stands(mark: Path, files: Iterable[Path], made_from: str = "") -> bool:
    """Whether files are there, byte by byte as they were drawn, from what was to be drawn and all that is there of it.

    Each that was drawn together with them is looked at; one that is damaged is named and set aside, as in the store.
    """
    known = _read(mark)
    if known is None or known.made_from != made_from:
        return False
    if not {os.path.relpath(path, mark.parent) for path in files} <= known.files.keys():
        return False
    if any((mark.parent / name).exists() for name in known.absent):
        return False
    drawn = [mark.parent / name for name in known.files]
    return not name_changed(mark, known) and all(path.is_file() for path in drawn)


def name_changed(mark: Path, known: Mark | None = None) -> bool:
    """Name each file of a mark that is there but not as it was; whether there was any. What is gone is not looked for.

    Parameters
    ----------
    mark : Path
    known : Mark, optional
        What it said a moment ago; read here by default.
    """
    known = known or _read(mark)
    if known is None:
        return False
    changed: dict[Path, str] = {}
    for name, digest in known.files.items():
        path = Path(os.path.normpath(mark.parent / name))
        if why := misplaced(path):
            changed[path] = why
        elif path.is_file() and _digest(path) != digest:
            changed[path] = "its digest is not the one it was drawn with"
    if changed and _read(mark) == known:  # else another process draws them right now
        for path, why in changed.items():
            damaged(path, why)
    return bool(changed)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
