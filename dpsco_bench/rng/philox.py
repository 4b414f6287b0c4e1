"""Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC 2011), in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

Words = tuple[Any, Any, Any, Any]

ROUNDS = 10
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def _round(counter: Words, k0: np.uint64, k1: np.uint64) -> Words:
    """Apply one round to words kept in 64-bit integers, so that a product of two words is exact."""
    c0, c1, c2, c3 = counter
    first, second = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
    high_first, high_second = first >> _HALF, second >> _HALF
    high_second ^= c1 ^ k0
    high_first ^= c3 ^ k1
    second &= _LOW
    first &= _LOW
    return high_second, second, high_first, first


def philox4x32(counter: Words, key: tuple[int, int]) -> Words:
    """Four random words of each counter.

    Parameters
    ----------
    counter : tuple of four integer arrays or integers, broadcast against each other; values in [0, 2^32)
    key : tuple of two int, in [0, 2^32)

    Returns
    -------
    tuple of four arrays of uint32
    """
    words: Words = tuple(np.asarray(word, dtype=np.uint64) for word in np.broadcast_arrays(*counter))  # type: ignore[assignment]
    for i in range(ROUNDS):
        k0, k1 = (np.uint64((k + i * weyl) % 2**32) for k, weyl in zip(key, _WEYL, strict=True))
        words = _round(words, k0, k1)
    w0, w1, w2, w3 = (word.astype(np.uint32) for word in words)
    return w0, w1, w2, w3
