"""Keys of random streams: a root seed and two names give the 64-bit key of a counter-based generator."""

from __future__ import annotations

import hashlib
import operator

import numpy as np

from dpsco_bench.errors import InputError

_ROOT_LIMIT = 1 << 128


def stream_key(root_seed: int, what: str, stream: str) -> tuple[int, int]:
    """Key of the stream ``stream`` of the object ``what`` under a root seed.

    The pair is encoded as the length of ``what`` in bytes (8 bytes, little endian), ``what`` and ``stream``, both in
    UTF-8: distinct pairs have distinct encodings. The eight little-endian 32-bit words of its SHA-256 digest are the
    spawn key of ``numpy.random.SeedSequence(root_seed)``, whose first two words of state are the key. Every recorded
    number depends on this function: it is frozen. Raises InputError if ``root_seed`` is outside its range. Returns
    two words in [0, 2^32).

    Parameters
    ----------
    root_seed : int, in [0, 2^128), the range over which ``SeedSequence`` keeps seed and spawn key apart
    stream : str, which of its streams, e.g. ``"noise/gradient"``.
    """
    seed = operator.index(root_seed)
    if not 0 <= seed < _ROOT_LIMIT:
        raise InputError("seed", root_seed, "an integer in [0, 2^128)")
    name = what.encode()
    digest = hashlib.sha256(len(name).to_bytes(8, "little") + name + stream.encode()).digest()
    spawn_key = tuple(int(word) for word in np.frombuffer(digest, dtype="<u4"))
    first, second = np.random.SeedSequence(seed, spawn_key=spawn_key).generate_state(2)
    return int(first), int(second)
