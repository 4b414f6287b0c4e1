"""Files that a report consists of, written over whatever stands in their places."""

from __future__ import annotations

from pathlib import Path

from dpsco_bench.execution.store import FOLDER, damaged
from dpsco_bench.jsonio import write_atomic


def place(path: Path, content: str | bytes) -> None:
    """Write a file atomically; a folder in its place is named in one line and set aside."""
    if path.is_dir():
        damaged(path, FOLDER)
    write_atomic(path, content)
