"""Random words to numbers: each transform against its law in double precision."""

import math

import numpy as np
import pytest
from scipy.special import gammainc, gammaincc

from dpsco_bench.rng import kernels
from dpsco_bench.rng.shapes import magnitude, shape_table

from . import words as of

EDGES = np.array([0, 1, 2, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 2, 2**32 - 1], np.uint32)


def some_words(count, seed=1):
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


def units_in_the_last_place(value, exact):
    return np.abs(value.astype(np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32))


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
    assert units_in_the_last_place(of.minus_log(u), -np.log(u.astype(np.float64))).max() < 1


def test_normals_are_within_five_units_in_the_last_place():
    w, v = some_words(1 << 20, seed=2), some_words(1 << 20, seed=3)
    w[: EDGES.size], v[-EDGES.size :] = EDGES, EDGES
    exact = exact_normals(w, v)
    for value, reference in zip(of.normal_pairs(w, v), exact, strict=True):
        # cos and sin of the float64 angle lose a few 1e-16 near their zeros: allow for that absolutely
        error = np.abs(value - reference) - 1e-14
        assert np.all(error <= 5 * np.spacing(np.abs(reference).astype(np.float32)))


def test_cosine_and_sine_cover_the_circle():
    quarters = np.array([0, 1, 2, 3], np.uint32) << np.uint32(30)
    cosine, sine = of.cos_sin(quarters)
    np.testing.assert_allclose(cosine, [1, 0, -1, 0], atol=1e-8)
    np.testing.assert_allclose(sine, [0, 1, 0, -1], atol=1e-8)


def test_extreme_words_give_finite_variates():
    w, v = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    normals = of.normal_pairs(w, v)
    assert np.isfinite(normals).all()
    assert np.abs(normals).max() < 6.77
    laplaces = of.laplace(EDGES)
    assert np.isfinite(laplaces).all()
    assert np.abs(laplaces).max() == pytest.approx(32 * np.log(2))


def test_laplace_is_the_inverse_distribution_function():
    w = np.sort(np.concatenate([some_words(1 << 18), EDGES]))
    x = of.laplace(w).astype(np.float64)
    assert np.all(np.diff(x) >= 0)
    distribution = np.where(x < 0, np.exp(x) / 2, 1 - np.exp(-x) / 2)
    np.testing.assert_allclose(distribution, (w + 0.5) / 2**32, atol=5e-8)


def test_uniforms_are_in_the_open_interval():
    ones = 2**32 - 1
    words = np.array([[0, 0, 2**31, ones], [0, 2**11, 0, ones]], np.uint32)
    np.testing.assert_array_equal(of.uniform(*words), [2.0**-54, 2.0**-53, 0.5, 1 - 2.0**-53])


def test_uniforms_have_53_bits():
    w, v = some_words(1 << 10, seed=4), some_words(1 << 10, seed=5)
    exact = [(int(a) << 32 | int(b)) >> 11 for a, b in zip(w, v, strict=True)]
    np.testing.assert_array_equal(of.uniform(w, v) * 2.0**53, exact)


@pytest.mark.parametrize("high", [1, 2, 7, 581012, 2**31 + 11, 2**32, 2**53 + 1, 2**63 - 1])
def test_integers_are_the_upper_half_of_an_exact_product(high):
    w, v = np.concatenate([EDGES, some_words(500, seed=6)]), np.concatenate([EDGES[::-1], some_words(500, seed=7)])
    exact = [((int(a) << 32 | int(b)) * high) >> 64 for a, b in zip(w, v, strict=True)]
    result = of.integer(w, v, np.uint64(high))
    assert result.dtype == np.int64
    assert result.tolist() == exact
    assert result.min() >= 0 and result.max() < high


EXPONENTS = [1.0, 2.0, 2.001, 3.0, 7.155, 20.0, 101.0, 1000.0]


def words_over_the_range():
    """Words of both signs: dense near both ends of the range of probabilities, and everywhere between."""
    folded = np.concatenate([2.0 ** np.linspace(0, 31, 4001)[:-1], 2.0**31 - 2.0 ** np.linspace(0, 30, 4001)])
    words = np.minimum(folded, 2**31 - 1).astype(np.uint32)
    return np.concatenate([words, ~words])


@pytest.mark.parametrize("r", EXPONENTS)
def test_shapes_are_the_quantiles_of_the_rounded_uniform_number(r):
    words = words_over_the_range()
    w, scratch = np.empty((2, words.size), np.float32), np.empty(words.size, np.int32)
    kernels._fill_shapes(w[0], words, scratch, w[1], shape_table(r), words.size)
    w = w[0]
    folded = np.where(words >> 31, ~words, words)
    exceeding = (folded.astype(np.float32) * np.float32(2.0**-31) + np.float32(2.0**-32)).astype(np.float64)
    inner = exceeding < 1.0
    np.testing.assert_allclose(np.abs(w[inner]), magnitude(exceeding[inner], r), rtol=2.5e-7, atol=3e-8)
    assert (np.abs(w[~inner]) > 0).all() and (np.abs(w[~inner]) < 1e-7).all()
    np.testing.assert_array_equal(np.sign(w), np.where(words >> 31, 1, -1))


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
    np.testing.assert_allclose(of.exp2(y), np.exp2(y.astype(np.float64)), rtol=2.5e-7)
    w = np.linspace(0.05, 2.0, 2001, dtype=np.float32)
    for r in (2.0, 3.0, 20.0):
        np.testing.assert_allclose(of.power(-w, np.float32(r)), w.astype(float) ** r, rtol=3e-7 * (3 + 5 * r))
    assert of.power(np.float32(1e-7), np.float32(100)) == pytest.approx(2.0**-126)
