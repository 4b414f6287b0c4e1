"""The tabulated quantile function of the generalised Gaussian's shape, against its distribution function."""

import math

import numpy as np
import pytest
from scipy.special import gammainc, gammaincc

from dpsco_bench.rng import transforms
from dpsco_bench.rng.transforms import magnitude, shape_table

EXPONENTS = [1.0, 2.0, 2.001, 3.0, 7.155, 20.0, 101.0, 1000.0]


def words_over_the_range():
    """Words of both signs: dense near both ends of the range of probabilities, and everywhere between."""
    folded = np.concatenate([2.0 ** np.linspace(0, 31, 4001)[:-1], 2.0**31 - 2.0 ** np.linspace(0, 30, 4001)])
    words = np.minimum(folded, 2**31 - 1).astype(np.uint32)
    return np.concatenate([words, ~words])


@pytest.mark.parametrize("r", EXPONENTS)
def test_shapes_are_the_quantiles_of_the_rounded_uniform_number(r):
    words = words_over_the_range()
    w = transforms.shapes(words, shape_table(r))
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
    np.testing.assert_allclose(transforms.exp2(y), np.exp2(y.astype(np.float64)), rtol=2.5e-7)
    w = np.linspace(0.05, 2.0, 2001, dtype=np.float32)
    for r in (2.0, 3.0, 20.0):
        np.testing.assert_allclose(transforms.powers(-w, np.float32(r)), w.astype(float) ** r, rtol=3e-7 * (3 + 5 * r))
    assert transforms.powers(np.float32([1e-7]), np.float32(100))[0] == pytest.approx(2.0**-126)
