"""Report noisy max without drawing all of its noise; see `rng.reference` for the method and why it is exact."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.rng.streams import Stream, order_implementation

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
    stream: Stream,
    step: int,
    first_replicate: int,
    scores: np.ndarray,
    scale: float,
    rows: np.ndarray | None = None,
    lowest: np.ndarray | None = None,
) -> np.ndarray:
    """Find the least of K scores plus independent Laplace noise in each row, from as few draws as it takes.

    Returns (R,) of int64, zero in rows that are not asked for.

    Parameters
    ----------
    step, first_replicate : int
        Their address; row r belongs to replicate ``first_replicate + r``, however rows are split.
    scores : array (R, K) of float64, on the host
    rows, lowest : arrays, optional, from `lazy_rows`; all rows where they are not given
    """
    out = np.zeros(len(scores), dtype=np.int64)
    rows = np.arange(len(scores)) if rows is None else rows
    lowest = scores.min(axis=-1) if lowest is None else lowest
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    order_implementation().noisy_minima(out, scores, rows, lowest, scale, step, first_replicate, stream.key)
    return out
