"""What words stand for, one by one: the compiled functions of a word as functions of arrays."""

import numba
import numpy as np

from dpsco_bench.rng import kernels
from dpsco_bench.rng.counters import INTEGER, LAPLACE, NORMAL, UNIFORM

KINDS = {"normal": NORMAL, "laplace": LAPLACE, "uniform": UNIFORM, "integers": INTEGER}
minus_log, exp2, power, laplace, uniform, integer = (
    numba.vectorize(function.py_func)
    for function in (
        kernels._minus_log,
        kernels._exp2,
        kernels._power,
        kernels._laplace,
        kernels._uniform,
        kernels._integer,
    )
)


@numba.njit
def cos_sin(words):
    out = np.empty((2, words.size), np.float32)
    for i in range(words.size):
        out[:, i] = kernels._cos_sin(words[i])
    return out


@numba.njit
def normal_pairs(w, v):
    out = np.empty((2, w.size), np.float32)
    for i in range(w.size):
        out[:, i] = kernels._normal_pair(w[i], v[i])
    return out


@numba.njit
def words_of(box, blocks, kind, key):
    """Words ``(steps, replicates, blocks, 4)`` of the counters (block, step, replicate, kind)."""
    first_step, steps, first_replicate, replicates, _ = box
    out = np.empty((steps, replicates, blocks, 4), np.uint32)
    for s in range(steps):
        for r in range(replicates):
            for block in range(blocks):
                found = kernels._philox(block, first_step + s, first_replicate + r, kind, key[0], key[1])
                out[s, r, block, 0], out[s, r, block, 1], out[s, r, block, 2], out[s, r, block, 3] = found
    return out


def expected(name, key, box, high=0):
    """Draws of a box, value by value, without tiles."""
    per_block = 4 if name in ("normal", "laplace") else 2
    words = words_of(tuple(box), -(-box.dim // per_block), KINDS[name], key)
    w, v = words[..., 0::2], words[..., 1::2]
    if name == "normal":
        values = np.stack([part.reshape(w.shape) for part in normal_pairs(w.ravel(), v.ravel())], axis=-1)
    elif name == "laplace":
        values = laplace(words)
    else:
        values = uniform(w, v) if name == "uniform" else integer(w, v, np.uint64(high))
    return values.reshape(*box.shape[:2], per_block * words.shape[2])[..., : box.dim]
