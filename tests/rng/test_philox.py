import numpy as np
import pytest

from dpsco_bench.rng.counters import philox4x32

ONES = 0xFFFFFFFF

# Known answers of Random123 (kat_vectors, philox4x32 with 10 rounds).
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES, ONES, ONES, ONES), (ONES, ONES), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN_ANSWERS)
def test_known_answers(counter, key, words):
    result = philox4x32(counter, key)
    assert tuple(int(word) for word in result) == words
    assert all(word.dtype == np.uint32 for word in result)
