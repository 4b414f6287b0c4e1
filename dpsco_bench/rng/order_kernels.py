"""The lazy noisy minimum, compiled by Numba: the answers of `dpsco_bench.rng.reference`.

Written like `dpsco_bench.rng.kernels`, from which it takes the frozen arithmetic of words, uniforms and integers;
Numba's cache on disk notices changes of this file only.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng.counters import ORDER
from dpsco_bench.rng.kernels import Key, _compiled, _integer, _philox, _uniform, u32, u64


@_compiled
def _noisy_minima(out, scores, rows, lowest, scale, step_and_replicate, kind_and_key):
    kind, k0, k1 = u32(kind_and_key[0]), u32(kind_and_key[1]), u32(kind_and_key[2])
    count = scores.shape[1]
    seen = np.full(count, -1, np.int64)
    for row in rows:
        replicate = u32(step_and_replicate[1] + row)
        best, chosen, surprise, left, attempt = np.inf, 0, 0.0, count, 0
        while left > 0:
            w0, w1, w2, w3 = _philox(u32(attempt), u32(step_and_replicate[0]), replicate, kind, k0, k1)
            attempt += 1
            i = _integer(w2, w3, u64(count))
            if seen[i] == row:
                continue
            seen[i] = row
            surprise -= math.log(_uniform(w0, w1)) / left
            left -= 1
            above = -math.expm1(-surprise)  # probability that a variate exceeds this order statistic
            noise = -math.log(2.0 * above) if above <= 0.5 else math.log(2.0) - surprise
            if scores[row, i] - scale * noise < best:
                best, chosen = scores[row, i] - scale * noise, i
            if lowest[row] - scale * noise >= best:
                break
        out[row] = chosen


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
