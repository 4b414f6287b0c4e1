"""File locks: one run at a time on the results of a profile, one process at a time on an item of the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from dpsco_bench.errors import DpscoError


class ResultsInUse(DpscoError):
    """Another live process works on the same results."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.parent} is in use by another run: wait for it to end, or stop it")


def take(path: Path) -> FileLock:
    """Take the lock of some results until `release` or the end of the process.

    Raises ResultsInUse at once if another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ResultsInUse(path) from None
    return lock


@contextmanager
def key_lock(path: Path) -> Iterator[None]:
    """Hold a lock while an item is made; wait for another holder. The lock's file goes with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path):
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # who waits for it opens a new one
