"""Truncated normals and exponentials, the cone measure and the radius, against their laws."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr
from scipy.stats import beta, kstest, truncnorm

from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.samplers import truncated

from ..conftest import in_plane

ROWS = 200_000
LEAST_P = 1e-3


def test_check_vectors_of_truncated_normals(draws, score):
    """Also of a far quantile by its logarithm."""
    x = truncated.truncated_normal(draws(ROWS).uniform("u", 0, 1)[:, 0], 3.0, 0.5, 1.0)
    assert score(x, 0.887196427794) < 3
    level = -np.geomspace(1.0, 1e6, 400)
    np.testing.assert_allclose(log_ndtr(truncated.quantile_of_log(level)), level, rtol=4e-15)


@pytest.mark.parametrize(("mean", "sd", "high"), [(0.0, 1.0, 2.0), (3.0, 0.5, 1.0), (-3.0, 0.5, 1.0), (0.2, 0.01, 1.0)])
def test_the_normal_law(draws, mean, sd, high):
    x = truncated.truncated_normal(draws(ROWS).uniform("u", 0, 1)[:, 0], mean, sd, high)
    law = truncnorm((-high - mean) / sd, (high - mean) / sd, loc=mean, scale=sd)
    assert kstest(x, law.cdf).pvalue > LEAST_P
    assert kstest(x, lambda t: law.cdf(t + 0.04 * law.std())).pvalue < LEAST_P  # the test has teeth


def below_by_roots(u, away, length):
    """How far a quantile lies below the end of its tail, by the scaled complementary error function and bisection."""

    def fall(x):
        return x * (away + 0.5 * x) - np.log(erfcx((away + x) / np.sqrt(2)) / erfcx(away / np.sqrt(2)))

    wanted = -np.log(u + np.exp(-fall(length)) * (1.0 - u))
    return brentq(lambda x: fall(x) - wanted, 0.0, 2.0 * length, xtol=1e-18, rtol=4 * np.finfo(float).eps)


@pytest.mark.parametrize("length", [1e-4, 0.03, 1.0, 20.0])
@pytest.mark.parametrize("away", [20.0, 49.9, 50.1, 70.0, 200.0, 500.0, 999.0, 1001.0, 1e5])
def test_far_quantiles_are_those_of_another_method(away, length):
    u = np.concatenate([np.linspace(0.01, 0.99, 25), [1e-14, 1e-6, 1 - 1e-6]])
    high = 0.5 * length
    found = high - truncated.truncated_normal(u, high + away, 1.0, high)
    expected = [below_by_roots(one, away, length) for one in u]
    rounding = 1e-15 * away / length if away < truncated.FAR else 1e-15 / min(1.0, away * length)
    np.testing.assert_allclose(found / length, np.array(expected) / length, rtol=0, atol=1e-13 + rounding)


@pytest.mark.parametrize("slope", [0.0, 1e-12, 2.0, -7.0, 300.0])
def test_the_exponential_law(draws, slope):
    x = truncated.truncated_exponential(draws(ROWS).uniform("u", 0, 1)[:, 0], slope, 1.5)

    def below(t):
        if abs(slope) < 1e-9:
            return (t + 1.5) / 3.0
        at, low, high = (np.exp(slope * t - abs(1.5 * slope)) for t in (t, -1.5, 1.5))
        return (at - low) / (high - low)

    assert kstest(x, below).pvalue > LEAST_P


@pytest.mark.parametrize("p", [2.0, 4.0])
def test_gaussians_on_a_ball(draws, p):
    mean, sd = np.array([0.3, -0.2]), 0.6
    x, capped = truncated.gaussian_on_ball(draws(ROWS), "g", 0, np.tile(mean, (ROWS, 1)), sd, p, 1.0, np.arange(ROWS))
    assert not capped.size and np.all(np.linalg.norm(x, ord=p, axis=1) <= 1)
    in_plane(x, lambda first, second: -((first - mean[0]) ** 2 + (second - mean[1]) ** 2) / (2 * sd**2), p)


def test_a_draw_that_gives_up_says_so_and_stays_in_the_ball(draws):
    x, capped = truncated.gaussian_on_ball(draws(8), "g", 0, np.full((8, 2), 50.0), 0.1, 2.0, 1.0, np.arange(8))
    assert len(capped) == 8
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0)


@pytest.mark.parametrize(("p", "d"), [(1.0, 3), (1.5, 4), (2.0, 5), (4.0, 3)])
def test_coordinates_have_the_law_of_the_cone_measure(draws, score, p, d):
    """``|u_1|^p`` is Beta(1/p, (d - 1)/p), with mean 1/d (check vector: p = 1.5, d = 4)."""
    u = truncated.cone_lp(draws(ROWS), "cone", 0, p, d)
    np.testing.assert_allclose(np.linalg.norm(u, ord=p, axis=1), 1.0, rtol=1e-12)
    assert score(u[:, 0], 0.0) < 4 and score(u[:, 0] * u[:, 1], 0.0) < 4
    power = np.abs(u[:, 0]) ** p
    assert score(power, 1.0 / d) < 4
    assert kstest(power, beta(1.0 / p, (d - 1.0) / p).cdf).pvalue > 1e-3
    assert kstest(power, beta(1.1 / p, (d - 1.0) / p).cdf).pvalue < 1e-3


def test_the_largest_entry_of_a_cube_point_is_anyone(draws, score):
    u = truncated.cone_lp(draws(ROWS), "cone", 0, np.inf, 4)
    np.testing.assert_array_equal(np.abs(u).max(axis=1), 1.0)
    assert score(u[:, 0], 0.0) < 4 and score(u[:, 0] * u[:, 1], 0.0) < 4
    counts = np.bincount(np.argmax(np.abs(u), axis=1), minlength=4)
    assert np.abs(counts - ROWS / 4).max() < 5 * np.sqrt(ROWS * 3 / 16)
    others = np.sort(np.abs(u), axis=1)[:, :3].ravel()
    assert kstest(others, "uniform").pvalue > 1e-3


LAWS = [
    (3, 1.0, 3.0, 1.0),
    (1, 2.0, 0.0, 1.0),
    (1, 0.0, 0.0, 2.0),
    (1, 0.0, 5.0, 1.0),
    (32, 500.0, 30.0, 1.0),
    (32, 5.0, 3.0, 1.0),
    (1024, 1e6, 1.0, 1.0),
    (54, 3.0, 27.0, 1.0),
]


@pytest.mark.parametrize("law", LAWS)
def test_the_radius_has_the_law_of_the_quadrature_below_its_envelope(law, draws):
    envelope = truncated.TangentEnvelope(*law)
    touch, *_, start, end, _ = envelope._pieces
    assert start[0] == 0 and end[-1] == law[3]
    np.testing.assert_array_equal(start[1:], end[:-1])
    for part in (0.001, 0.2, 0.5, 0.9, 1.0):
        rho = start + part * (end - start)
        tangent = envelope.log_density(touch, envelope.B) + envelope.slope(touch) * (rho - touch)
        with np.errstate(divide="ignore"):
            density = envelope.log_density(rho, envelope.B)
        assert np.all(tangent >= density - 1e-9 * (1 + np.abs(tangent)))
    rho = truncated.sample_radius(draws(200_000), *law)
    assert np.all((rho > 0) & (rho <= law[3]))
    known = RadialLaw(*law)
    mean = known.mean()
    sd = np.sqrt(known.second_moment() - mean**2)
    grid = np.unique(np.clip(mean + sd * np.linspace(-9, 9, 400), 0, law[3]))
    below = [1.0 - known.tail(t - mean) for t in grid]
    assert kstest(rho, lambda t: np.interp(t, grid, below, 0.0, 1.0)).pvalue > 1e-3


@pytest.mark.parametrize("law", LAWS)
def test_as_much_is_accepted_as_the_integrals_say(law):
    envelope, runs = truncated.TangentEnvelope(*law), 200_000
    touch, *_, start, end, _ = envelope._pieces
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = 0.5 * (end - start)[:, None]
    rho = np.maximum(0.5 * (start + end)[:, None] + half * nodes, 1e-300)
    tangent = envelope.log_density(touch, envelope.B)[:, None] + envelope.slope(touch)[:, None] * (rho - touch[:, None])
    top = tangent.max()
    both = envelope.log_density(rho, envelope.B), tangent
    density, above = (np.sum(half * weights * np.exp(logs - top)) for logs in both)
    accepted = envelope.propose(np.random.default_rng(11).random((runs, 3)))[1].mean()
    share = density / above
    assert abs(accepted - share) <= 5 * np.sqrt(share * max(1 - share, 1 / runs) / runs)
