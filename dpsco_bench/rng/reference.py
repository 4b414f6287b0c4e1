"""Draws over a box of counters in plain NumPy: the reference, and the path taken where Numba is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng import transforms
from dpsco_bench.rng.counters import INTEGER, LAPLACE, NORMAL, RADIUS, SHAPE, UNIFORM, Box
from dpsco_bench.rng.philox import Words, philox4x32

Key = tuple[int, int]

_TILE = 1 << 12  # blocks worked on at once: their temporaries stay in the cache


def _counters(box: Box, per_block: int, start: int, stop: int, kind: int) -> Words:
    """Counters of the blocks ``start .. stop - 1`` of the box, counted through steps, replicates and blocks."""
    row, block = np.divmod(np.arange(start, stop), box.blocks(per_block))
    step, replicate = np.divmod(row, box.replicates)
    return block, step + box.first_step, replicate + box.first_replicate, np.uint64(kind)


def _draw(key: Key, kind: int, box: Box, per_block: int, dtype: Any, transform: Callable[..., Any]) -> NDArray[Any]:
    total = box.total(per_block)
    values = np.empty((total, per_block), dtype=dtype)
    for start in range(0, total, _TILE):
        stop = min(start + _TILE, total)
        block = np.stack(philox4x32(_counters(box, per_block, start, stop, kind), key))
        values[start:stop] = transform(block).T
    rows = values.reshape(box.steps, box.replicates, box.blocks(per_block) * per_block)
    return np.ascontiguousarray(rows[..., : box.dim])


def words(key: Key, box: Box, kind: int) -> NDArray[np.uint32]:
    """Random words of a kind; the last axis of the box counts words."""
    return _draw(key, kind, box, 4, np.uint32, lambda block: block)


def normal(key: Key, box: Box) -> NDArray[np.float32]:
    """Standard normals."""
    return _draw(key, NORMAL, box, 4, np.float32, transforms.normals)


def laplace(key: Key, box: Box) -> NDArray[np.float32]:
    """Laplace variates of scale 1."""
    return _draw(key, LAPLACE, box, 4, np.float32, transforms.laplaces)


def uniform(key: Key, box: Box) -> NDArray[np.float64]:
    """Uniform numbers in (0, 1)."""
    return _draw(key, UNIFORM, box, 2, np.float64, transforms.uniforms)


def integers(key: Key, box: Box, high: int) -> NDArray[np.int64]:
    """Integers in [0, high)."""
    return _draw(key, INTEGER, box, 2, np.int64, lambda block: transforms.integers(block, high))


def generalised_gaussian(key: Key, box: Box, table: NDArray[np.float32], r: float) -> NDArray[np.float32]:
    """Vectors of density ``~ exp(-||z||_r^2/2)``; the table is that of `quantiles.shape_table` for r."""
    if not box.dim:
        return np.empty(box.shape, np.float32)
    shapes = _draw(key, SHAPE, box, 4, np.float32, lambda block: transforms.shapes(block, table))
    radii = words(key, box._replace(dim=transforms.radius_words(box.dim)), RADIUS)
    return transforms.generalised_gaussians(shapes, transforms.squared_radii(radii, box.dim), r)


def scaled(values: NDArray[np.float32], scale: float) -> NDArray[np.float64]:
    """Float64 multiples of draws."""
    return scale * values.astype(np.float64)
