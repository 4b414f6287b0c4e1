"""Report noisy max over the vertices of the l1 ball, for one replicate in a compiled loop."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from dpsco_bench.fused.compiled import exact_piece, finite_piece
from dpsco_bench.fused.powers import largest_of
from dpsco_bench.rng.counters import LAPLACE, ORDER

with suppress(ImportError):  # then the listings run
    from dpsco_bench.rng.order_kernels import _laplace_row, _new_row, _noisy_minimum


@finite_piece
def least(values):
    """The least of some finite numbers."""
    found = values[0]
    for i in range(values.size):
        found = min(found, values[i])
    return found


@exact_piece
def first_least(values):
    """Index of the least of some finite numbers, of equal ones the first."""
    found = least(values)
    i = 0
    while values[i] != found:
        i += 1
    return i


@exact_piece
def vertex_work(count, lazy):
    """What `noisy_vertex` writes to, made once for many steps: marks with their number, and room for a row of noise."""
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
        Range of the scores in noise scales up to which few noises are drawn (`samplers.noisy_minimum`), or -1 for all
        of them always; the number of the tile's first step, of the run's first replicate, and the stream's key.
    work : tuple, from `vertex_work`
    """
    for j in range(estimate.size):
        scores[2 * j] = radius * estimate[j]
        scores[2 * j + 1] = -scores[2 * j]
    if lazy[0] < 0.0:
        drawn = 1 if noise.shape[0] > step else 0
        row = r - first if noise.shape[1] > r - first else 0
        if scale != 0.0:
            for i in range(scores.size):
                scores[i] += scale * np.float64(noise[step * drawn, row, i])
        return first_least(scores)
    largest = largest_of(estimate) * radius
    return drawn_vertex(scores, largest, step + lazy[1], r + lazy[2], scale, lazy[0], lazy[3:], work)


@exact_piece
def drawn_vertex(scores, largest, step, replicate, scale, threshold, key, work):
    """As `noisy_vertex`, with noise drawn here: as much as it takes where the scores are close together."""
    seen, noise, words = work
    if 2.0 * largest <= scale * threshold:
        seen[scores.size] += 1
        return _noisy_minimum(
            scores, seen, seen[scores.size], -largest, scale, step, replicate, (ORDER, key[0], key[1])
        )
    _laplace_row(noise, words, step, replicate, (LAPLACE, key[0], key[1]))
    for i in range(scores.size):
        scores[i] += scale * np.float64(noise[i])
    return first_least(scores)
