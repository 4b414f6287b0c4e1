"""Likelihood ratios of few releases: closed forms, draws, and bounds from either side."""

import math

import numpy as np
import pytest

from dpsco_bench.privacy.accountants.fixed_size import batch_epsilon
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.accountants.generalised import (
    CoordinateSurvival,
    composed_epsilon,
    coordinate_epsilon,
    counting_epsilon,
    spread_epsilon,
    stable_mixture,
)
from dpsco_bench.privacy.composition.refutation import _copies
from dpsco_bench.privacy.records import WithReplacement
from dpsco_bench.rng.streams import Stream, stream_key

DELTA = 1e-6
ALWAYS = (0.0, 1.0)


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_a_coin_of_known_probabilities(steps):
    """Against the best threshold on the number of heads, by exact binomial tails."""
    p, q = 0.6, 0.4
    heads = [[math.comb(steps, k) * a**k * (1 - a) ** (steps - k) for k in range(steps + 1)] for a in (p, q)]
    power, level = (np.cumsum(law[::-1]) for law in heads)
    gain = np.maximum(power - DELTA, 1e-300)
    exact = max(0.0, float(np.log(gain / level).max()))
    assert composed_epsilon(np.array([1 - p, p]), np.array([1 - q, q]), steps, DELTA) == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("steps", [1, 10])
def test_normal_coordinates_are_told_apart_almost_exactly(steps):
    exact = gdp_epsilon(0.6 * math.sqrt(steps), DELTA)
    found = coordinate_epsilon(0.6, steps, 2.0, 5, DELTA, ALWAYS)
    assert 0.98 * exact < found <= exact * (1 + 1e-9)
    assert found >= counting_epsilon(0.6, steps, 2.0, 5, DELTA) - 1e-3 * exact


@pytest.mark.parametrize(("r", "d"), [(6.0, 10), (3.0, 128), (2.25, 512), (40.0, 64)])
def test_the_mixture_gives_the_law_of_a_coordinate(r, d):
    from scipy.special import gammaincc

    values, shares = stable_mixture(r, d)
    survival = CoordinateSurvival(r, d)
    for t in (0.3, 1.0, 2.0):
        z = t * survival.deviation
        assert 0.5 * shares @ gammaincc(1 / r, values * z**r) == pytest.approx(survival(z), rel=2e-4, abs=1e-12)


def test_the_mixture_gives_the_correlations_of_the_draws():
    from scipy.special import gammaincc

    r, d, draws = 6.0, 20, 40_000
    z = Stream(stream_key(1, "tests", "ratio")).generalised_gaussian(0, 1, 0, draws, d, r)[0]
    threshold = CoordinateSurvival(r, d).deviation
    values, shares = stable_mixture(r, d)
    above = gammaincc(1 / r, values * threshold**r)
    number = (np.abs(z) > threshold).sum(axis=1)
    mean = d * shares @ above
    variance = d * shares @ (above * (1 - above)) + d**2 * (shares @ above**2 - (shares @ above) ** 2)
    assert abs(number.mean() - mean) < 4.5 * math.sqrt(variance / draws)
    assert number.var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize(("r", "d", "n", "m", "steps"), [(6.0, 128, 300, 50, 7), (3.0, 20, 100, 20, 3)])
def test_bounds_from_below_stay_under_the_one_from_above(r, d, n, m, steps):
    """Generalised Gaussian noise is ``sqrt(r - 1) s``-GDP for a change of l_r norm s."""
    shift, weights = 0.4, _copies(WithReplacement(n, m))
    above = batch_epsilon(math.sqrt(r - 1) * shift, n, m, steps, DELTA, replacement=True)
    along = coordinate_epsilon(shift, steps, r, d, DELTA, weights)
    everywhere = spread_epsilon(shift * d ** (-1 / r), steps, r, d, DELTA, weights)
    assert 0.0 < along < above
    assert 0.0 < everywhere < above
    assert d < 100 or everywhere > 1.5 * along
