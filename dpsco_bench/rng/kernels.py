"""Draws over a box of counters, compiled by Numba: the bits of `dpsco_bench.rng.reference`, ten to twenty times faster.

The inner loops run over the blocks of a tile and are written so that LLVM vectorises them: counters in separate
arrays, products of words in 64 bits, no branch and no library call. Floating-point operations are neither reordered
nor fused (no ``fastmath``), which is what keeps the bits.

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

_TILE = 1024  # blocks: counters and values of a tile stay in the first-level cache
f32, u32, u64, i32 = np.float32, np.uint32, np.uint64, np.int32

_inlined = numba.njit(inline="always", error_model="numpy")


def _compiled(function: Any) -> Any:
    """Compile on first call, with a cache on disk where some directory can be written."""
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # Numba found no directory for its cache
        return numba.njit(nogil=True, error_model="numpy")(function)


@_inlined
def _philox(c0, c1, c2, c3, k0, k1):
    for _ in range(10):
        first, second = u64(c0) * u64(0xD2511F53), u64(c2) * u64(0xCD9E8D57)
        c0, c1 = u32(second >> u64(32)) ^ c1 ^ k0, u32(second)
        c2, c3 = u32(first >> u64(32)) ^ c3 ^ k1, u32(first)
        k0, k1 = u32(k0 + u32(0x9E3779B9)), u32(k1 + u32(0xBB67AE85))
    return c0, c1, c2, c3


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
def _pack4(values, out, position, count, block_of, dim):
    """Append whole blocks of four to ``out``: what lies beyond ``dim`` is overwritten by the next row.

    Indices are unsigned: each access by a signed one would be tested for a negative index first.
    """
    for i in range(u64(count)):
        j = u64(4) * i
        a, b, c, d = values[j], values[j + u64(1)], values[j + u64(2)], values[j + u64(3)]
        out[position], out[position + u64(1)], out[position + u64(2)], out[position + u64(3)] = a, b, c, d
        position += min(u64(4), u64(dim) - u64(4) * u64(block_of[i]))
    return position


@_inlined
def _pack2(values, out, position, count, block_of, dim):
    """Append whole blocks of two to ``out``, as `_pack4` does."""
    for i in range(u64(count)):
        a, b = values[u64(2) * i], values[u64(2) * i + u64(1)]
        out[position], out[position + u64(1)] = a, b
        position += min(u64(2), u64(dim) - u64(2) * u64(block_of[i]))
    return position


@_inlined
def _new_counters():
    return np.empty(_TILE, np.uint32), np.empty(_TILE, np.uint32), np.empty(_TILE, np.uint32)


@_compiled
def _words(out, box, kind_and_key):
    first_step, steps, first_replicate, replicates, dim = box
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    blocks = (dim + 3) // 4
    total, whole, position = steps * replicates * blocks, dim % 4 == 0, u64(0)
    counters, scratch = _new_counters(), np.empty(4 * _TILE, np.uint32)
    for start in range(0, total, _TILE):
        count = min(_TILE, total - start)
        _fill_counters(counters, start, count, blocks, first_step, first_replicate, replicates)
        values = out[4 * start : 4 * (start + count)] if whole else scratch
        for i in range(count):
            w0, w1, w2, w3 = _philox(counters[0][i], counters[1][i], counters[2][i], kind, k0, k1)
            values[4 * i], values[4 * i + 1] = w0, w1
            values[4 * i + 2], values[4 * i + 3] = w2, w3
        if not whole:
            position = _pack4(scratch, out, position, count, counters[0], dim)


@_compiled
def _normal_rows(out, box, kind_and_key):
    """Rows of whole blocks, each by itself, without counters in memory."""
    first_step, steps, first_replicate, replicates, dim = box
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    start = u64(0)
    for row in range(steps * replicates):
        step, replicate = u32(first_step + row // replicates), u32(first_replicate + row % replicates)
        values = out[start : start + u64(dim)]
        start += u64(dim)
        for i in range(dim // 4):
            w0, w1, w2, w3 = _philox(u32(i), step, replicate, kind, k0, k1)
            values[4 * i], values[4 * i + 1] = _normal_pair(w0, w1)
            values[4 * i + 2], values[4 * i + 3] = _normal_pair(w2, w3)


@_compiled
def _normals(out, box, kind_and_key):
    first_step, steps, first_replicate, replicates, dim = box
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    blocks = (dim + 3) // 4
    total, whole, position = steps * replicates * blocks, dim % 4 == 0, u64(0)
    counters, scratch = _new_counters(), np.empty(4 * _TILE, np.float32)
    for start in range(0, total, _TILE):
        count = min(_TILE, total - start)
        _fill_counters(counters, start, count, blocks, first_step, first_replicate, replicates)
        values = out[4 * start : 4 * (start + count)] if whole else scratch
        for i in range(count):
            w0, w1, w2, w3 = _philox(counters[0][i], counters[1][i], counters[2][i], kind, k0, k1)
            values[4 * i], values[4 * i + 1] = _normal_pair(w0, w1)
            values[4 * i + 2], values[4 * i + 3] = _normal_pair(w2, w3)
        if not whole:
            position = _pack4(scratch, out, position, count, counters[0], dim)


@_compiled
def _laplace_rows(out, box, kind_and_key):
    """Rows of whole blocks, each by itself, without counters in memory."""
    first_step, steps, first_replicate, replicates, dim = box
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    start = u64(0)
    for row in range(steps * replicates):
        step, replicate = u32(first_step + row // replicates), u32(first_replicate + row % replicates)
        values = out[start : start + u64(dim)]
        start += u64(dim)
        for i in range(dim // 4):
            w0, w1, w2, w3 = _philox(u32(i), step, replicate, kind, k0, k1)
            values[4 * i], values[4 * i + 1] = _laplace(w0), _laplace(w1)
            values[4 * i + 2], values[4 * i + 3] = _laplace(w2), _laplace(w3)


@_compiled
def _laplaces(out, box, kind_and_key):
    first_step, steps, first_replicate, replicates, dim = box
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    blocks = (dim + 3) // 4
    total, whole, position = steps * replicates * blocks, dim % 4 == 0, u64(0)
    counters, scratch = _new_counters(), np.empty(4 * _TILE, np.float32)
    for start in range(0, total, _TILE):
        count = min(_TILE, total - start)
        _fill_counters(counters, start, count, blocks, first_step, first_replicate, replicates)
        values = out[4 * start : 4 * (start + count)] if whole else scratch
        for i in range(count):
            w0, w1, w2, w3 = _philox(counters[0][i], counters[1][i], counters[2][i], kind, k0, k1)
            values[4 * i], values[4 * i + 1] = _laplace(w0), _laplace(w1)
            values[4 * i + 2], values[4 * i + 3] = _laplace(w2), _laplace(w3)
        if not whole:
            position = _pack4(scratch, out, position, count, counters[0], dim)


@_compiled
def _uniforms(out, box, kind_and_key):
    first_step, steps, first_replicate, replicates, dim = box
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    blocks = (dim + 1) // 2
    total, whole, position = steps * replicates * blocks, dim % 2 == 0, u64(0)
    counters, scratch = _new_counters(), np.empty(2 * _TILE, np.float64)
    for start in range(0, total, _TILE):
        count = min(_TILE, total - start)
        _fill_counters(counters, start, count, blocks, first_step, first_replicate, replicates)
        values = out[2 * start : 2 * (start + count)] if whole else scratch
        for i in range(count):
            w0, w1, w2, w3 = _philox(counters[0][i], counters[1][i], counters[2][i], kind, k0, k1)
            values[2 * i], values[2 * i + 1] = _uniform(w0, w1), _uniform(w2, w3)
        if not whole:
            position = _pack2(scratch, out, position, count, counters[0], dim)


@_compiled
def _integers(out, box, kind_and_key, high):
    first_step, steps, first_replicate, replicates, dim = box
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    blocks = (dim + 1) // 2
    total, whole, position = steps * replicates * blocks, dim % 2 == 0, u64(0)
    counters, scratch = _new_counters(), np.empty(2 * _TILE, np.int64)
    for start in range(0, total, _TILE):
        count = min(_TILE, total - start)
        _fill_counters(counters, start, count, blocks, first_step, first_replicate, replicates)
        values = out[2 * start : 2 * (start + count)] if whole else scratch
        for i in range(count):
            w0, w1, w2, w3 = _philox(counters[0][i], counters[1][i], counters[2][i], kind, k0, k1)
            values[2 * i], values[2 * i + 1] = _integer(w0, w1, high), _integer(w2, w3, high)
        if not whole:
            position = _pack2(scratch, out, position, count, counters[0], dim)


@_compiled
def _scale(out, values, scale):
    for i in range(u64(out.size)):
        out[i] = scale * np.float64(values[i])


def _is_long(box: Box) -> bool:
    """Whether rows are of whole blocks, and enough of them to fill the vector units."""
    return box.dim % 4 == 0 and box.dim >= 64


def _draw(kernel: Any, key: Key, kind: int, box: Box, dtype: Any, *parameters: Any) -> NDArray[Any]:
    size = box.steps * box.replicates * box.dim
    out = np.empty(size + 3, dtype=dtype)  # room for the last block where the dimension is no multiple of its size
    kernel(out, tuple(box), (kind, *key), *parameters)
    return out[:size].reshape(box.shape)


def words(key: Key, box: Box, kind: int) -> NDArray[np.uint32]:
    """Random words of a kind; the last axis of the box counts words."""
    return _draw(_words, key, kind, box, np.uint32)


def normal(key: Key, box: Box) -> NDArray[np.float32]:
    """Standard normals."""
    return _draw(_normal_rows if _is_long(box) else _normals, key, NORMAL, box, np.float32)


def laplace(key: Key, box: Box) -> NDArray[np.float32]:
    """Laplace variates of scale 1."""
    return _draw(_laplace_rows if _is_long(box) else _laplaces, key, LAPLACE, box, np.float32)


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
