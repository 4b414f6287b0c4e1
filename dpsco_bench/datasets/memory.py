"""Memory: a table that does not fit is refused before it is read, in a line that says how many columns would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dpsco_bench.errors import InputError

COPIES = 3
"""Dense tables that are in memory at once while a file is read and run."""
COLUMN_BYTES = 10_000.0
"""Bytes of a column beside its numbers while a file is read."""
CHUNK_BYTES = 8.0
"""The same of a number: a file is read in blocks of some records, and each column of a block is an array."""
SQUARES = 8
"""Matrices of columns x columns that are in memory at once while a minimum is found."""
MEMINFO = Path("/proc/meminfo")
GROUPS = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")
_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
"""Limit and use of a control group, of either version."""


def available_memory() -> float:
    """Bytes that a process may still take; infinite where the machine does not say.

    A control group, as a container or a batch job is one, may allow less than the machine has.
    """
    return min([_of_machine(), *_of_groups()])


def _of_machine() -> float:
    with suppress(OSError, StopIteration, ValueError):
        lines = MEMINFO.read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return float("inf")


def _of_groups() -> Iterator[float]:
    """Compute the memory that the limits of this process's groups, and of groups around them, leave."""
    with suppress(OSError):
        for line in GROUPS.read_text().splitlines():
            _, names, path = line.split(":", 2)
            if names and "memory" not in names.split(","):
                continue
            root = MOUNT / "memory" if names else MOUNT
            inner = root / path.lstrip("/")
            for folder in [inner, *inner.parents]:
                if folder.is_relative_to(root):
                    yield from _of_group(folder)


def _of_group(folder: Path) -> Iterator[float]:
    for limit, used in _FILES:
        with suppress(OSError, ValueError):  # "max" is no number: no limit
            most, now = (int((folder / name).read_text()) for name in (limit, used))
            yield max(float(most - now + _cached(folder)), 0.0)


def _cached(folder: Path) -> int:
    """Bytes of files that are kept as long as nobody needs the memory."""
    with suppress(OSError, ValueError):
        said = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return int(said.get("total_inactive_file", said.get("inactive_file", 0)))
    return 0


def gigabytes(size: float) -> str:
    """Bytes for people."""
    return f"{size / 1e9:.3g} GB"


def check_reading(records: float, columns: int, path: Path, shown: str = "") -> None:
    """Refuse a table that is too large to be read, before it is. Raises InputError naming how many columns fit.

    Parameters
    ----------
    records : float
        How many there are, by what the file's size and its first lines say.
    shown : str, optional, the columns with the place where a file says that it has so many
    """
    free, about = available_memory(), max(1, round(records))
    each = COLUMN_BYTES + (8.0 * COPIES + CHUNK_BYTES) * about
    if columns * each > free:
        allowed = (
            f"at most {int(free / each)} with about {about} records: reading takes about "
            f"{gigabytes(columns * each)}, and {gigabytes(free)} of memory are free"
        )
        raise InputError(f"columns of {path.name}", shown or columns, allowed)


def check_square(columns: int, file: str) -> None:
    """Refuse columns of which no matrix of columns x columns fits. Raises InputError naming how many would."""
    free = available_memory()
    if 8.0 * SQUARES * columns**2 > free:
        most = int((free / (8.0 * SQUARES)) ** 0.5)
        allowed = (
            f"at most {most}: the minimum needs {SQUARES} matrices of columns x columns, "
            f"{gigabytes(8.0 * SQUARES * columns**2)}, and {gigabytes(free)} of memory are free"
        )
        raise InputError(f"columns of {file}", columns, allowed)
