"""Files that a report consists of, written over whatever stands in their places."""

from __future__ import annotations

from pathlib import Path

from dpsco_bench.execution.store import is_misplaced
from dpsco_bench.jsonio import write_atomic


def place(path: Path, content: str | bytes) -> None:
    """Write a file atomically; what is no file in its place is named in one line and set aside."""
    is_misplaced(path)
    write_atomic(path, content)
