"""The law of generalised Gaussian noise: radius, direction, moments; and which numbers it is made of."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gamma

from dpsco_bench.privacy.mechanism import generalised_gaussian_mean
from dpsco_bench.rng.streams import Stream, stream_key

STREAM = Stream(stream_key(3, "tests", "generalised gaussian"))
LAWS = [(2.0, 5), (2.4, 2), (3.0, 6), (7.155, 3), (60.0, 4), (500.0, 2), (3.0, 33)]


def draws(r, d, count=40_000, stream=STREAM):
    return stream.generalised_gaussian(0, 1, 0, count, d, r)[0].astype(np.float64)


def norm(z, r):
    largest = np.abs(z).max(axis=-1, keepdims=True)
    return (largest * (np.abs(z / largest) ** r).sum(axis=-1, keepdims=True) ** (1 / r))[..., 0]


def moment(k, r, d):
    """E|z_1|^k (chapter bassily2021, G2)."""
    radius = 2 ** (k / 2) * gamma((d + k) / 2) / gamma(d / 2)
    return radius * gamma((k + 1) / r) * gamma(d / r) / (gamma(1 / r) * gamma((d + k) / r))


@pytest.mark.parametrize(("r", "d"), LAWS)
def test_radius_and_direction(r, d):
    """``||z||_r ~ chi_d``; ``|z_1|^r/||z||_r^r ~ Beta(1/r, (d-1)/r)``; independent; signs fair and independent."""
    z = draws(r, d)
    radius = norm(z, r)
    assert stats.kstest(radius, stats.chi(d).cdf).pvalue > 1e-3
    share = np.abs(z[:, 0] / radius)
    # Much of the law of |z_1|^r lies where |z_1| rounds to the norm: look below that, and above where v^r is zero.
    v = np.linspace(0.3 if r > 100 else 0.0, 1.0 - 1e-5, 4001)
    distance = np.searchsorted(np.sort(share), v) / len(z) - stats.beta(1 / r, (d - 1) / r).cdf(v**r)
    assert np.abs(distance).max() < 1.95 / math.sqrt(len(z))
    assert abs(np.corrcoef(radius, share)[0, 1]) < 5 / math.sqrt(len(z))
    signs = (z > 0) @ (1 << np.arange(min(d, 6))) if d <= 6 else (z[:, :6] > 0) @ (1 << np.arange(6))
    assert stats.chisquare(np.bincount(signs, minlength=1 << min(d, 6))).pvalue > 1e-3


def test_moments_of_the_chapters():
    """Check vectors: bassily2021 section 10 (r = 10, d = 3) and su2023 section 10 (r = 3, d = 6, sigma = 1.3)."""
    assert [moment(k, 10.0, 3) for k in (1, 2, 4)] == pytest.approx([1.0385517304, 1.5922222527, 6.4406743063])
    assert 1.69 * moment(2, 3.0, 6) == pytest.approx(2.51571, rel=2e-6)
    z, count = np.abs(draws(10.0, 3, 200_000)), 200_000
    for k in (1, 2, 4):
        assert abs(np.mean(z[:, 0] ** k) - moment(k, 10.0, 3)) < 4 * np.std(z[:, 0] ** k) / math.sqrt(count)
    squared = (1.3 * norm(draws(3.0, 6, count), 3.0)) ** 2
    for k, value in ((1, 10.14), (2, 137.093)):
        assert abs(np.mean(squared**k) - value) < 4 * np.std(squared**k) / math.sqrt(count)


@pytest.mark.parametrize("draw", ["vector", "mean"])
def test_steps_and_replicates_may_be_split(draw):
    def drawn(*where):
        if draw == "vector":
            return STREAM.generalised_gaussian(*where, 5, 3.0)
        return generalised_gaussian_mean(STREAM, *where, 5, 3.0, 7)

    whole = drawn(4, 6, 2, 9)
    np.testing.assert_array_equal(whole[2:5], drawn(6, 3, 2, 9))
    np.testing.assert_array_equal(whole[:, 3:4], drawn(4, 6, 5, 1))


def test_large_dimensions_and_exponents_stay_finite():
    for r, d in ((1000.0, 1), (1000.0, 2), (20.0, 5000)):
        z = draws(r, d, 2000)
        assert np.isfinite(z).all()
        assert np.mean(norm(z, r) ** 2) == pytest.approx(d, rel=0.15)
