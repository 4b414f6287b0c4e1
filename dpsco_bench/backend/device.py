"""CUDA texts: read from `.cu` files, compiled by CuPy for the GPU at hand, launched on its current stream."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np

OPTIONS = ("--fmad=false",)
"""A fused multiply-add would change last bits, of noise as of scores that are compared."""
_INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)
_PACKAGE = Path(__file__).resolve().parent.parent


def cuda_source(path: Path, seen: set[Path] | None = None) -> str:
    """Text of a CUDA file with the files that it includes, each once: one beside it, or from the package on."""
    known = set() if seen is None else seen

    def included(match: re.Match[str]) -> str:
        found = next(p for folder in (path.parent, _PACKAGE) if (p := (folder / match[1]).resolve()).is_file())
        if found in known:
            return ""
        known.add(found)
        return cuda_source(found, known)

    return _INCLUDE.sub(included, path.read_text(encoding="utf-8"))


@functools.cache
def _module(path: Path, defines: tuple[str, ...]) -> Any:
    import cupy

    return cupy.RawModule(code=cuda_source(path), options=(*OPTIONS, *(f"-D{define}" for define in defines)))


@functools.cache
def kernel(path: Path, name: str, *defines: str) -> Any:
    """Compile a kernel of a CUDA file with macros ``NAME=value``, on first call."""
    return _module(path, defines).get_function(name)


def launch(function: Any, grid: int, threads: int, *arguments: Any) -> None:
    """Run a kernel on the current stream: integers go as 64 bits, floats as float64, NumPy scalars as they are."""
    given = tuple(
        np.int64(a) if isinstance(a, int) else np.float64(a) if isinstance(a, float) else a for a in arguments
    )
    if grid:
        function((grid,), (threads,), given)
