"""The analytic Gaussian accountant against integration, its inverses and limits; laws known up to a distance."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from dpsco_bench.privacy.accountants.gaussian import gdp_delta, gdp_epsilon, gdp_mu, total_delta, total_epsilon

mus = st.floats(-6.0, 3.0).map(lambda exponent: 10.0**exponent)
epsilons = st.floats(-3.0, 6.0).map(lambda exponent: 10.0**exponent)
deltas = st.floats(-100.0, -0.01).map(lambda exponent: 10.0**exponent)


def integrated_delta(mu, epsilon):
    """Integral of (upper density - e^epsilon lower density) where it is positive, from the definition."""
    start = epsilon / mu - mu / 2  # where the loss mu x + mu^2/2, x ~ N(0, 1), is epsilon

    def gain(x):
        return norm.pdf(x) * -math.expm1(epsilon - mu * x - mu * mu / 2)

    return quad(gain, start, max(start, 0.0) + 12.0, epsabs=0.0, epsrel=1e-11, limit=200)[0]


@pytest.mark.parametrize("mu", [1e-3, 0.02, 0.3, 1.0, 2.5, 8.0])
@pytest.mark.parametrize("tail", [0.0, 0.5, 2.0, 5.0, 9.0])
def test_delta_equals_the_integral_of_its_definition(mu, tail):
    epsilon = max(0.0, mu * (mu / 2 + tail))
    assert gdp_delta(mu, epsilon) == pytest.approx(integrated_delta(mu, epsilon), rel=1e-8)


@given(mus, epsilons)
def test_delta_falls_with_epsilon_and_grows_with_mu(mu, epsilon):
    here = gdp_delta(mu, epsilon)
    assert 0.0 <= here <= 1.0
    assert gdp_delta(mu, 1.01 * epsilon) <= here <= gdp_delta(1.01 * mu, epsilon)


@given(epsilons, deltas)
@example(1e6, 1e-100)
@example(1e9, 1e-300)
@example(1e-3, 0.97)
def test_mu_is_the_largest_that_is_private(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert gdp_delta(mu, epsilon) <= delta
    assert gdp_delta(mu * (1.0 + 1e-9), epsilon) > delta


@given(mus, deltas)
def test_epsilon_inverts_delta(mu, delta):
    epsilon = gdp_epsilon(mu, delta)
    if epsilon == 0.0:
        assert gdp_delta(mu, 0.0) <= delta
    else:
        assert gdp_delta(mu, epsilon) == pytest.approx(delta, rel=1e-6)


def test_large_and_small_mu_follow_their_expansions():
    # epsilon = mu^2/2 + mu Phi^-1(1-delta) - O(1); at epsilon = 0, delta = erf(mu / sqrt 8).
    assert gdp_epsilon(1e4, 1e-5) == pytest.approx(0.5e8 - 1e4 * norm.ppf(1e-5), abs=2.0)
    assert gdp_delta(1e-9, 0.0) == pytest.approx(1e-9 / math.sqrt(2 * math.pi), rel=1e-12)


def test_limits():
    assert gdp_epsilon(math.inf, 1e-5) == math.inf
    assert gdp_epsilon(0.0, 1e-5) == 0.0
    assert gdp_epsilon(1e-9, 1e-5) == 0.0
    assert gdp_delta(math.inf, 3.0) == 1.0
    assert gdp_delta(0.0, 0.0) == 0.0
    assert gdp_delta(5.0, math.inf) == 0.0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 8.0])
def test_the_decided_split_gives_the_claim_exactly(epsilon):
    delta = 1e-6
    t, tau = gdp_mu(epsilon, delta / 2), delta / (2 * (1 + math.exp(epsilon)))
    assert total_delta(t, epsilon, tau) == pytest.approx(delta, rel=1e-9)
    assert total_epsilon(t, tau, delta) == pytest.approx(epsilon, rel=1e-7)


@pytest.mark.parametrize(("epsilon", "factor"), [(0.1, 1.553), (1.0, 2.359), (4.0, 28.30), (8.0, 1491.0)])
def test_the_split_of_the_corollaries_proves_no_epsilon(epsilon, factor):
    """E3: delta0 = tau = delta/2 gives delta (2 + e^eps)/2, and no other e reaches delta."""
    delta = 1e-6
    t = gdp_mu(epsilon, delta / 2)
    assert total_delta(t, epsilon, delta / 2) / delta == pytest.approx(factor, rel=1e-3)
    assert math.isnan(total_epsilon(t, delta / 2, delta))


@pytest.mark.parametrize(("t", "tau"), [(0.2, 1e-8), (0.8, 1e-7), (2.0, 1e-10), (0.2, 3e-7), (0.01, 1e-7)])
def test_the_least_epsilon_against_a_grid(t, tau):
    delta = 1e-6
    grid = np.linspace(0.0, 12.0, 24001)
    good = grid[[total_delta(t, e, tau) <= delta for e in grid]]
    found = total_epsilon(t, tau, delta)
    if not good.size:
        assert math.isnan(found)
    else:
        assert good[0] - grid[1] <= found <= good[0]
        assert total_delta(t, found, tau) <= delta * (1 + 1e-9)


def test_delta_of_the_sum_is_not_monotone():
    values = [total_delta(0.2, e, 1e-7) for e in (0.0, 1.2, 5.0)]
    assert values[1] < values[0] and values[1] < values[2]


def test_without_a_distance_it_is_the_law():
    assert total_epsilon(0.3, 1e-300, 1e-6) == pytest.approx(gdp_epsilon(0.3, 1e-6), rel=1e-9)
    assert total_epsilon(1e-9, 1e-8, 1e-6) == 0.0
    assert total_delta(0.3, 1.0, 0.0) == gdp_delta(0.3, 1.0)
    assert total_delta(0.3, 1e6, 1e-300) == math.inf
