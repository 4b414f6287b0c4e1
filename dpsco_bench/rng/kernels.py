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

import math
from functools import partial
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng.counters import INTEGER, LAPLACE, NORMAL, ORDER, RADIUS, SHAPE, UNIFORM, Box

Key = tuple[int, int]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_TILE = 1024  # blocks: words and values of a tile stay in the first-level cache
_LANES = 16  # blocks that a vector may have; tiles are drawn in multiples of them
f32, u32, u64, i32 = np.float32, np.uint32, np.uint64, np.int32

# Every option is stated: Numba would take a missing one from the caller that it happens to compile first.
_OPTIONS: Any = {"nogil": True, "error_model": "numpy", "fastmath": False, "forceinline": False}
_inlined = numba.njit(inline="always", **_OPTIONS)
_called = numba.njit(**_OPTIONS)


def _compiled(function: Any) -> Any:
    """Compile on first call, with a cache on disk where some directory can be written."""
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # Numba found no directory for its cache
        return numba.njit(**_OPTIONS)(function)


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
    """Words of a tile to ``words (4, _TILE)``, row by row or of rows abreast; returns of how many blocks."""
    blocks, _, width, _, abreast = tiling
    first, count, start = _place(box, tiling, tile)
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    count = _padded(count) if abreast else count
    step, replicate = first // box[3], first % box[3]
    for i in range(u64(count)):
        rows[0, i], rows[1, i] = u32(box[0] + step), u32(box[2] + replicate)
        replicate += 1
        if replicate == box[3]:
            step, replicate = step + 1, 0
    if abreast:
        for block in range(u64(blocks)):
            for i in range(u64(count)):
                _put(words, block * u64(count) + i, _philox(block, rows[0, i], rows[1, i], kind, k0, k1))
        return count * blocks
    width = min(width, _padded(blocks - start))
    for row in range(u64(count)):
        s, r = rows[0, row], rows[1, row]
        for i in range(u64(width)):
            _put(words, row * u64(width) + i, _philox(u64(start) + i, s, r, kind, k0, k1))
    return count * width


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


def _draw(kernel: Any, kind: int, dtype: Any, key: Key, box: Box, *parameters: Any) -> NDArray[Any]:
    size = box.steps * box.replicates * box.dim
    out = np.empty(size + 3, dtype=dtype)  # room for the last block where the dimension is no multiple of its size
    if size:
        kernel(out, tuple(box), (kind, *key), *parameters)
    return out[:size].reshape(box.shape)


normal = partial(_draw, _normals, NORMAL, np.float32)
laplace = partial(_draw, _laplaces, LAPLACE, np.float32)
uniform = partial(_draw, _uniforms, UNIFORM, np.float64)


def integers(key: Key, box: Box, high: int) -> NDArray[np.int64]:
    """Integers in [0, high)."""
    return _draw(_integers, INTEGER, np.int64, key, box, u64(high))


def scaled(values: NDArray[np.float32], scale: float) -> NDArray[np.float64]:
    """Float64 multiples of draws, in one pass."""
    out = np.empty(values.size)
    _scale(out, np.ascontiguousarray(values).reshape(-1), float(scale))
    return out.reshape(values.shape)


@_inlined
def _fill_counters(counters, start, count, blocks, first_step, first_replicate, replicates):
    """Write block, step and replicate of the blocks ``start .. start + count - 1``, counted through the box."""
    row, block = start // blocks, start % blocks
    step, replicate = row // replicates, row % replicates
    for i in range(count):
        counters[0][i] = u32(block)
        counters[1][i] = u32(first_step + step)
        counters[2][i] = u32(first_replicate + replicate)
        block += 1
        if block == blocks:
            block, replicate = 0, replicate + 1
            if replicate == replicates:
                step, replicate = step + 1, 0


@_inlined
def _fill_shapes(shapes, words, segments, positions, table, size):
    """Evaluate the cubics; only the loop that looks them up is not vectorised."""
    for i in range(u64(size)):
        folded = i32(i32(words[i]) ^ i32(i32(words[i]) >> i32(31)))
        bits = np.float32(f32(folded) * f32(2.0**-31) + f32(2.0**-32)).view(np.int32)
        segments[i] = i32(i32(bits >> i32(19)) - i32(1520))
        positions[i] = f32(i32(bits & i32(0x7FFFF))) * f32(2.0**-19)
    for i in range(u64(size)):
        j, t = u64(segments[i]), positions[i]
        shapes[i] = ((table[j, 3] * t + table[j, 2]) * t + table[j, 1]) * t + table[j, 0]
    for i in range(u64(size)):
        shapes[i] = _flip_sign(shapes[i], u32(u32(~words[i]) & u32(0x80000000)))


@_inlined
def _exp2(y):
    whole = i32(y + f32(127.5))
    x = y - f32(i32(whole - i32(127)))
    p = f32(1.535336188319500e-4) * x + f32(1.339887440266574e-3)
    p = p * x + f32(9.618437357674640e-3)
    p = p * x + f32(5.550332471162809e-2)
    p = p * x + f32(2.402264791363012e-1)
    p = p * x + f32(6.931472028550421e-1)
    p = p * x + f32(1.0)
    return p * np.int32(i32(whole << i32(23))).view(np.float32)


@_inlined
def _power(w, r):
    exponent = (r * f32(1.4426950408889634)) * _minus_log(abs(w))
    return _exp2(-min(exponent, f32(126)))


@_inlined
def _fill_blocks(words, counters, count, kind, k0, k1):
    for i in range(count):
        w0, w1, w2, w3 = _philox(counters[0][i], counters[1][i], counters[2][i], kind, k0, k1)
        words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3] = w0, w1, w2, w3


@_inlined
def _row_sums(values, rows, blocks, sums):
    """Sum along the rows, each fourth value first: the order of `transforms.lane_sums`."""
    for row in range(u64(rows)):
        a0 = a1 = a2 = a3 = 0.0
        for block in range(u64(blocks)):
            j = u64(4) * (u64(row) * u64(blocks) + u64(block))
            a0, a1 = a0 + np.float64(values[j]), a1 + np.float64(values[j + u64(1)])
            a2, a3 = a2 + np.float64(values[j + u64(2)]), a3 + np.float64(values[j + u64(3)])
        sums[row] = (a0 + a1) + (a2 + a3)


@_inlined
def _clear_beyond(values, rows, blocks, dim):
    """Zeros in the padding of each row."""
    for row in range(rows):
        for j in range(4 * row * blocks + dim, 4 * (row + 1) * blocks):
            values[j] = f32(0)


@_inlined
def _squared_radii(squares, words, values, rows, blocks, dim):
    """Twice an exponential for every two coordinates, and the square of a normal for a last odd one."""
    for i in range(u64(4 * rows * blocks)):
        values[i] = f32(2) * _minus_log(f32(words[i]) * f32(2.0**-32) + f32(2.0**-33))
    _clear_beyond(values, rows, blocks, dim // 2)
    _row_sums(values, rows, blocks, squares)
    if dim % 2:
        for row in range(rows):
            j = 4 * row * blocks + dim // 2
            z = np.float64(_normal_pair(words[j], words[j + 1])[0])
            squares[row] += z * z


@_inlined
def _rescued(shapes, powers, rows, blocks, totals, scales, r):
    """Divide rows whose powers are all tiny by their largest shape."""
    for row in range(rows):
        scales[row] = 1.0
        if totals[row] < 1e-30:
            largest, lanes = f32(0), np.zeros(4)
            for j in range(4 * row * blocks, 4 * (row + 1) * blocks):
                largest = max(largest, abs(shapes[j]))
            for j in range(4 * row * blocks, 4 * (row + 1) * blocks):
                lanes[j % 4] += np.float64(_power(shapes[j] / largest, r)) if powers[j] > f32(0) else 0.0
            totals[row], scales[row] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]), np.float64(largest)


@_inlined
def _write_rows(out, position, shapes, factors, rows, blocks, dim):
    """Append scaled rows; what lies beyond ``dim`` is overwritten by the next row."""
    for row in range(u64(rows)):
        factor = factors[row]
        for block in range(u64(blocks)):
            j, k = u64(4) * (u64(row) * u64(blocks) + u64(block)), position + u64(4) * u64(block)
            x0, x1 = f32(factor * np.float64(shapes[j])), f32(factor * np.float64(shapes[j + u64(1)]))
            x2, x3 = f32(factor * np.float64(shapes[j + u64(2)])), f32(factor * np.float64(shapes[j + u64(3)]))
            out[k], out[k + u64(1)], out[k + u64(2)], out[k + u64(3)] = x0, x1, x2, x3
        position += u64(dim)
    return position


@_compiled
def _generalised(out, box, kind_and_key, table, r):
    first_step, steps, first_replicate, replicates, dim = box
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    blocks, radius_blocks = (dim + 3) // 4, (dim // 2 + 2 * (dim % 2) + 3) // 4
    group = max(1, _TILE // blocks)  # rows worked on at once
    counters, size = np.empty((3, group * blocks), np.uint32), 4 * group * blocks
    words, segments = np.empty(size, np.uint32), np.empty(size, np.int32)
    positions, shapes, powers = np.empty(size, np.float32), np.empty(size, np.float32), np.empty(size, np.float32)
    totals, squares, scales = np.empty(group), np.empty(group), np.empty(group)
    place, inverse = u64(0), f32(1.4426950408889634) / r
    for first in range(0, steps * replicates, group):
        rows = min(group, steps * replicates - first)
        start, count = first * radius_blocks, rows * radius_blocks
        _fill_counters(counters, start, count, radius_blocks, first_step, first_replicate, replicates)
        _fill_blocks(words, counters, count, u32(RADIUS), k0, k1)
        _squared_radii(squares, words, positions, rows, radius_blocks, dim)
        start, count = first * blocks, rows * blocks
        _fill_counters(counters, start, count, blocks, first_step, first_replicate, replicates)
        _fill_blocks(words, counters, count, kind, k0, k1)
        _fill_shapes(shapes, words, segments, positions, table, 4 * count)
        _clear_beyond(shapes, rows, blocks, dim)
        for i in range(u64(4 * count)):
            powers[i] = _power(shapes[i], r)
        _clear_beyond(powers, rows, blocks, dim)
        _row_sums(powers, rows, blocks, totals)
        _rescued(shapes, powers, rows, blocks, totals, scales, r)
        for row in range(u64(rows)):
            root = np.float64(_exp2(inverse * -_minus_log(f32(totals[row]))))
            scales[row] = np.sqrt(squares[row]) / (scales[row] * root)
        place = _write_rows(out, place, shapes, scales, rows, blocks, dim)


def generalised_gaussian(key: Key, box: Box, table: NDArray[np.float32], r: float) -> NDArray[np.float32]:
    """Vectors of density ``~ exp(-||z||_r^2/2)``; the table is that of `transforms.shape_table` for r."""
    if not box.dim:
        return np.empty(box.shape, np.float32)
    return _draw(_generalised, SHAPE, np.float32, key, box, table, f32(r))


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
    out: Ints, scores: Floats, rows: Ints, lowest: Floats, scale: float, step: int, first_replicate: int, key: Key
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
    return _draw(_subsets, INTEGER, np.int64, key, box, drawn, high)


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
    indices = _draw(_selections, UNIFORM, np.int64, key, box, gaps, counts, high, slope)
    return indices, np.arange(box.dim) < counts[..., None]
