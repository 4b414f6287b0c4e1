"""Generalised Gaussian vectors, compiled by Numba: the bits of `dpsco_bench.rng.reference`, several times faster.

Written like `dpsco_bench.rng.kernels`, from which it takes the frozen arithmetic of words, normals and logarithms;
Numba's cache on disk notices changes of this file only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng.counters import NORMAL, SHAPE, Box
from dpsco_bench.rng.kernels import (
    _TILE,
    Key,
    _compiled,
    _draw,
    _fill_counters,
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
def _shape(w, table):
    folded = i32(i32(w) ^ i32(i32(w) >> i32(31)))
    bits = np.float32(f32(folded) * f32(2.0**-31) + f32(2.0**-32)).view(np.int32)
    i = u64(i32(i32(bits >> i32(19)) - i32(1520)))
    t = f32(i32(bits & i32(0x7FFFF))) * f32(2.0**-19)
    magnitude = ((table[i, 3] * t + table[i, 2]) * t + table[i, 1]) * t + table[i, 0]
    return _flip_sign(magnitude, u32(u32(~w) & u32(0x80000000)))


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
def _row_sums(powers, normals, rows, blocks, totals, radii):
    """Sums of powers and of squares along the rows, each fourth value first: the order of `transforms.lane_sums`."""
    for row in range(u64(rows)):
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
        for block in range(u64(blocks)):
            j = u64(4) * (u64(row) * u64(blocks) + u64(block))
            z0, z1 = np.float64(normals[j]), np.float64(normals[j + u64(1)])
            z2, z3 = np.float64(normals[j + u64(2)]), np.float64(normals[j + u64(3)])
            a0, a1 = a0 + np.float64(powers[j]), a1 + np.float64(powers[j + u64(1)])
            a2, a3 = a2 + np.float64(powers[j + u64(2)]), a3 + np.float64(powers[j + u64(3)])
            b0, b1, b2, b3 = b0 + z0 * z0, b1 + z1 * z1, b2 + z2 * z2, b3 + z3 * z3
        totals[row], radii[row] = (a0 + a1) + (a2 + a3), (b0 + b1) + (b2 + b3)


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
    blocks = max(1, (dim + 3) // 4)
    group = max(1, _TILE // blocks)  # rows worked on at once
    counters = np.empty((3, group * blocks), np.uint32)
    words, shapes = np.empty(4 * group * blocks, np.uint32), np.empty(4 * group * blocks, np.float32)
    powers, normals = np.empty(shapes.size, np.float32), np.empty(shapes.size, np.float32)
    totals, radii, scales = np.empty(group), np.empty(group), np.empty(group)
    position, inverse = u64(0), f32(1.4426950408889634) / r
    for first in range(0, steps * replicates, group):
        rows = min(group, steps * replicates - first)
        count = rows * blocks
        _fill_counters(counters, first * blocks, count, blocks, first_step, first_replicate, replicates)
        for i in range(count):
            w0, w1, w2, w3 = _philox(counters[0][i], counters[1][i], counters[2][i], kind, k0, k1)
            words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3] = w0, w1, w2, w3
        for i in range(count):
            w0, w1, w2, w3 = _philox(counters[0][i], counters[1][i], counters[2][i], u32(NORMAL), k0, k1)
            normals[4 * i], normals[4 * i + 1] = _normal_pair(w0, w1)
            normals[4 * i + 2], normals[4 * i + 3] = _normal_pair(w2, w3)
        for i in range(u64(4 * count)):
            shapes[i] = _shape(words[i], table)
        for i in range(u64(4 * count)):
            powers[i] = _power(shapes[i], r)
        if dim % 4:
            for row in range(rows):
                for j in range(4 * row * blocks + dim, 4 * (row + 1) * blocks):
                    shapes[j] = powers[j] = normals[j] = f32(0)
        _row_sums(powers, normals, rows, blocks, totals, radii)
        _rescued(shapes, powers, rows, blocks, totals, scales, r)
        for row in range(u64(rows)):
            root = np.float64(_exp2(inverse * -_minus_log(f32(totals[row]))))
            radii[row] = np.sqrt(radii[row]) / (scales[row] * root)
        position = _write_rows(out, position, shapes, radii, rows, blocks, dim)


def generalised_gaussian(key: Key, box: Box, table: NDArray[np.float32], r: float) -> NDArray[np.float32]:
    """Vectors of density ``~ exp(-||z||_r^2/2)``; the table is that of `quantiles.shape_table` for r."""
    if not box.dim:
        return np.empty(box.shape, np.float32)
    return _draw(_generalised, key, SHAPE, box, np.float32, table, f32(r))
