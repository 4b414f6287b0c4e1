"""Draws over a box of counters on a GPU: CUDA C source with the bits of `dpsco_bench.rng.reference`, and its wrapper.

`DEVICE_SOURCE` holds the device functions, for kernels that draw their own noise; `SOURCE` adds one kernel per kind of
draw. Compile with ``--fmad=false`` and without fast-math options: a fused multiply-add would change last bits.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dpsco_bench.rng.counters import INTEGER, LAPLACE, NORMAL, UNIFORM, Box

Array = Any
Key = tuple[int, int]

OPTIONS = ("--fmad=false",)
_THREADS = 256
_MAX_GRID = 1 << 16

DEVICE_SOURCE = r"""
#ifndef DPSCO_DEVICE
#define DPSCO_DEVICE static __device__ __forceinline__
#define DPSCO_KERNEL extern "C" __global__
#endif

typedef unsigned int dpsco_word;
typedef unsigned long long dpsco_long;

/* Philox4x32-10: w holds the counter (coordinate block, step, replicate, kind) and receives the four words. */
DPSCO_DEVICE void dpsco_philox(dpsco_word w[4], dpsco_word k0, dpsco_word k1)
{
    for (int i = 0; i < 10; ++i) {
        dpsco_long first = (dpsco_long)w[0] * 0xD2511F53u, second = (dpsco_long)w[2] * 0xCD9E8D57u;
        w[0] = (dpsco_word)(second >> 32) ^ w[1] ^ k0;
        w[1] = (dpsco_word)second;
        w[2] = (dpsco_word)(first >> 32) ^ w[3] ^ k1;
        w[3] = (dpsco_word)first;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

DPSCO_DEVICE float dpsco_flip_sign(float x, dpsco_word sign)
{
    return __uint_as_float(__float_as_uint(x) ^ sign);
}

DPSCO_DEVICE float dpsco_minus_log(float u)
{
    int bits = (int)__float_as_uint(u) - 0x3F3504F3;
    float exponent = (float)(bits >> 23);
    float x = __uint_as_float((dpsco_word)((bits & 0x7FFFFF) + 0x3F3504F3)) - 1.0f;
    float square = x * x;
    float p = 7.0376836292e-2f * x + -1.1514610310e-1f;
    p = p * x + 1.1676998740e-1f;
    p = p * x + -1.2420140846e-1f;
    p = p * x + 1.4249322787e-1f;
    p = p * x + -1.6668057665e-1f;
    p = p * x + 2.0000714765e-1f;
    p = p * x + -2.4999993993e-1f;
    p = p * x + 3.3333331174e-1f;
    float tail = p * (square * x);
    tail = tail + exponent * -2.12194440e-4f;
    tail = tail - 0.5f * square;
    return -((x + tail) + exponent * 0.693359375f);
}

DPSCO_DEVICE void dpsco_cos_sin(dpsco_word w, float *abscissa, float *ordinate)
{
    dpsco_word quarter = w >> 30;
    float angle = (float)(int)((w << 2) | 2u) * 3.657295299941e-10f; /* pi / 2^33 */
    float square = angle * angle;
    float p = -1.9515295891e-4f * square + 8.3321608736e-3f;
    p = p * square + -1.6666654611e-1f;
    float sine = p * square * angle + angle;
    float q = 2.443315711809948e-5f * square + -1.388731625493765e-3f;
    q = q * square + 4.166664568298827e-2f;
    float cosine = q * square * square - 0.5f * square + 1.0f;
    *abscissa = dpsco_flip_sign(quarter & 1u ? sine : cosine, ((quarter + 1u) & 2u) << 30);
    *ordinate = dpsco_flip_sign(quarter & 1u ? cosine : sine, (quarter & 2u) << 30);
}

/* Words 0, 1 and words 2, 3 -> two standard normals each. */
DPSCO_DEVICE void dpsco_normals(const dpsco_word w[4], float z[4])
{
    for (int i = 0; i < 4; i += 2) {
        float u = (float)w[i] * 2.3283064365386963e-10f + 1.1641532182693481e-10f; /* 2^-32, 2^-33 */
        float radius = sqrtf(2.0f * dpsco_minus_log(u)), cosine, sine;
        dpsco_cos_sin(w[i + 1], &cosine, &sine);
        z[i] = radius * cosine;
        z[i + 1] = radius * sine;
    }
}

/* Each word -> a Laplace variate of scale 1. */
DPSCO_DEVICE void dpsco_laplaces(const dpsco_word w[4], float x[4])
{
    for (int i = 0; i < 4; ++i) {
        int folded = (int)(w[i] & 0x80000000u ? ~w[i] : w[i]);
        float u = (float)folded * 4.6566128730773926e-10f + 2.3283064365386963e-10f; /* 2^-31, 2^-32 */
        x[i] = dpsco_flip_sign(dpsco_minus_log(u), ~w[i] & 0x80000000u);
    }
}

/* Words 0, 1 and words 2, 3 -> a uniform number in (0, 1) each. */
DPSCO_DEVICE void dpsco_uniforms(const dpsco_word w[4], double u[2])
{
    for (int i = 0; i < 2; ++i) {
        double scaled = (double)w[2 * i] * 2097152.0 + (double)(w[2 * i + 1] >> 11);
        u[i] = (scaled > 0.5 ? scaled : 0.5) * 1.1102230246251565e-16; /* 2^-53 */
    }
}

/* Words 0, 1 and words 2, 3 -> an integer in [0, high) each. */
DPSCO_DEVICE void dpsco_integers(const dpsco_word w[4], dpsco_long high, long long x[2])
{
    for (int i = 0; i < 2; ++i)
        x[i] = (long long)__umul64hi(((dpsco_long)w[2 * i] << 32) | w[2 * i + 1], high);
}
"""

_KERNEL_SOURCE = r"""
typedef struct {
    long long first_step, steps, first_replicate, replicates, dim;
    dpsco_word kind, k0, k1;
} dpsco_box;

/* Draw block i of the box, counted through steps, replicates and blocks; return where its first value goes. */
DPSCO_DEVICE long long dpsco_draw(const dpsco_box *box, long long i, int per_block, dpsco_word w[4], int *count)
{
    long long blocks = (box->dim + per_block - 1) / per_block, row = i / blocks, block = i % blocks;
    long long left = box->dim - block * per_block;
    w[0] = (dpsco_word)block;
    w[1] = (dpsco_word)(box->first_step + row / box->replicates);
    w[2] = (dpsco_word)(box->first_replicate + row % box->replicates);
    w[3] = box->kind;
    dpsco_philox(w, box->k0, box->k1);
    *count = left < per_block ? (int)left : per_block;
    return row * box->dim + block * per_block;
}

#define DPSCO_DRAW_KERNEL(name, type, per_block, transform)                                                \
    DPSCO_KERNEL void name(type *out, long long first_step, long long steps, long long first_replicate,    \
                           long long replicates, long long dim, dpsco_word kind, dpsco_word k0, dpsco_word k1,\
                           dpsco_long high)                                                                \
    {                                                                                                      \
        dpsco_box box = {first_step, steps, first_replicate, replicates, dim, kind, k0, k1};               \
        long long total = steps * replicates * ((dim + per_block - 1) / per_block);                        \
        long long stride = (long long)gridDim.x * blockDim.x;                                              \
        for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += stride) {     \
            dpsco_word w[4];                                                                               \
            type values[per_block];                                                                        \
            int count;                                                                                     \
            long long position = dpsco_draw(&box, i, per_block, w, &count);                                \
            transform;                                                                                     \
            for (int j = 0; j < per_block; ++j)                                                            \
                if (j < count) out[position + j] = values[j];                                              \
        }                                                                                                  \
    }

DPSCO_DRAW_KERNEL(dpsco_draw_words, dpsco_word, 4, for (int j = 0; j < 4; ++j) values[j] = w[j])
DPSCO_DRAW_KERNEL(dpsco_draw_normal, float, 4, dpsco_normals(w, values))
DPSCO_DRAW_KERNEL(dpsco_draw_laplace, float, 4, dpsco_laplaces(w, values))
DPSCO_DRAW_KERNEL(dpsco_draw_uniform, double, 2, dpsco_uniforms(w, values))
DPSCO_DRAW_KERNEL(dpsco_draw_integers, long long, 2, dpsco_integers(w, high, values))
"""

SOURCE = DEVICE_SOURCE + _KERNEL_SOURCE


@functools.cache
def _kernel(name: str) -> Any:
    import cupy

    return _module(cupy).get_function(f"dpsco_draw_{name}")


@functools.cache
def _module(cupy: Any) -> Any:
    return cupy.RawModule(code=SOURCE, options=OPTIONS)


def kernel_arguments(key: Key, kind: int, box: Box, high: int = 0) -> tuple[Any, ...]:
    """Arguments of a draw kernel after the output pointer, in the types of its signature."""
    return (*map(np.int64, box), np.uint32(kind), np.uint32(key[0]), np.uint32(key[1]), np.uint64(high))


def _draw(name: str, key: Key, kind: int, box: Box, per_block: int, dtype: Any, high: int = 0) -> Array:
    import cupy

    out = cupy.empty(box.shape, dtype=dtype)
    grid = min(-(-box.total(per_block) // _THREADS), _MAX_GRID)
    if grid:
        _kernel(name)((grid,), (_THREADS,), (out, *kernel_arguments(key, kind, box, high)))
    return out


def words(key: Key, box: Box, kind: int) -> Array:
    """Random words of a kind, uint32; the last axis of the box counts words."""
    return _draw("words", key, kind, box, 4, np.uint32)


def normal(key: Key, box: Box) -> Array:
    """Standard normals, float32."""
    return _draw("normal", key, NORMAL, box, 4, np.float32)


def laplace(key: Key, box: Box) -> Array:
    """Laplace variates of scale 1, float32."""
    return _draw("laplace", key, LAPLACE, box, 4, np.float32)


def uniform(key: Key, box: Box) -> Array:
    """Uniform numbers in (0, 1), float64."""
    return _draw("uniform", key, UNIFORM, box, 2, np.float64)


def integers(key: Key, box: Box, high: int) -> Array:
    """Integers in [0, high), int64."""
    return _draw("integers", key, INTEGER, box, 2, np.int64, high)
