"""Numba's cache on disk: what is damaged there is named in one line and compiled anew, and numbers stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="without Numba nothing is compiled")
DRAW = """
import numpy as np
from dpsco_bench.rng.streams import cpu_implementation
print(cpu_implementation().scaled(np.arange(5, dtype=np.float32), 3.0).tolist())
"""
DAMAGE = {
    ".nbi": lambda found: found[: len(found) // 2],
    ".nbc": lambda found: found[:-200] + bytes([found[-200] ^ 1]) + found[-199:],
}
"""An index that is cut off, and a flipped bit of the code."""


def called(folder: Path) -> tuple[str, str]:
    """What a new process prints, with the cache in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", DRAW]
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return found.stdout, found.stderr


def test_damage_is_named_in_one_line_and_mended(tmp_path):
    first = called(tmp_path)
    assert first[1] == ""
    for suffix, damage in DAMAGE.items():
        (path,) = (tmp_path / "cache").rglob(f"*{suffix}")
        path.write_bytes(damage(path.read_bytes()))
        said, line = called(tmp_path)
        assert said == first[0] and line.count("\n") == 1 and str(path) in line and "compiled anew" in line
        assert called(tmp_path) == first
