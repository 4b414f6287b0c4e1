"""Draws over a box of counters in plain NumPy: the reference, and the path taken where Numba is missing.

`noisy_minima` finds the least of many scores after Laplace noise of which only the part is drawn that decides. The
noise of a row is K independent Laplace variates, here subtracted from its scores: the largest ones help most. So draw
the order statistics of the row's noise from the largest one down, each for a uniform index that has none yet, and keep
the least noisy score found. Once the lowest score of all, helped by the order statistic just drawn, would not beat it,
no score still without noise can: the answer has the law of drawing everything.

Order statistics come from Renyi's representation: the k-th largest of K uniform numbers is ``exp(-S_k)`` with
``S_k = S_(k-1) + E_k/(K - k + 1)`` for independent exponentials ``E_k``. The k-th attempt of a row takes block k of its
words: a uniform number from the first two and an index from the last two. An attempt whose index has its noise already
is dropped, both halves of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng import transforms
from dpsco_bench.rng.counters import INTEGER, LAPLACE, NORMAL, ORDER, RADIUS, SHAPE, UNIFORM, Box, Words, philox4x32

Key = tuple[int, int]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_TILE = 1 << 12  # blocks worked on at once: their temporaries stay in the cache


def _counters(box: Box, per_block: int, start: int, stop: int, kind: int) -> Words:
    """Counters of the blocks ``start .. stop - 1`` of the box, counted through steps, replicates and blocks."""
    row, block = np.divmod(np.arange(start, stop), box.blocks(per_block))
    step, replicate = np.divmod(row, box.replicates)
    return block, step + box.first_step, replicate + box.first_replicate, np.uint64(kind)


def _draw(kind: int, per_block: int, dtype: Any, transform: Callable[..., Any], key: Key, box: Box) -> NDArray[Any]:
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
    return _draw(kind, 4, np.uint32, lambda block: block, key, box)


normal = partial(_draw, NORMAL, 4, np.float32, transforms.normals)
laplace = partial(_draw, LAPLACE, 4, np.float32, transforms.laplaces)
uniform = partial(_draw, UNIFORM, 2, np.float64, transforms.uniforms)


def integers(key: Key, box: Box, high: int) -> NDArray[np.int64]:
    """Integers in [0, high)."""
    return _draw(INTEGER, 2, np.int64, lambda block: transforms.integers(block, high), key, box)


def generalised_gaussian(key: Key, box: Box, table: NDArray[np.float32], r: float) -> NDArray[np.float32]:
    """Vectors of density ``~ exp(-||z||_r^2/2)``; the table is that of `transforms.shape_table` for r."""
    if not box.dim:
        return np.empty(box.shape, np.float32)
    shapes = _draw(SHAPE, 4, np.float32, lambda block: transforms.shapes(block, table), key, box)
    radii = words(key, box._replace(dim=transforms.radius_words(box.dim)), RADIUS)
    return transforms.generalised_gaussians(shapes, transforms.squared_radii(radii, box.dim), r)


def subsets(key: Key, box: Box, high: int) -> NDArray[np.int64]:
    """Take the first ``box.dim`` different ones of independent integers in [0, high), in order.

    So many are drawn that they have fewer different ones with a chance below 1e-19.
    """
    mean = -high * math.log1p(-box.dim / high)  # draws that give so many different ones, about
    drawn = integers(key, box._replace(dim=math.ceil(mean + 10.0 * math.sqrt(mean) + 10.0)), high)
    order = np.argsort(drawn, axis=-1, kind="stable")
    ordered = np.take_along_axis(drawn, order, axis=-1)
    again = np.zeros(drawn.shape, dtype=bool)
    np.put_along_axis(again, order[..., 1:], ordered[..., 1:] == ordered[..., :-1], axis=-1)
    first = np.argsort(again, axis=-1, kind="stable")[..., : box.dim]
    return np.take_along_axis(drawn, first, axis=-1)


def selections(key: Key, box: Box, high: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Integers below ``high`` as `Stream.selections`, from geometric gaps; the first ``box.dim``, masked ones 0."""
    gaps = np.minimum(np.floor(np.log(uniform(key, box)) / math.log1p(-rate)), high).astype(np.int64) + 1
    positions = np.cumsum(gaps, axis=-1) - 1
    mask = positions < high
    return np.where(mask, positions, 0), mask


def scaled(values: NDArray[np.float32], scale: float) -> NDArray[np.float64]:
    """Float64 multiples of draws."""
    return scale * values.astype(np.float64)


def noisy_minima(
    out: Ints, scores: Floats, rows: Ints, lowest: Floats, scale: float, step: int, first_replicate: int, key: Key
) -> None:
    """Write the answers of ``rows``, rising, to ``out (R,)``; row r of scores belongs to ``first_replicate + r``.

    ``lowest (R,)`` has the least score of each row, ``scale`` > 0 is that of the noise.
    """
    count, active = scores.shape[1], np.arange(len(rows))
    used = np.zeros((len(rows), count), dtype=bool)
    best, surprise = np.full(len(rows), np.inf), np.zeros(len(rows))
    left, attempt = np.full(len(rows), count), 0
    while active.size:
        words = np.stack(philox4x32((attempt, step, first_replicate + rows[active], ORDER), key))
        attempt += 1
        index = transforms.integers(words, count)[1]
        fresh = ~used[active, index]
        now, i = active[fresh], index[fresh]
        used[now, i] = True
        surprise[now] -= np.log(transforms.uniforms(words)[0][fresh]) / left[now]
        left[now] -= 1
        above = -np.expm1(-surprise[now])  # probability that a variate exceeds this order statistic
        low = -np.log(2.0 * np.maximum(above, 1e-300))
        noise = scale * np.where(above <= 0.5, low, np.log(2.0) - surprise[now])
        value = scores[rows[now], i] - noise
        better = value < best[now]
        best[now[better]], out[rows[now[better]]] = value[better], i[better]
        done = (lowest[rows[now]] - noise >= best[now]) | (left[now] == 0)
        active = np.setdiff1d(active, now[done], assume_unique=True)
