"""Numba's cache on disk: what is damaged there is named in one line and compiled anew, and numbers stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import rest_at_night

pytest.importorskip("numba", reason="without Numba nothing is compiled")
DRAW = """
import numpy as np
from dpsco_bench.rng.streams import cpu_implementation
print(cpu_implementation().scaled(np.arange(5, dtype=np.float32), 3.0).tolist())
"""
LOOP = "from dpsco_bench.fused.compiled import available, compiled\n\n\n@compiled\ndef loop(x):\n    return x + 1.5\n"
OF_LOOPS = """
import importlib.util, sys
import dpsco_bench
spec = importlib.util.spec_from_file_location("dpsco_bench.looping", "looping.py")
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)
assert module.available()
print(module.loop(2.0))
"""
DAMAGE = {
    "truncated": lambda found: found[: len(found) // 2],
    "emptied": lambda found: b"",
    "flipped": lambda found: found[:-200] + bytes([found[-200] ^ 1]) + found[-199:],
}


@pytest.fixture(params=rest_at_night([DRAW, OF_LOOPS], 0), ids=["draws", "loops"])
def script(request, tmp_path):
    (tmp_path / "looping.py").write_text(LOOP)
    return request.param


def called(script: str, folder: Path) -> tuple[str, str]:
    """What a new process prints, with the cache in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return found.stdout, found.stderr


def cached(folder: Path, suffix: str) -> list[Path]:
    return sorted((folder / "cache").rglob(f"*{suffix}"))


def test_damage_is_named_in_one_line_and_mended(script, tmp_path):
    first = called(script, tmp_path)
    assert first[1] == ""
    for suffix in (".nbi", ".nbc"):
        for damage in DAMAGE.values():
            (path,) = cached(tmp_path, suffix)
            path.write_bytes(damage(path.read_bytes()))
            said, line = called(script, tmp_path)
            assert said == first[0] and line.count("\n") == 1 and str(path) in line and "compiled anew" in line
            assert called(script, tmp_path) == first
        path.unlink()
        path.symlink_to(path.name)
        said, line = called(script, tmp_path)
        assert said == first[0] and line.count("\n") == 1 and str(path) in line and not path.is_symlink()
