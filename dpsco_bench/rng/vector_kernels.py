"""Generalised Gaussian vectors, compiled by Numba: the bits of `dpsco_bench.rng.reference`, several times faster.

Written like `dpsco_bench.rng.kernels`, from which it takes the frozen arithmetic of words, normals and logarithms;
Numba's cache on disk notices changes of this file only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng.counters import RADIUS, SHAPE, Box
from dpsco_bench.rng.kernels import (
    _TILE,
    Key,
    _compiled,
    _draw,
    _flip_sign,
    _inlined,
    _minus_log,
    _normal_pair,
    _philox,
    f32,
    i32,
    u32,
    u64,
)


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
def _fill_words(words, counters, count, kind, k0, k1):
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
    """Append scaled rows; what lies beyond ``dim`` is overwritten by the next row, as in `_pack4`."""
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
        _fill_words(words, counters, count, u32(RADIUS), k0, k1)
        _squared_radii(squares, words, positions, rows, radius_blocks, dim)
        start, count = first * blocks, rows * blocks
        _fill_counters(counters, start, count, blocks, first_step, first_replicate, replicates)
        _fill_words(words, counters, count, kind, k0, k1)
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
    """Vectors of density ``~ exp(-||z||_r^2/2)``; the table is that of `quantiles.shape_table` for r."""
    if not box.dim:
        return np.empty(box.shape, np.float32)
    return _draw(_generalised, key, SHAPE, box, np.float32, table, f32(r))
