"""Record subsampling: Poisson batches, uniform indices with and without replacement, drawn directly.

Uniform indices come in the namespace of their stream. The others are drawn on the host for every backend: they are few,
and hang on logarithms and orders that round in one way there.
"""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.rng.streams import Stream


def poisson_width(n: int, rate: float) -> int:
    """Compute the padded width: mean plus ten deviations plus ten, at most n (exceeded with chance below 1e-19)."""
    mean = n * rate
    return min(n, math.ceil(mean + 10.0 * math.sqrt(mean * (1.0 - rate)) + 10.0))


def poisson_indices(
    stream: Stream, n: int, rate: float, first_step: int, steps: int, first_replicate: int, replicates: int
) -> tuple[np.ndarray, np.ndarray]:
    """Select each of n records independently with probability ``rate``.

    The gaps between selected records are geometric, so that a batch costs its own size and not n uniforms. Raises
    InputError if ``rate`` is outside (0, 1].

    Returns
    -------
    indices : array (steps, replicates, W) of int64
    mask : array (steps, replicates, W) of bool
    """
    if not 0.0 < rate <= 1.0:
        raise InputError("rate", rate, "in (0, 1]")
    shape = (steps, replicates, n)
    if rate == 1.0:
        return np.broadcast_to(np.arange(n), shape), np.ones(shape, dtype=bool)
    width = poisson_width(n, rate)
    indices, mask = stream.selections(first_step, steps, first_replicate, replicates, width, high=n, rate=rate)
    if width < n and bool(mask[..., -1].any()):
        raise InputError("Poisson batch", width, "wider than the padded block (probability below 1e-19: report this)")
    return indices, mask


def uniform_indices(
    stream: Stream, n: int, first_step: int, steps: int, first_replicate: int, replicates: int, size: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Draw ``size`` uniform indices per step and replicate, with replacement; returns as above, with W = size."""
    indices = stream.integers(first_step, steps, first_replicate, replicates, size, high=n)
    return indices, np.broadcast_to(np.True_, indices.shape)


def subset_indices(
    stream: Stream, n: int, first_step: int, steps: int, first_replicate: int, replicates: int, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a uniform subset of ``size`` records per step and replicate; returns as above, with W = size.

    Of independent uniform indices the first ``size`` different ones, in order: a uniform subset. A batch costs about
    its own size; one of more than a quarter of the records is taken from a shuffle of them all.
    """
    where = (first_step, steps, first_replicate, replicates)
    if 4 * size > n:
        keys = np.asarray(stream.uniform(*where, n))
        indices = np.argsort(keys, axis=-1, kind="stable")[..., :size]
    else:
        indices = np.asarray(stream.subsets(*where, size, high=n))
    return indices, np.broadcast_to(np.True_, indices.shape)
