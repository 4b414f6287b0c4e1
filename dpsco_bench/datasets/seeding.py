"""Random words for choices about data (which rows, which synthetic records), keyed by what is computed.

Only raw words of PCG64 seeded by ``SeedSequence`` are used: NumPy guarantees both streams across versions,
but not those of ``Generator`` methods such as ``permutation``. The derivation is frozen: a change alters
recorded results.
"""

from __future__ import annotations

import hashlib

import numpy as np

from dpsco_bench.errors import InputError


def raw_words(seed: int, what: str, count: int) -> np.ndarray:
    """Random uint64 words for a purpose such as ``covertype/rows``; the first k of them do not depend on `count`.

    Raises InputError for a seed that is not an integer >= 0.
    """
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise InputError("seed", seed, "an integer >= 0")
    key = np.frombuffer(hashlib.sha256(what.encode()).digest(), dtype="<u4")
    sequence = np.random.SeedSequence(int(seed), spawn_key=tuple(int(word) for word in key))
    return np.random.PCG64(sequence).random_raw(count)


def permutation(seed: int, what: str, size: int) -> np.ndarray:
    """Random permutation of ``0 .. size-1`` as int64: the order of `size` random words, ties by position."""
    return np.argsort(raw_words(seed, what, size), kind="stable")


def uniforms(seed: int, what: str, rows: int, columns: int) -> np.ndarray:
    """Uniform numbers in [0, 1) with 53 bits, shape (rows, columns); fewer rows are a prefix of more."""
    words = raw_words(seed, what, rows * columns) >> np.uint64(11)
    return words.reshape(rows, columns) * 2.0**-53
