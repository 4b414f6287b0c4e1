"""Streams of random numbers: keys, counters, laws, frozen values; each transform of their words in double precision."""

import hashlib
import math

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammainc, gammaincc

from dpsco_bench.errors import InputError
from dpsco_bench.rng import reference, transforms
from dpsco_bench.rng.counters import INTEGER, LAPLACE, NORMAL, UNIFORM, Box, philox4x32
from dpsco_bench.rng.streams import Stream, stream_key
from dpsco_bench.rng.transforms import magnitude, shape_table

STREAM = Stream(stream_key(0, "tests", "noise/gradient"))
OTHER = Stream(stream_key(0, "tests", "noise/increment"))
DRAWS = ["normal", "laplace", "uniform", "integers"]
SIZE = 1 << 20


def draw(stream, name, *box):
    return stream.integers(*box, high=1000) if name == "integers" else getattr(stream, name)(*box)


def test_values_are_frozen():
    for kind in (NORMAL, UNIFORM, LAPLACE, INTEGER):
        words = reference.words(STREAM.key, Box(5, 3, 8, 2, 11), kind)
        assert words[2, 1, 9] == philox4x32((9 // 4, 5 + 2, 8 + 1, kind), STREAM.key)[9 % 4]
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


MOMENTS = {"normal": [(0, 1), (1, 2), (0, 15), (3, 96)], "laplace": [(0, 2), (2, 20)]}
"""Mean and variance of each power, from the first on."""


def test_moments_distributions_and_tails():
    for name, moments in MOMENTS.items():
        x = draw(STREAM, name, 0, 4, 0, 256, SIZE // 1024).ravel().astype(np.float64)
        for power, (mean, variance) in enumerate(moments, start=1):
            assert abs(np.mean(x**power) - mean) < 4 * np.sqrt(variance / SIZE)
        assert stats.kstest(x, getattr(stats, name.replace("normal", "norm")).cdf).pvalue > 1e-3
    levels = np.array([2.0, 5.0, 8.0, 10.0])
    expected = SIZE * np.exp(-levels)
    counts = np.array([np.count_nonzero(np.abs(x) > level) for level in levels])
    assert np.all(np.abs(counts - expected) < 4 * np.sqrt(expected))


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
    keys = [stream_key(*a) for a in [(0, "ab", "c"), (0, "a", "bc"), (0, "abc", ""), (0, "", "abc"), (1, "ab", "c")]]
    assert len(set(keys)) == len(keys)


def test_keys_are_frozen():
    assert stream_key(0, "", "") == (0x15976BE4, 0xCEAE6269)
    assert stream_key(1, '{"data":"ridge_logistic","n":64}', "data/0/features") == (0xE5A83448, 0xA9CDD62A)
    assert stream_key(2**128 - 1, "é", "noise/increment") == (0xCECF7F79, 0x3162A3D1)


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
    result = philox4x32(counter, key)
    assert tuple(int(word) for word in result) == words
    assert all(word.dtype == np.uint32 for word in result)


EDGES = np.array([0, 1, 2, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 2, 2**32 - 1], np.uint32)


def some_words(count, seed=1):
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


def exact_normals(w, v):
    """Box-Muller in float64 from the uniform number that the float32 code sees."""
    u = w.astype(np.float32) * np.float32(2.0**-32) + np.float32(2.0**-33)
    radius = np.sqrt(-2 * np.log(u.astype(np.float64)))
    fraction = ((v << np.uint32(2)) | np.uint32(2)).view(np.int32) * 2.0**-32
    angle = (np.pi / 2) * ((v >> np.uint32(30)) + fraction)
    return radius * np.cos(angle), radius * np.sin(angle)


def test_minus_log_is_within_one_unit_in_the_last_place():
    near_one = np.float32(1) - np.arange(1 << 16, dtype=np.float32) * np.float32(2.0**-24)
    small = (some_words(1 << 20).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-32)
    tiny = np.ldexp(np.float32(1), -np.arange(34)).astype(np.float32)
    u = np.concatenate([near_one, small, tiny])
    exact = np.abs(np.log(u.astype(np.float64)))
    assert np.all(np.abs(transforms.minus_log(u) - exact) < np.spacing(exact.astype(np.float32)))


def test_normals_are_within_five_units_in_the_last_place():
    w, v = some_words(1 << 20, seed=2), some_words(1 << 20, seed=3)
    w[: EDGES.size], v[-EDGES.size :] = EDGES, EDGES
    exact = exact_normals(w, v)
    for value, exactly in zip(transforms.box_muller(w, v), exact, strict=True):
        # cos and sin of the float64 angle lose a few 1e-16 near their zeros: allow for that absolutely
        error = np.abs(value - exactly) - 1e-14
        assert np.all(error <= 5 * np.spacing(np.abs(exactly).astype(np.float32)))
    quarters = np.array([0, 1, 2, 3], np.uint32) << np.uint32(30)
    cosine, sine = transforms.cos_sin(quarters)
    np.testing.assert_allclose(cosine, [1, 0, -1, 0], atol=1e-8)
    np.testing.assert_allclose(sine, [0, 1, 0, -1], atol=1e-8)


def test_extreme_words_give_finite_variates():
    w, v = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    normals = np.stack(transforms.box_muller(w, v))
    assert np.isfinite(normals).all() and np.abs(normals).max() < 6.77
    assert np.abs(transforms.laplaces(EDGES)).max() == pytest.approx(32 * np.log(2))
    w = np.sort(np.concatenate([some_words(1 << 18), EDGES]))
    x = transforms.laplaces(w).astype(np.float64)
    assert np.all(np.diff(x) >= 0)
    distribution = np.where(x < 0, np.exp(x) / 2, 1 - np.exp(-x) / 2)
    np.testing.assert_allclose(distribution, (w + 0.5) / 2**32, atol=5e-8)


def test_uniforms_are_in_the_open_interval_and_have_53_bits():
    ones = 2**32 - 1
    words = np.array([[0, 0, 2**31, ones], [0, 2**11, 0, ones]], np.uint32)
    expected = [[2.0**-54, 2.0**-53, 0.5, 1 - 2.0**-53]]
    np.testing.assert_array_equal(transforms.uniforms(words), expected)
    w, v = some_words(1 << 10, seed=4), some_words(1 << 10, seed=5)
    exact = [(int(a) << 32 | int(b)) >> 11 for a, b in zip(w, v, strict=True)]
    np.testing.assert_array_equal(transforms.uniforms(np.stack([w, v]))[0] * 2.0**53, exact)


@pytest.mark.parametrize("high", [1, 2, 7, 581012, 2**31 + 11, 2**32, 2**53 + 1, 2**63 - 1])
def test_integers_are_the_upper_half_of_an_exact_product(high):
    w, v = np.concatenate([EDGES, some_words(500, seed=6)]), np.concatenate([EDGES[::-1], some_words(500, seed=7)])
    exact = [((int(a) << 32 | int(b)) * high) >> 64 for a, b in zip(w, v, strict=True)]
    result = transforms.integers(np.stack([w, v]), high)[0]
    assert result.dtype == np.int64
    assert result.tolist() == exact
    assert result.min() >= 0 and result.max() < high


EXPONENTS = [1.0, 2.0, 2.001, 3.0, 7.155, 20.0, 101.0, 1000.0]


@pytest.mark.parametrize("r", EXPONENTS)
def test_shapes_are_the_quantiles_of_the_rounded_uniform_number(r):
    """Words of both signs: dense near both ends of the range of probabilities, and everywhere between."""
    half = np.concatenate([2.0 ** np.linspace(0, 31, 4001)[:-1], 2.0**31 - 2.0 ** np.linspace(0, 30, 4001)])
    half = np.minimum(half, 2**31 - 1).astype(np.uint32)
    w = transforms.shapes(np.concatenate([half, ~half]), shape_table(r))
    exceeding = (np.tile(half, 2).astype(np.float32) * np.float32(2.0**-31) + np.float32(2.0**-32)).astype(np.float64)
    inner = exceeding < 1.0
    np.testing.assert_allclose(np.abs(w[inner]), magnitude(exceeding[inner], r), rtol=2.5e-7, atol=3e-8)
    assert (np.abs(w[~inner]) > 0).all() and (np.abs(w[~inner]) < 1e-7).all()
    np.testing.assert_array_equal(np.sign(w), np.repeat([-1, 1], half.size))


@pytest.mark.parametrize("r", EXPONENTS)
def test_magnitudes_have_the_stated_law(r):
    """``|w|^r ~ Gamma(1/r)``: survival or distribution function, whichever is small."""
    exceeding = np.concatenate([np.geomspace(2.0**-32, 0.5, 60), 1.0 - np.geomspace(1e-7, 0.5, 60)])
    w = magnitude(exceeding, r)
    tail = gammaincc(1 / r, w**r)
    body = np.where(w**r > 1e-200, gammainc(1 / r, w**r), w / math.gamma(1 + 1 / r))
    np.testing.assert_allclose(tail[:60], exceeding[:60], rtol=1e-9)
    np.testing.assert_allclose(body[60:], 1.0 - exceeding[60:], rtol=1e-8)


def test_powers_and_exponentials():
    y = np.linspace(-126, 100, 20001, dtype=np.float32)
    np.testing.assert_allclose(transforms.exp2(y), np.exp2(y.astype(np.float64)), rtol=2.5e-7)
    w = np.linspace(0.05, 2.0, 2001, dtype=np.float32)
    for r in (2.0, 3.0, 20.0):
        np.testing.assert_allclose(transforms.powers(-w, np.float32(r)), w.astype(float) ** r, rtol=3e-7 * (3 + 5 * r))
    assert transforms.powers(np.float32([1e-7]), np.float32(100))[0] == pytest.approx(2.0**-126)
