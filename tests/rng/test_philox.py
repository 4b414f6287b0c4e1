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


def test_arrays_of_counters_give_the_words_of_each_counter():
    counter = np.arange(6).reshape(2, 3), np.array([[5], [2**32 - 1]]), 7, 3
    words = philox4x32(counter, (11, 13))
    for row in range(2):
        for column in range(3):
            single = philox4x32((counter[0][row, column], counter[1][row, 0], 7, 3), (11, 13))
            assert [word[row, column] for word in words] == list(single)


def test_every_word_of_counter_and_key_matters():
    base = philox4x32((1, 2, 3, 0), (4, 5))
    others = [((9, 2, 3, 0), (4, 5)), ((1, 9, 3, 0), (4, 5)), ((1, 2, 9, 0), (4, 5)), ((1, 2, 3, 1), (4, 5))]
    others += [((1, 2, 3, 0), (9, 5)), ((1, 2, 3, 0), (4, 9))]
    for counter, key in others:
        changed = sum(int(a ^ b).bit_count() for a, b in zip(base, philox4x32(counter, key), strict=True))
        assert 32 < changed < 96
