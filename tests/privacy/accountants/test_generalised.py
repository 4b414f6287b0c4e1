"""Likelihood ratios and counts of few releases: closed forms, draws, and bounds from either side."""

import math

import numpy as np
import pytest
from scipy import stats

from dpsco_bench.privacy.accountants.fixed_size import batch_epsilon
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.accountants.generalised import (
    CoordinateSurvival,
    _binomial_epsilon,
    _log_tails,
    composed_epsilon,
    coordinate_epsilon,
    counting_epsilon,
    spread_epsilon,
    stable_mixture,
)
from dpsco_bench.privacy.accountants.single_index import opposed_epsilon
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


@pytest.mark.parametrize("d", [1, 2, 7, 300])
def test_normal_coordinates(d):
    survival = CoordinateSurvival(2.0, d)
    for t in (-3.0, 0.0, 1.0, 6.0):
        assert survival(t) == pytest.approx(stats.norm.sf(t), rel=1e-9)
    assert survival.deviation == pytest.approx(1.0)


@pytest.mark.parametrize(("r", "d"), [(3.0, 4), (10.0, 3), (40.0, 64)])
def test_survival_is_that_of_the_draws(r, d):
    z = Stream(stream_key(1, "tests", "counting")).generalised_gaussian(0, 1, 0, 100_000, d, r)[0, :, 0]
    survival = CoordinateSurvival(r, d)
    assert survival.deviation == pytest.approx(float(np.std(z)), rel=0.02)
    for t in (-survival.deviation, 0.0, survival.deviation, 3 * survival.deviation):
        p = survival(t)
        assert abs(np.mean(z > t) - p) < 4.5 * math.sqrt(p * (1 - p) / len(z))


def test_one_normal_release_is_tested_exactly():
    for mu in (0.05, 0.6, 3.0):
        assert counting_epsilon(mu, 1, 2.0, 5, 1e-5) == pytest.approx(gdp_epsilon(mu, 1e-5), rel=1e-6)


def test_many_releases_are_below_the_exact_value():
    exact = gdp_epsilon(0.3 * math.sqrt(50), 1e-5)
    assert 0.6 * exact < counting_epsilon(0.3, 50, 2.0, 3, 1e-5) < exact


def test_several_draws_of_a_record():
    """The weights of the counts enter; against the likelihood-ratio test, which is stronger."""
    once = counting_epsilon(8.0, 400, 2.0, 3, 1e-6, (0.98, 0.02))
    assert once < counting_epsilon(8.0, 400, 2.0, 3, 1e-6, (0.97, 0.02, 0.01))
    assert 0.5 * opposed_epsilon(8.0, 400, 0.02, 1e-6) < once < opposed_epsilon(8.0, 400, 0.02, 1e-6)


def test_tails_far_below_the_smallest_float():
    assert counting_epsilon(8.0, 10**7, 3.0, 8, 1e-6, (1 - 1e-4, 1e-4)) > 1000


def test_no_change():
    assert counting_epsilon(0.0, 3, 3.0, 2, 1e-6) == counting_epsilon(1e-3, 1, 3.0, 2, 1e-2) == 0.0


@pytest.mark.parametrize("most", [12, 20, 60])
def test_tails_of_a_binomial_are_bounded_from_above_by_few_counts(most):
    counts = np.arange(8.0, most + 1.0)
    above, exact = _log_tails(0.01, 1000, counts, True), stats.binom(1000, 0.01).logsf(counts - 1.0)
    assert (above >= exact - 1e-9).all() and (_log_tails(0.01, 1000, counts, False) <= exact + 1e-9).all()
    assert above[0] == pytest.approx(exact[0], abs=0.2 if most == 12 else 1e-3)


@pytest.mark.parametrize(
    ("moved", "still", "steps"), [(0.6, 0.4, 1), (1.0, 0.3, 4), (0.02, 0.01, 3000), (0.3, 1e-9, 90)]
)
def test_counts_are_told_by_the_best_threshold(moved, still, steps):
    power = stats.binom(steps, moved).sf(np.arange(-1.0, steps))
    level = np.logaddexp.accumulate(stats.binom(steps, still).logpmf(np.arange(steps, -1, -1)))[::-1]
    told = power > DELTA
    exact = np.max(np.log(power[told] - DELTA) - level[told])
    assert _binomial_epsilon(moved, still, steps, DELTA) == pytest.approx(exact, rel=1e-6)
    assert _binomial_epsilon(still, moved, steps, DELTA) == _binomial_epsilon(moved, 0.0, steps, DELTA) == 0.0
