"""Means of generalised Gaussian draws: the noise of a batch whose records each bring their own."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpsco_bench.rng.streams import Stream

_MOST_VALUES = 1 << 17


def generalised_gaussian_mean(
    stream: Stream, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, r: float, draws: int
) -> np.ndarray:
    """Means of ``draws`` independent vectors of density ``~ exp(-||z||_r^2/2)`` each; not such a vector, unless r = 2.

    The draws of step t are those of the steps ``t draws .. (t + 1) draws - 1`` of the stream, added up in this order.
    Returns (steps, replicates, dim) of float64, on the host, for every namespace.
    """
    host, rest = replace(stream, xp=np), (first_replicate, replicates, dim)
    if r == 2.0:
        return host.normal(first_step, steps, *rest).astype(np.float64) / math.sqrt(draws)
    means = np.empty((steps, replicates, dim))
    at_once = max(1, _MOST_VALUES // max(1, draws * replicates * dim))
    for t in range(0, steps, at_once):
        count = min(at_once, steps - t)
        drawn = host.generalised_gaussian((first_step + t) * draws, count * draws, *rest, r)
        sums = np.cumsum(drawn.reshape(count, draws, replicates, dim), axis=1, dtype=np.float64)
        means[t : t + count] = sums[:, -1] / draws
    return means
