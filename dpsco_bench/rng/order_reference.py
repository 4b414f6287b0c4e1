"""The least of many scores after Laplace noise of which only the part is drawn that decides: the NumPy reference.

The noise of a row is K independent Laplace variates, here subtracted from its scores: the largest ones help most. So
draw the order statistics of the row's noise from the largest one down, each for a uniform index that has none yet, and
keep the least noisy score found. Once the lowest score of all, helped by the order statistic just drawn, would not beat
it, no score still without noise can: the answer has the law of drawing everything.

Order statistics come from Renyi's representation: the k-th largest of K uniform numbers is ``exp(-S_k)`` with
``S_k = S_(k-1) + E_k/(K - k + 1)`` for independent exponentials ``E_k``. The k-th attempt of a row takes block k of its
words: a uniform number from the first two and an index from the last two. An attempt whose index has its noise already
is dropped, both halves of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.rng import transforms
from dpsco_bench.rng.counters import ORDER
from dpsco_bench.rng.philox import philox4x32

Key = tuple[int, int]


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
    """Write the answers of the given rows into ``out``.

    Parameters
    ----------
    out : array (R,), receives the indices
    scores : array (R, K), row r belongs to replicate ``first_replicate + r``
    rows : array (M,), rows to answer, in rising order
    lowest : array (R,), least score of each row
    scale : float, of the noise, > 0
    step, first_replicate, key : int, int, tuple, address of the words
    """
    count, active = scores.shape[1], np.arange(len(rows))
    used = np.zeros((len(rows), count), dtype=bool)
    best, surprise = np.full(len(rows), np.inf), np.zeros(len(rows))
    left, attempt = np.full(len(rows), count), 0
    while active.size:
        words = np.stack(philox4x32((attempt, step, first_replicate + rows[active], ORDER), key))
        attempt += 1
        index = transforms.integers(words, count)[1]
        fresh = ~used[active, index]
        now, i = active[fresh], index[fresh]
        used[now, i] = True
        surprise[now] -= np.log(transforms.uniforms(words)[0][fresh]) / left[now]
        left[now] -= 1
        noise = scale * _laplace_quantile(surprise[now])
        value = scores[rows[now], i] - noise
        better = value < best[now]
        best[now[better]], out[rows[now[better]]] = value[better], i[better]
        done = (lowest[rows[now]] - noise >= best[now]) | (left[now] == 0)
        active = np.setdiff1d(active, now[done], assume_unique=True)


def _laplace_quantile(surprise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Laplace variate below which another lies with probability ``exp(-surprise)``."""
    above = -np.expm1(-surprise)
    return np.where(above <= 0.5, -np.log(2.0 * np.maximum(above, 1e-300)), np.log(2.0) - surprise)
