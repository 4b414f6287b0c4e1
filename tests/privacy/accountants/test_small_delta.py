"""Deltas below the rounding of transforms, where moments bound the loss of several queries."""

import pytest

from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.accountants.pld import poisson_gaussian_epsilon, several_poisson_epsilon

DELTA = 1e-18


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_parts_of_one_law_cost_what_all_their_steps_do(mu):
    several = several_poisson_epsilon([(2.0, 0.1, 10), (2.0, 0.1, 30)], DELTA, mu)
    assert several == pytest.approx(poisson_gaussian_epsilon(2.0, 0.1, 40, DELTA, mu), rel=0.01)
    assert several > gdp_epsilon(mu, DELTA)
