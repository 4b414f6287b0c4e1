"""Draws over a box of counters, compiled by Numba: the bits of `dpsco_bench.rng.reference`, twenty times as fast.

A tile of blocks is drawn in two loops, of words and of variates, each over arrays of one width of number, and written
so that LLVM vectorises them: no branch and no library call, and products of words by an instruction for eight at once.
Its blocks are those of one row, or, where rows are short, one after the other the first, second, ... blocks of many
rows: so that vectors are full whatever the dimension. Floating-point operations are neither reordered nor fused (no
``fastmath``), which is what keeps the bits.

The file repeats the arithmetic of `dpsco_bench.rng.transforms` instead of importing it, because Numba's cache on disk
notices changes of this file only. Each function is called with one set of types, so that processes that compile at
the same time write the same cache entry.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng.counters import INTEGER, LAPLACE, NORMAL, UNIFORM, Box

Key = tuple[int, int]

_TILE = 1024  # blocks: words and values of a tile stay in the first-level cache
_LANES = 16  # blocks that a vector may have; tiles are drawn in multiples of them
f32, u32, u64, i32 = np.float32, np.uint32, np.uint64, np.int32

_inlined = numba.njit(inline="always", error_model="numpy")
_called = numba.njit(nogil=True, error_model="numpy")


def _compiled(function: Any) -> Any:
    """Compile on first call, with a cache on disk where some directory can be written."""
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # Numba found no directory for its cache
        return numba.njit(nogil=True, error_model="numpy")(function)


@_inlined
def _philox(c0, c1, c2, c3, k0, k1):
    """Words are the lower halves of 64-bit integers; what is in the upper halves is never looked at."""
    x0, x1, x2, x3, y0, y1 = u64(c0), u64(c1), u64(c2), u64(c3), u64(k0), u64(k1)
    for _ in range(10):
        first = (x0 & u64(0xFFFFFFFF)) * u64(0xD2511F53)
        second = (x2 & u64(0xFFFFFFFF)) * u64(0xCD9E8D57)
        x0, x1 = (second >> u64(32)) ^ x1 ^ y0, second
        x2, x3 = (first >> u64(32)) ^ x3 ^ y1, first
        y0, y1 = y0 + u64(0x9E3779B9), y1 + u64(0xBB67AE85)
    return u32(x0), u32(x1), u32(x2), u32(x3)


@_inlined
def _flip_sign(x, sign):
    return np.uint32(np.float32(x).view(np.uint32) ^ sign).view(np.float32)


@_inlined
def _minus_log(u):
    bits = i32(np.float32(u).view(np.int32) - i32(0x3F3504F3))
    exponent = f32(i32(bits >> i32(23)))
    x = np.int32(i32(bits & i32(0x7FFFFF)) + i32(0x3F3504F3)).view(np.float32) - f32(1)
    square = x * x
    p = f32(7.0376836292e-2) * x + f32(-1.1514610310e-1)
    p = p * x + f32(1.1676998740e-1)
    p = p * x + f32(-1.2420140846e-1)
    p = p * x + f32(1.4249322787e-1)
    p = p * x + f32(-1.6668057665e-1)
    p = p * x + f32(2.0000714765e-1)
    p = p * x + f32(-2.4999993993e-1)
    p = p * x + f32(3.3333331174e-1)
    tail = p * (square * x)
    tail = tail + exponent * f32(-2.12194440e-4)
    tail = tail - f32(0.5) * square
    return -((x + tail) + exponent * f32(0.693359375))


@_inlined
def _cos_sin(w):
    quarter = u32(w >> u32(30))
    angle = f32(i32(u32(w << u32(2)) | u32(2))) * f32(np.pi / 2**33)
    square = angle * angle
    p = f32(-1.9515295891e-4) * square + f32(8.3321608736e-3)
    p = p * square + f32(-1.6666654611e-1)
    sine = p * square * angle + angle
    q = f32(2.443315711809948e-5) * square + f32(-1.388731625493765e-3)
    q = q * square + f32(4.166664568298827e-2)
    cosine = q * square * square - f32(0.5) * square + f32(1)
    odd = u32(quarter & u32(1)) != u32(0)
    abscissa = sine if odd else cosine
    ordinate = cosine if odd else sine
    abscissa_sign = u32(u32(u32(quarter + u32(1)) & u32(2)) << u32(30))
    return _flip_sign(abscissa, abscissa_sign), _flip_sign(ordinate, u32(u32(quarter & u32(2)) << u32(30)))


@_inlined
def _normal_pair(w, v):
    radius = np.sqrt(f32(2) * _minus_log(f32(w) * f32(2.0**-32) + f32(2.0**-33)))
    cosine, sine = _cos_sin(v)
    return radius * cosine, radius * sine


@_inlined
def _laplace(w):
    folded = i32(i32(w) ^ i32(i32(w) >> i32(31)))
    magnitude = _minus_log(f32(folded) * f32(2.0**-31) + f32(2.0**-32))
    return _flip_sign(magnitude, u32(u32(~w) & u32(0x80000000)))


@_inlined
def _uniform(w, v):
    scaled = np.float64(w) * 2.0**21 + np.float64(u32(v >> u32(11)))
    return (scaled if scaled > 0.5 else 0.5) * 2.0**-53


@_inlined
def _integer(w, v, high):
    high1, high0 = high >> u64(32), high & u64(0xFFFFFFFF)
    middle = u64(w) * high0 + (u64(v) * high0 >> u64(32))
    carry = (middle & u64(0xFFFFFFFF)) + u64(v) * high1
    return np.int64(u64(w) * high1 + (middle >> u64(32)) + (carry >> u64(32)))


@_inlined
def _padded(count):
    return (count + (_LANES - 1)) // _LANES * _LANES


@_called
def _tiling(box, per_block):
    """Cut a box: blocks of a row; rows of a tile; its blocks of each row; parts of a row; are rows abreast."""
    _, steps, _, replicates, dim = box
    rows, blocks = steps * replicates, (dim + per_block - 1) // per_block
    width = min(_TILE, _padded(blocks))
    if blocks > _TILE // _LANES or 10 * rows * width <= 11 * _padded(rows) * blocks:
        return blocks, _TILE // width, width, (blocks + width - 1) // width, False
    return blocks, _TILE // blocks // _LANES * _LANES, blocks, 1, True


@_called
def _tiles(box, tiling):
    return (box[1] * box[3] + tiling[1] - 1) // tiling[1] * tiling[3]


@_called
def _place(box, tiling, tile):
    """First row, number of rows and first block of a tile; no rows beyond the last tile."""
    rows, (_, group, width, parts, _) = box[1] * box[3], tiling
    first = tile // parts * group
    return first, min(group, rows - first), tile % parts * width


@_inlined
def _put(words, i, found):
    words[0, i], words[1, i], words[2, i], words[3, i] = found


@_called
def _fill_words(words, rows, box, tiling, tile, kind_and_key):
    """Words of a tile to ``words (4, _TILE)``; returns of how many blocks.

    These are all of a row and then of the next, or the first of all rows and then the second, where rows are abreast.
    """
    blocks, _, width, _, abreast = tiling
    first, count, start = _place(box, tiling, tile)
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    count = _padded(count) if abreast else count
    _fill_rows(rows, first, count, box[0], box[2], box[3])
    if abreast:
        for block in range(u64(blocks)):
            for i in range(u64(count)):
                _put(words, block * u64(count) + i, _philox(block, rows[0, i], rows[1, i], kind, k0, k1))
        return count * blocks
    width = min(width, _padded(blocks - start))
    for row in range(u64(count)):
        step, replicate = rows[0, row], rows[1, row]
        for i in range(u64(width)):
            _put(words, row * u64(width) + i, _philox(u64(start) + i, step, replicate, kind, k0, k1))
    return count * width


@_inlined
def _fill_rows(rows, first, count, first_step, first_replicate, replicates):
    """Step and replicate of the rows ``first .. first + count - 1`` of the box."""
    step, replicate = first // replicates, first % replicates
    for i in range(u64(count)):
        rows[0, i], rows[1, i] = u32(first_step + step), u32(first_replicate + replicate)
        replicate += 1
        if replicate == replicates:
            step, replicate = step + 1, 0


@_called
def _deliver4(out, values, box, tiling, tile):
    """Write a tile's values, four a block, to ``out``.

    Whole blocks are written: what lies beyond a row is overwritten by the next one, whose blocks come later or, where
    they are of the same tile, from the last to the first.
    """
    dim, (blocks, _, width, _, abreast) = box[4], tiling
    first, rows, start = _place(box, tiling, tile)
    if not abreast:
        width = 4 * min(width, _padded(blocks - start))
        for row in range(rows):
            k, j = u64((first + row) * dim + 4 * start), u64(row * width)
            for i in range(u64(min(width, dim - 4 * start))):
                out[k + i] = values[j + i]
        return
    for block in range(blocks - 1, -1, -1):
        j, k = u64(4 * block * _padded(rows)), u64(first * dim + 4 * block)
        for _ in range(u64(rows)):
            a, b, c, d = values[j], values[j + u64(1)], values[j + u64(2)], values[j + u64(3)]
            out[k], out[k + u64(1)], out[k + u64(2)], out[k + u64(3)] = a, b, c, d
            j, k = j + u64(4), k + u64(dim)


@_called
def _deliver2(out, values, box, tiling, tile):
    """Deliver as `_deliver4` does, two values a block."""
    dim, (blocks, _, width, _, abreast) = box[4], tiling
    first, rows, start = _place(box, tiling, tile)
    if not abreast:
        width = 2 * min(width, _padded(blocks - start))
        for row in range(rows):
            k, j = u64((first + row) * dim + 2 * start), u64(row * width)
            for i in range(u64(min(width, dim - 2 * start))):
                out[k + i] = values[j + i]
        return
    for block in range(blocks - 1, -1, -1):
        j, k = u64(2 * block * _padded(rows)), u64(first * dim + 2 * block)
        for _ in range(u64(rows)):
            a, b = values[j], values[j + u64(1)]
            out[k], out[k + u64(1)] = a, b
            j, k = j + u64(2), k + u64(dim)


@_inlined
def _new_words():
    return np.empty((4, _TILE), np.uint32), np.empty((2, _TILE), np.uint32)


@_compiled
def _words(out, box, kind_and_key):
    tiling, (words, rows), values = _tiling(box, 4), _new_words(), np.empty(4 * _TILE, np.uint32)
    for tile in range(_tiles(box, tiling)):
        count = _fill_words(words, rows, box, tiling, tile, kind_and_key)
        for i in range(u64(count)):
            j = u64(4) * i
            values[j], values[j + u64(1)] = words[0, i], words[1, i]
            values[j + u64(2)], values[j + u64(3)] = words[2, i], words[3, i]
        _deliver4(out, values, box, tiling, tile)


@_compiled
def _normals(out, box, kind_and_key):
    tiling, (words, rows), values = _tiling(box, 4), _new_words(), np.empty(4 * _TILE, np.float32)
    for tile in range(_tiles(box, tiling)):
        count = _fill_words(words, rows, box, tiling, tile, kind_and_key)
        for i in range(u64(count)):
            j = u64(4) * i
            values[j], values[j + u64(1)] = _normal_pair(words[0, i], words[1, i])
            values[j + u64(2)], values[j + u64(3)] = _normal_pair(words[2, i], words[3, i])
        _deliver4(out, values, box, tiling, tile)


@_compiled
def _laplaces(out, box, kind_and_key):
    tiling, (words, rows), values = _tiling(box, 4), _new_words(), np.empty(4 * _TILE, np.float32)
    for tile in range(_tiles(box, tiling)):
        count = _fill_words(words, rows, box, tiling, tile, kind_and_key)
        for i in range(u64(count)):
            j = u64(4) * i
            values[j], values[j + u64(1)] = _laplace(words[0, i]), _laplace(words[1, i])
            values[j + u64(2)], values[j + u64(3)] = _laplace(words[2, i]), _laplace(words[3, i])
        _deliver4(out, values, box, tiling, tile)


@_compiled
def _uniforms(out, box, kind_and_key):
    tiling, (words, rows), values = _tiling(box, 2), _new_words(), np.empty(2 * _TILE, np.float64)
    for tile in range(_tiles(box, tiling)):
        count = _fill_words(words, rows, box, tiling, tile, kind_and_key)
        for i in range(u64(count)):
            j = u64(2) * i
            values[j] = _uniform(words[0, i], words[1, i])
            values[j + u64(1)] = _uniform(words[2, i], words[3, i])
        _deliver2(out, values, box, tiling, tile)


@_compiled
def _integers(out, box, kind_and_key, high):
    tiling, (words, rows), values = _tiling(box, 2), _new_words(), np.empty(2 * _TILE, np.int64)
    for tile in range(_tiles(box, tiling)):
        count = _fill_words(words, rows, box, tiling, tile, kind_and_key)
        for i in range(u64(count)):
            j = u64(2) * i
            values[j] = _integer(words[0, i], words[1, i], high)
            values[j + u64(1)] = _integer(words[2, i], words[3, i], high)
        _deliver2(out, values, box, tiling, tile)


@_compiled
def _scale(out, values, scale):
    for i in range(u64(out.size)):
        out[i] = scale * np.float64(values[i])


def _draw(kernel: Any, key: Key, kind: int, box: Box, dtype: Any, *parameters: Any) -> NDArray[Any]:
    size = box.steps * box.replicates * box.dim
    out = np.empty(size + 3, dtype=dtype)  # room for the last block where the dimension is no multiple of its size
    if size:
        kernel(out, tuple(box), (kind, *key), *parameters)
    return out[:size].reshape(box.shape)


def words(key: Key, box: Box, kind: int) -> NDArray[np.uint32]:
    """Random words of a kind; the last axis of the box counts words."""
    return _draw(_words, key, kind, box, np.uint32)


def normal(key: Key, box: Box) -> NDArray[np.float32]:
    """Draw standard normals."""
    return _draw(_normals, key, NORMAL, box, np.float32)


def laplace(key: Key, box: Box) -> NDArray[np.float32]:
    """Laplace variates of scale 1."""
    return _draw(_laplaces, key, LAPLACE, box, np.float32)


def uniform(key: Key, box: Box) -> NDArray[np.float64]:
    """Uniform numbers in (0, 1)."""
    return _draw(_uniforms, key, UNIFORM, box, np.float64)


def integers(key: Key, box: Box, high: int) -> NDArray[np.int64]:
    """Integers in [0, high)."""
    return _draw(_integers, key, INTEGER, box, np.int64, u64(high))


def scaled(values: NDArray[np.float32], scale: float) -> NDArray[np.float64]:
    """Float64 multiples of draws, in one pass."""
    out = np.empty(values.size)
    _scale(out, np.ascontiguousarray(values).reshape(-1), float(scale))
    return out.reshape(values.shape)
