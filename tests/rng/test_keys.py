import hashlib

import numpy as np
import pytest

from dpsco_bench.rng.streams import stream_key


def test_key_is_what_its_definition_says():
    digest = hashlib.sha256(b"\x03" + bytes(7) + b"run" + b"noise/gradient").digest()
    spawn_key = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4)]
    expected = np.random.SeedSequence(7, spawn_key=spawn_key).generate_state(2)
    assert stream_key(7, "run", "noise/gradient") == tuple(expected.tolist())


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ((0, "", ""), (0x15976BE4, 0xCEAE6269)),
        ((1, '{"data":"ridge_logistic","n":64}', "data/0/features"), (0xE5A83448, 0xA9CDD62A)),
        ((2**128 - 1, "é", "noise/increment"), (0xCECF7F79, 0x3162A3D1)),
    ],
)
def test_keys_are_frozen(arguments, key):
    assert stream_key(*arguments) == key


def test_distinct_pairs_and_seeds_have_distinct_keys():
    keys = [stream_key(*a) for a in [(0, "ab", "c"), (0, "a", "bc"), (0, "abc", ""), (0, "", "abc"), (1, "ab", "c")]]
    assert len(set(keys)) == len(keys)
