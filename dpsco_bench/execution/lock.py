"""A kernel lock on a folder of results: it goes when its process goes, however that happens."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from dpsco_bench.errors import DpscoError
from dpsco_bench.jsonio import naming


class ResultsInUse(DpscoError):
    """Another live process holds the lock.

    Parameters
    ----------
    path : Path
        The lock file.
    holder : str
        Process id that the holder wrote into it.
    """

    def __init__(self, path: Path, holder: str) -> None:
        who = f"process {holder}" if holder else "another process"
        super().__init__(f"{path.parent} is in use by {who}: wait for it to end, or stop it")


class ResultsLock:
    """An exclusive ``flock``, held until `release` or the end of the process; a child process does not inherit it.

    Parameters
    ----------
    path : Path
        Lock file; made with its folder if absent, never removed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def acquire(self) -> None:
        """Take the lock.

        Raises
        ------
        ResultsInUse
            At once, if another process holds it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip()
            os.close(descriptor)
            raise ResultsInUse(self.path, holder) from None
        with naming(self.path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def is_free(self) -> bool:
        """Whether nobody holds the lock; asks without taking it or writing anything."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # waits at no pipe
        except FileNotFoundError:
            return True
        except OSError:
            if looped(self.path):
                return True
            raise
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> ResultsLock:
        """Acquire."""
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release."""
        self.release()


def looped(path: Path) -> Path | None:
    """The link on the way to a file that leads to itself alone, maybe through others; None without one."""
    for place in (*reversed(path.parents), path):
        if place.is_symlink():
            try:
                place.stat()
            except OSError as error:
                if error.errno == errno.ELOOP:
                    return place
    return None


@contextmanager
def key_lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock while making what a file's name stands for; waits for another holder.

    The file goes with the lock. Who waited for a file that went meanwhile tries again with the new one.

    Parameters
    ----------
    path : Path
        Lock file; made if absent.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _same(path, file.fileno()):
                continue
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return


def _same(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
