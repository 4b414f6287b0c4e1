"""Files that a report consists of, written atomically."""

from __future__ import annotations

from pathlib import Path

from dpsco_bench.jsonio import write_atomic


def place(path: Path, content: str | bytes) -> None:
    """Write a file atomically."""
    write_atomic(path, content)
