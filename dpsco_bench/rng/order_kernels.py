"""The lazy noisy minimum, subsets, selections, and rows of noise for loops: the answers of `dpsco_bench.rng.reference`.

Written for Numba like `dpsco_bench.rng.kernels`, from which it takes the frozen arithmetic of words, uniforms and
integers; Numba's cache on disk notices changes of this file only.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng.counters import INTEGER, ORDER, UNIFORM, Box
from dpsco_bench.rng.kernels import (
    _TILE,
    Key,
    _called,
    _compiled,
    _draw,
    _integer,
    _laplace,
    _padded,
    _philox,
    _put,
    _uniform,
    integers,
    u32,
    u64,
    uniform,
)


@_called
def _noisy_minimum(scores, seen, mark, lowest, scale, step, replicate, kind_and_key):
    """Index of the least of ``scores (K,)`` less noise; ``seen (K,)`` has the mark of what has its noise already."""
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    count = scores.size
    best, chosen, surprise, left, attempt = np.inf, 0, 0.0, count, 0
    while left > 0:
        w0, w1, w2, w3 = _philox(u32(attempt), u32(step), u32(replicate), kind, k0, k1)
        attempt += 1
        i = _integer(w2, w3, u64(count))
        if seen[i] == mark:
            continue
        seen[i] = mark
        surprise -= math.log(_uniform(w0, w1)) / left
        left -= 1
        above = -math.expm1(-surprise)  # probability that a variate exceeds this order statistic
        noise = -math.log(2.0 * above) if above <= 0.5 else math.log(2.0) - surprise
        if scores[i] - scale * noise < best:
            best, chosen = scores[i] - scale * noise, i
        if lowest - scale * noise >= best:
            break
    return chosen


@_called
def _new_row(count):
    """Room for the variates of a row and for their words, as `_laplace_row` takes them."""
    return np.empty(4 * _padded((count + 3) // 4), np.float32), np.empty((4, _TILE), np.uint32)


@_called
def _laplace_row(values, words, step, replicate, kind_and_key):
    """Laplace variates of one row of a compiled loop, which brings the room for them."""
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    for start in range(0, values.size // 4, _TILE):
        count = u64(min(_TILE, values.size // 4 - start))
        for i in range(count):
            _put(words, i, _philox(u64(start) + i, u32(step), u32(replicate), kind, k0, k1))
        for i in range(count):
            j = u64(4) * (u64(start) + i)
            values[j], values[j + u64(1)] = _laplace(words[0, i]), _laplace(words[1, i])
            values[j + u64(2)], values[j + u64(3)] = _laplace(words[2, i]), _laplace(words[3, i])


@_compiled
def _noisy_minima(out, scores, rows, lowest, scale, step_and_replicate, kind_and_key):
    seen = np.full(scores.shape[1], -1, np.int64)
    step, first = step_and_replicate
    for row in rows:
        out[row] = _noisy_minimum(scores[row], seen, row, lowest[row], scale, step, first + row, kind_and_key)


def noisy_minima(
    out: NDArray[np.int64],
    scores: NDArray[np.float64],
    rows: NDArray[np.int64],
    lowest: NDArray[np.float64],
    scale: float,
    step: int,
    first_replicate: int,
    key: Key,
) -> None:
    _noisy_minima(out, scores, rows, lowest, float(scale), (step, first_replicate), (ORDER, *key))


@_compiled
def _subsets(out, box, kind_and_key, drawn, high):
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    first_step, steps, first_replicate, replicates, size = box
    seen, ready, place = np.zeros(high, np.uint8), drawn.shape[2], 0
    for s in range(steps):
        for r in range(replicates):
            found, j = 0, 0
            while found < size:
                if j < ready:
                    i = drawn[s, r, j]
                else:
                    w0, w1, w2, w3 = _philox(j // 2, first_step + s, first_replicate + r, kind, k0, k1)
                    i = _integer(w2, w3, u64(high)) if j % 2 else _integer(w0, w1, u64(high))
                out[place + found] = i
                found += 1 - seen[i]  # an index seen before is overwritten
                seen[i] = 1
                j += 1
            for j in range(size):
                seen[out[place + j]] = 0
            place += size


def subsets(key: Key, box: Box, high: int) -> NDArray[np.int64]:
    """Draw integers that are enough for nearly all rows; the others draw what they lack one by one."""
    repeated = max(0.0, -high * math.log1p(-box.dim / high) - box.dim)  # draws of a row, about
    drawn = integers(key, box._replace(dim=math.ceil(box.dim + repeated + 2.0 * math.sqrt(repeated))), high)
    return _draw(_subsets, key, INTEGER, box, np.int64, drawn, high)


@_compiled
def _selections(out, box, kind_and_key, gaps, counts, high, slope):
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    first_step, steps, first_replicate, replicates, size = box
    ready, place = gaps.shape[2], 0
    for s in range(steps):
        for r in range(replicates):
            found, position = 0, np.int64(-1)
            while found < size:
                if found < ready:
                    gap = gaps[s, r, found]
                else:
                    w0, w1, w2, w3 = _philox(found // 2, first_step + s, first_replicate + r, kind, k0, k1)
                    gap = math.floor(math.log(_uniform(w2, w3) if found % 2 else _uniform(w0, w1)) / slope)
                if gap >= high - 1 - position:
                    break
                position += np.int64(gap) + 1
                out[place + found] = position
                found += 1
            counts[s, r] = found
            for j in range(found, size):
                out[place + j] = 0
            place += size


def selections(key: Key, box: Box, high: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Draw uniform numbers that are enough for nearly all rows, as `subsets` does."""
    mean, slope = high * rate, math.log1p(-rate)
    ready = min(box.dim, math.ceil(mean + 2.0 * math.sqrt(mean) + 1.0))
    gaps, counts = uniform(key, box._replace(dim=ready)), np.zeros((box.steps, box.replicates), np.int64)
    np.log(gaps, out=gaps)  # NumPy's, as in the reference: another one may round to another side of a floor
    np.floor(np.divide(gaps, slope, out=gaps), out=gaps)
    indices = _draw(_selections, key, UNIFORM, box, np.int64, gaps, counts, high, slope)
    return indices, np.arange(box.dim) < counts[..., None]
