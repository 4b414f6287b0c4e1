"""Report noisy max over the vertices of the l1 ball, for one replicate in a compiled loop."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from dpsco_bench.fused.compiled import exact_piece, vector_piece
from dpsco_bench.fused.pieces import largest_of
from dpsco_bench.rng.counters import LAPLACE, ORDER

with suppress(ImportError):  # then the listings run
    from dpsco_bench.rng.kernels import _laplace_row, _new_row, _noisy_minimum


@vector_piece
def ordered(value):
    """Map to an integer in the order of the numbers; `number` inverts it: negative ones are turned over."""
    bits = np.float64(value).view(np.int64)
    return np.int64(bits ^ np.int64((bits >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF)))


@vector_piece
def number(bits):
    """Invert `ordered`."""
    return np.int64(bits ^ np.int64((bits >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF))).view(np.float64)


@exact_piece
def add_noise(scores, scale, noise, step, row):
    """Add ``scale`` times the noise of a step and row to ``scores``, in place; returns the least of them.

    It is found by integers, since LLVM vectorises no least number.
    """
    found = ordered(np.inf)
    for i in range(scores.size):
        score = scores[i] + scale * np.float64(noise[step, row, i])
        scores[i] = score
        found = min(found, ordered(score))
    return number(found)


@vector_piece
def first_of(values, found):
    """Index of the first of some numbers that is equal to ``found``: by all of them, since a search ends unforeseen."""
    last = values.size - 1
    place = last
    for i in range(values.size):
        place = min(place, i if values[i] == found else last)
    return place


@exact_piece
def vertex_work(count, lazy):
    """Allocate the arrays of `noisy_vertex` once for many steps: marks with their number, and a row of noise."""
    kept = count if lazy[0] >= 0.0 else 0
    noise, words = _new_row(kept)
    return np.zeros(kept + 1, np.int64), noise, words


@exact_piece
def noisy_vertex(scores, estimate, radius, noise, step, r, first, scale, lazy, work):
    """Index of the vertex ``v = +-radius e_j`` of least noisy score ``<v, estimate>``, of equal ones the first.

    Parameters
    ----------
    scores : array (2d,), overwritten
    noise : array (k, rows, 2d), or ``(1, 1, 2d)`` of zeros; not looked at where the answer is drawn here
    step, r, first : int, of the step within the tile, of the replicate, and of the tile's first replicate
    scale : float, of the noise
    lazy : tuple
        Range of the scores in noise scales up to which few noises are drawn (`samplers.draws`), or -1 for all
        of them always; the number of the tile's first step, of the run's first replicate, and the stream's key.
    work : tuple, from `vertex_work`
    """
    for j in range(estimate.size):
        scores[2 * j] = radius * estimate[j]
        scores[2 * j + 1] = -scores[2 * j]
    if lazy[0] < 0.0:
        drawn = 1 if noise.shape[0] > step else 0
        row = r - first if noise.shape[1] > r - first else 0
        return first_of(scores, add_noise(scores, scale, noise, step * drawn, row))
    largest = largest_of(estimate) * radius
    return drawn_vertex(scores, largest, step + lazy[1], r + lazy[2], scale, lazy[0], lazy[3:], work)


@exact_piece
def drawn_vertex(scores, largest, step, replicate, scale, threshold, key, work):
    """Find a vertex as `noisy_vertex` does, and draw noise here: as much as it takes if scores are close together."""
    seen, noise, words = work
    if 2.0 * largest <= scale * threshold:
        seen[scores.size] += 1
        return _noisy_minimum(
            scores, seen, seen[scores.size], -largest, scale, step, replicate, (ORDER, key[0], key[1])
        )
    _laplace_row(noise, words, step, replicate, (LAPLACE, key[0], key[1]))
    return first_of(scores, add_noise(scores, scale, noise.reshape(1, 1, -1), 0, 0))
