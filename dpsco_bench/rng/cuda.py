"""Draws over a box of counters on a GPU: the bits of `dpsco_bench.rng.kernels`, by the kernels of `draws.cu`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.backend.device import kernel, launch
from dpsco_bench.rng.counters import INTEGER, LAPLACE, NORMAL, UNIFORM, Box

Array = Any
Key = tuple[int, int]

SOURCE = Path(__file__).with_name("draws.cu")
_THREADS = 256
_MAX_GRID = 1 << 16
_ROW = 32
MINIMA = Path(__file__).with_name("minima.cu")
MOST_SCORES, _MINIMUM_THREADS = 65536, 128
"""Limits of a noisy minimum; both stand in its CUDA text too."""


def key_words(key: Key) -> tuple[np.uint32, np.uint32]:
    """Return a key as kernels take it."""
    return np.uint32(key[0]), np.uint32(key[1])


def _draw(name: str, kind: int, per_block: int, dtype: Any, key: Key, box: Box, high: int = 0) -> Array:
    import cupy

    out = cupy.empty(box.shape, dtype=dtype)
    grid = min(-(-box.total(per_block) // _THREADS), _MAX_GRID)
    arguments = (out, *box, np.uint32(kind), *key_words(key), np.uint64(high))
    launch(kernel(SOURCE, f"draw_{name}"), grid, _THREADS, *arguments)
    return out


normal = functools.partial(_draw, "normal", NORMAL, 4, np.float32)
laplace = functools.partial(_draw, "laplace", LAPLACE, 4, np.float32)
uniform = functools.partial(_draw, "uniform", UNIFORM, 2, np.float64)
integers = functools.partial(_draw, "integers", INTEGER, 2, np.int64)


def generalised_gaussian(key: Key, box: Box, table: np.ndarray, r: float) -> Array:
    """Vectors of density ``~ exp(-||z||_r^2/2)``, float32; the table is that of `shapes.shape_table` for r."""
    import cupy

    out = cupy.empty(box.shape, dtype=np.float32)
    rows = box.steps * box.replicates if box.dim else 0
    arguments = (out, *box, *key_words(key), _uploaded(table.tobytes()), np.float32(r))
    launch(kernel(SOURCE, "draw_generalised_gaussian"), rows, _ROW, *arguments)
    return out


def noisy_minima(scores: Array, scale: float, widest: float, step: int, first_replicate: int, key: Key) -> Array:
    """Find the least noisy of at most `MOST_SCORES` scores ``(R, K)`` in one launch; returns indices.

    The answers of `kernels.noisy_minima` for rows whose scores are within ``widest``, of all noise for the others.
    """
    import cupy

    out, given = cupy.empty(scores.shape[:1], dtype=np.int64), cupy.ascontiguousarray(scores, dtype=np.float64)
    arguments = (out, given, scores.shape[1], float(scale), float(widest), *key_words(key), step, first_replicate)
    launch(kernel(MINIMA, "noisy_minima"), len(out), _MINIMUM_THREADS, *arguments)
    return out


@functools.lru_cache(maxsize=64)
def _uploaded(table: bytes) -> Array:
    import cupy

    return cupy.asarray(np.frombuffer(table, dtype=np.float32))
