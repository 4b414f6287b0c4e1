"""Laws known up to a total variation distance (chapter gopi2022, 2.0 and E3)."""

import math

import numpy as np
import pytest

from dpsco_bench.privacy.accountants.gaussian import gdp_delta, gdp_epsilon, gdp_mu, total_delta, total_epsilon


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
