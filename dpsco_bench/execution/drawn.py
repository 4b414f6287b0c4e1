"""Marks beside what was drawn: the digest of each file, and of what the files were made from.

A run writes its figures, page and tables once and looks at them no more. By the mark the next run sees that one of them
is no longer what was written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dpsco_bench.execution.store import damaged, read_sealed
from dpsco_bench.jsonio import dumps_canonical, sealed, write_atomic


@contextmanager
def drawing(mark: Path | None, made_from: str = "") -> Iterator[list[Path]]:
    """Held while files are drawn: the mark goes first, and comes back when all of them are there.

    Parameters
    ----------
    mark : Path or None
        None for files that no run will look for.
    made_from : str
        Digest of what the files are made from; empty where that is known elsewhere, or nowhere.

    Yields
    ------
    list of Path
        To be filled with the files, which may lie in other folders than the mark.
    """
    files: list[Path] = []
    if mark is None:
        yield files
        return
    mark.unlink(missing_ok=True)
    yield files
    digests = {os.path.relpath(path, mark.parent): _digest(path) for path in files}
    write_atomic(mark, sealed(dumps_canonical({"made_from": made_from, "files": digests})))


def stands(mark: Path, files: Iterable[Path], made_from: str = "") -> bool:
    """Whether files are there, byte by byte as they were drawn, and from what was to be drawn.

    Each that was drawn together with them is looked at; one that is damaged is named and set aside, as in the store.
    """
    known = read_sealed(mark)
    if known is None or known["made_from"] != made_from:
        return False
    if not {os.path.relpath(path, mark.parent) for path in files} <= known["files"].keys():
        return False
    drawn = {mark.parent / name: digest for name, digest in known["files"].items()}
    if not all(path.is_file() for path in drawn):
        return False
    changed = [path for path, digest in drawn.items() if _digest(path) != digest]
    if changed and read_sealed(mark) == known:  # else another process draws them right now
        for path in changed:
            damaged(Path(os.path.normpath(path)), "its digest is not the one it was drawn with")
    return not changed


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
