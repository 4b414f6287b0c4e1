"""Streams of random numbers: keys, counters, laws, and values that are frozen."""

import hashlib

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpsco_bench.errors import InputError
from dpsco_bench.rng import kernels
from dpsco_bench.rng.streams import Stream, stream_key

STREAM = Stream(stream_key(0, "tests", "noise/gradient"))
OTHER = Stream(stream_key(0, "tests", "noise/increment"))
DRAWS = ["normal", "laplace", "uniform", "integers"]
SIZE = 1 << 20


def draw(stream, name, *box):
    return stream.integers(*box, high=1000) if name == "integers" else getattr(stream, name)(*box)


def test_values_are_frozen():
    stream = Stream((1, 2))
    frozen = {
        "normal": ["-0x1.ad548a0000000p-3", "0x1.e1fe100000000p+0"],
        "laplace": ["0x1.e13c0a0000000p+0", "-0x1.42787a0000000p-4"],
        "uniform": ["0x1.16ef2ea3f780ep-2", "0x1.3be74e408b855p-1"],
    }
    drawn = {name: [v.hex() for v in getattr(stream, name)(3, 1, 4, 1, 2).ravel().tolist()] for name in frozen}
    assert drawn == frozen
    assert stream.integers(3, 1, 4, 1, 5, high=581012).ravel().tolist() == [450385, 352946, 6559, 117270, 469475]


@settings(deadline=None)  # the first call compiles
@given(data=st.data())
@pytest.mark.parametrize("name", DRAWS)
def test_values_do_not_depend_on_chunks(name, data):
    steps, replicates, dim = (data.draw(st.integers(1, top)) for top in (4, 6, 40))
    whole = draw(STREAM, name, 2, steps, 7, replicates, dim)
    t, r = data.draw(st.integers(0, steps - 1)), data.draw(st.integers(0, replicates - 1))
    part_dim = data.draw(st.integers(1, dim))
    part = draw(STREAM, name, 2 + t, steps - t, 7 + r, replicates - r, part_dim)
    np.testing.assert_array_equal(part, whole[t:, r:, :part_dim])


@pytest.mark.parametrize(("name", "variances"), [("normal", (1, 2, 15, 96)), ("laplace", (2, 20, 720, 39_744))])
def test_moments_distribution_and_tails(name, variances):
    law, x = getattr(stats, "norm" if name == "normal" else name), draw(STREAM, name, 0, 4, 0, 256, SIZE // 1024)
    x = x.ravel().astype(np.float64)
    for power, variance in enumerate(variances, 1):
        assert abs(np.mean(x**power) - law.moment(power)) < 4 * np.sqrt(variance / SIZE)
    assert stats.kstest(x, law.cdf).pvalue > 1e-3
    for level in (2.0, 3.0, 4.0) if name == "normal" else (2.0, 5.0, 8.0, 10.0):
        expected = 2 * SIZE * law.sf(level)
        assert abs(np.count_nonzero(np.abs(x) > level) - expected) < 4 * np.sqrt(expected)


def correlation(x, y):
    return abs(np.corrcoef(x.ravel(), y.ravel())[0, 1])


@pytest.mark.parametrize("name", ["normal", "laplace", "uniform"])
def test_streams_steps_replicates_and_coordinates_are_uncorrelated(name):
    x = draw(STREAM, name, 0, 8, 0, 128, 256).astype(np.float64)
    bound = 4.5 / np.sqrt(x.size / 2)
    for f in (np.asarray, np.square, np.abs):
        z = f(x)
        assert correlation(z, f(draw(OTHER, name, 0, 8, 0, 128, 256))) < bound
        assert correlation(z[:-1], z[1:]) < bound
        assert correlation(z[:, :-1], z[:, 1:]) < bound
        for lag in (1, 2, 3, 4):
            assert correlation(z[..., :-lag], z[..., lag:]) < bound


def test_pairs_of_box_muller_are_independent():
    """A chi-square test on quadrants and radii of the coordinates (4k, 4k + 1), which share two words."""
    z = STREAM.normal(0, 1, 0, 1024, 1024).reshape(-1, 2)
    cells = np.digitize(z, stats.norm.ppf(np.arange(1, 8) / 8))
    table = np.histogram2d(cells[:, 0], cells[:, 1], bins=[np.arange(9) - 0.5] * 2)[0]
    assert stats.chisquare(table.ravel()).pvalue > 1e-3


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ((2**32 - 1, 2, 0, 1, 1), r"first_step \+ steps = 4294967297: must be at most 2\^32"),
        ((0, 1, 2**32, 1, 1), r"first_replicate \+ replicates = 4294967297: must be at most 2\^32"),
        ((-1, 1, 0, 1, 1), "first_step = -1: must be an integer >= 0"),
        ((0, 1, 0, 1, -2), "dim = -2: must be an integer >= 0"),
        ((0, 0, 0, 1, 2**34 + 1), r"dim = 17179869185: must be at most 4 \* 2\^32"),
    ],
)
def test_addresses_beyond_the_counter_are_refused(box, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        STREAM.normal(*box)


def test_the_last_addresses_are_accepted():
    assert STREAM.normal(2**32 - 1, 1, 2**32 - 1, 1, 4).shape == (1, 1, 4)
    assert STREAM.uniform(0, 0, 0, 1, 2**33).size == 0


@pytest.mark.parametrize("name", DRAWS)
def test_other_namespaces_receive_the_same_values(name):
    values = draw(Stream(STREAM.key, array_api_strict), name, 0, 2, 0, 3, 5)
    assert type(values).__module__.startswith("array_api_strict")
    np.testing.assert_array_equal(np.from_dlpack(values), draw(STREAM, name, 0, 2, 0, 3, 5))


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


ONES = 0xFFFFFFFF
# Known answers of Random123 (kat_vectors, philox4x32 with 10 rounds).
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES, ONES, ONES, ONES), (ONES, ONES), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        *((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN_ANSWERS)
def test_known_answers(counter, key, words):
    assert kernels._philox(*counter, *key) == words
