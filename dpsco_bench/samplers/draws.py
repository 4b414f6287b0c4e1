"""Draws of a mechanism: keyed numbers of samplers, batches of records, and report noisy max without all of its noise.

Uniform indices come in the namespace of their stream. Other batches are drawn on the host for every backend: they are
few, and hang on logarithms and orders that round in one way there. `rng.reference` says why the minimum is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_bench.rng.streams import Stream, cpu_implementation

SPARSE = 4
"""Share of replicates, one in so many, below which their numbers are drawn one by one."""


@dataclass(frozen=True)
class KeyedDraws:
    """Uniform numbers of R replicates on the host, however these are split, repeated for `copies` (signal-major)."""

    stream: Callable[[str], Stream]
    first_replicate: int
    replicates: int
    copies: int = 1

    @property
    def rows(self) -> int:
        return self.copies * self.replicates

    def uniform(self, name: str, step: int, dim: int) -> np.ndarray:
        """Uniform numbers in (0, 1), shape ``(rows, dim)``."""
        drawn = self.stream(name).uniform(step, 1, self.first_replicate, self.replicates, dim)[0]
        return drawn if self.copies == 1 else np.tile(drawn, (self.copies, 1))

    def uniform_steps(self, name: str, first_step: int, steps: int, dim: int, rows: np.ndarray) -> np.ndarray:
        """Uniform numbers of several steps for some rows ``(m,)``, shape ``(steps, m, dim)``: those of `uniform`."""
        numbers, back = np.unique(rows % self.replicates, return_inverse=True)
        first, count = int(numbers[0]), int(numbers[-1] - numbers[0]) + 1
        stream = self.stream(name)
        if SPARSE * len(numbers) < count:
            one_by_one = [stream.uniform(first_step, steps, self.first_replicate + int(r), 1, dim) for r in numbers]
            return np.concatenate(one_by_one, axis=1)[:, back]
        drawn = stream.uniform(first_step, steps, self.first_replicate + first, count, dim)
        return drawn[:, (numbers - first)[back]]

    def integers(self, name: str, step: int, dim: int, high: int) -> np.ndarray:
        """Integers in [0, high), shape ``(rows, dim)``."""
        drawn = self.stream(name).integers(step, 1, self.first_replicate, self.replicates, dim, high=high)[0]
        return drawn if self.copies == 1 else np.tile(drawn, (self.copies, 1))


LEAST_SCORES = 256
"""Below so many scores drawing all noise is as fast."""
_MOST_DRAWS = 1 / 16
"""Fraction of the scores for which noise may be drawn in the worst case before drawing all of it is faster."""


def lazy_rows(scores: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Choose the rows of ``scores (R, K)`` to answer lazily: their indices, and the least score of every row.

    The k-th largest noise lies about ``scale ln k`` below the largest, so that about ``exp(range/scale)`` draws are
    needed if one score lies that far below all others, and fewer otherwise. It depends on scores and scale alone, not
    on any random number.
    """
    lowest = scores.min(axis=-1)
    within = scores.max(axis=-1) - lowest <= widest(scale, scores.shape[-1])
    return np.flatnonzero(within & (scale > 0.0)), lowest


def widest(scale: float, count: int) -> float:
    """Range of ``count`` scores up to which few draws are needed."""
    return scale * math.log(max(1.0, _MOST_DRAWS * count))


def lazy_minima(
    stream: Stream, step: int, first: int, scores: np.ndarray, scale: float, rows: np.ndarray, lowest: np.ndarray
) -> np.ndarray:
    """Find the least of K scores plus independent Laplace noise in each row, from as few draws as it takes.

    Returns (R,) of int64, zero in rows that are not asked for. Row r of ``scores (R, K)``, on the host, belongs to
    replicate ``first + r``, however rows are split; ``rows, lowest`` are those of `lazy_rows`.
    """
    out = np.zeros(len(scores), dtype=np.int64)
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    cpu_implementation().noisy_minima(out, scores, rows, lowest, scale, step, first, stream.key)
    return out


def poisson_width(n: int, rate: float) -> int:
    """Compute the padded width: mean plus ten deviations plus ten, at most n (exceeded with chance below 1e-19)."""
    mean = n * rate
    return min(n, math.ceil(mean + 10.0 * math.sqrt(mean * (1.0 - rate)) + 10.0))


def poisson_indices(
    stream: Stream, n: int, rate: float, first_step: int, steps: int, first_replicate: int, replicates: int
) -> tuple[np.ndarray, np.ndarray]:
    """Select each of n records independently with probability ``rate``.

    The gaps between selected records are geometric, so that a batch costs its own size and not n uniforms. ``rate`` is
    in (0, 1]. Returns indices, int64, and a mask, both ``(steps, replicates, W)``, W of `poisson_width`.
    """
    shape = (steps, replicates, n)
    if rate == 1.0:
        return np.broadcast_to(np.arange(n), shape), np.ones(shape, dtype=bool)
    return stream.selections(first_step, steps, first_replicate, replicates, poisson_width(n, rate), high=n, rate=rate)


def uniform_indices(
    stream: Stream, n: int, first_step: int, steps: int, first_replicate: int, replicates: int, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw ``size`` uniform indices per step and replicate, with replacement; returns as above, with W = size."""
    indices = stream.integers(first_step, steps, first_replicate, replicates, size, high=n)
    return indices, np.broadcast_to(np.True_, indices.shape)


def subset_indices(
    stream: Stream, n: int, first_step: int, steps: int, first_replicate: int, replicates: int, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a uniform subset of ``size`` records per step and replicate; returns as above, with W = size.

    The first ``size`` different ones of uniform indices; of more than a quarter of the records, a shuffle's first.
    """
    where = (first_step, steps, first_replicate, replicates)
    if 4 * size > n:
        keys = np.asarray(stream.uniform(*where, n))
        indices = np.argsort(keys, axis=-1, kind="stable")[..., :size]
    else:
        indices = np.asarray(stream.subsets(*where, size, high=n))
    return indices, np.broadcast_to(np.True_, indices.shape)
