"""Likelihood ratios and counts of few releases, also of one index with replacement: closed forms, draws, bounds."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import gammaincc, gammaln, log_ndtr, logsumexp
from scipy.stats import norm

from dpsco_bench.privacy.accountants import gaussian, generalised, pld, single_index
from dpsco_bench.privacy.accountants.fixed_size import batch_epsilon
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.accountants.generalised import CoordinateSurvival, coordinate_epsilon, counting_epsilon
from dpsco_bench.privacy.accountants.pld import GaussianPair
from dpsco_bench.privacy.accountants.single_index import opposed_epsilon
from dpsco_bench.privacy.composition.refutation import _copies
from dpsco_bench.privacy.records import WithReplacement
from dpsco_bench.rng.streams import Stream, stream_key

from .test_pld import divergence

SMALL, DELTA = 1e-6, 1e-5
ALWAYS = (0.0, 1.0)


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_a_coin_of_known_probabilities(steps):
    """Against the best threshold on the number of heads, by exact binomial tails."""
    p, q = 0.6, 0.4
    heads = [[math.comb(steps, k) * a**k * (1 - a) ** (steps - k) for k in range(steps + 1)] for a in (p, q)]
    power, level = (np.cumsum(law[::-1]) for law in heads)
    gain = np.maximum(power - SMALL, 1e-300)
    exact = max(0.0, float(np.log(gain / level).max()))
    assert generalised.composed_epsilon(np.array([1 - p, p]), np.array([1 - q, q]), steps, SMALL) == pytest.approx(
        exact, rel=1e-3
    )


@pytest.mark.parametrize("steps", [1, 10])
def test_normal_coordinates_are_told_apart_almost_exactly(steps):
    exact = gdp_epsilon(0.6 * math.sqrt(steps), SMALL)
    found = coordinate_epsilon(0.6, steps, 2.0, 5, SMALL, ALWAYS)
    assert 0.98 * exact < found <= exact * (1 + 1e-9)
    assert found >= counting_epsilon(0.6, steps, 2.0, 5, SMALL) - 1e-3 * exact


@pytest.mark.parametrize(("r", "d"), [(6.0, 10), (3.0, 128), (2.25, 512), (40.0, 64)])
def test_the_mixture_gives_the_law_of_a_coordinate(r, d):
    values, shares = generalised.stable_mixture(r, d)
    survival = CoordinateSurvival(r, d)
    for t in (0.3, 1.0, 2.0):
        z = t * survival.deviation
        assert 0.5 * shares @ gammaincc(1 / r, values * z**r) == pytest.approx(survival(z), rel=2e-4, abs=1e-12)


def test_the_mixture_gives_the_correlations_of_the_draws():
    r, d, draws = 6.0, 20, 40_000
    z = Stream(stream_key(1, "tests", "ratio")).generalised_gaussian(0, 1, 0, draws, d, r)[0]
    threshold = CoordinateSurvival(r, d).deviation
    values, shares = generalised.stable_mixture(r, d)
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
    above = batch_epsilon(math.sqrt(r - 1) * shift, n, m, steps, SMALL, replacement=True)
    along = coordinate_epsilon(shift, steps, r, d, SMALL, weights)
    everywhere = generalised.spread_epsilon(shift * d ** (-1 / r), steps, r, d, SMALL, weights)
    assert 0.0 < along < above and 0.0 < everywhere < above
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


def test_counts_of_normal_releases():
    """One is tested exactly, many are below the exact value; nothing without a change, and far tails."""
    for mu in (0.05, 0.6, 3.0):
        assert counting_epsilon(mu, 1, 2.0, 5, 1e-5) == pytest.approx(gdp_epsilon(mu, 1e-5), rel=1e-6)
    exact = gdp_epsilon(0.3 * math.sqrt(50), 1e-5)
    assert 0.6 * exact < counting_epsilon(0.3, 50, 2.0, 3, 1e-5) < exact
    assert counting_epsilon(8.0, 10**7, 3.0, 8, 1e-6, (1 - 1e-4, 1e-4)) > 1000
    assert counting_epsilon(0.0, 3, 3.0, 2, 1e-6) == counting_epsilon(1e-3, 1, 3.0, 2, 1e-2) == 0.0
    # The weights of the counts enter; against the likelihood-ratio test, which is stronger.
    once = counting_epsilon(8.0, 400, 2.0, 3, 1e-6, (0.98, 0.02))
    assert once < counting_epsilon(8.0, 400, 2.0, 3, 1e-6, (0.97, 0.02, 0.01))
    assert 0.5 * opposed_epsilon(8.0, 400, 0.02, 1e-6) < once < opposed_epsilon(8.0, 400, 0.02, 1e-6)


@pytest.mark.parametrize("most", [12, 20, 60])
def test_tails_of_a_binomial_are_bounded_from_above_by_few_counts(most):
    counts = np.arange(8.0, most + 1.0)
    above, exact = generalised._log_tails(0.01, 1000, counts, True), stats.binom(1000, 0.01).logsf(counts - 1.0)
    assert (above >= exact - 1e-9).all() and (generalised._log_tails(0.01, 1000, counts, False) <= exact + 1e-9).all()
    assert above[0] == pytest.approx(exact[0], abs=0.2 if most == 12 else 1e-3)


@pytest.mark.parametrize("moved, still, steps", [(0.6, 0.4, 1), (1.0, 0.3, 4), (0.02, 0.01, 3000), (0.3, 1e-9, 90)])
def test_counts_are_told_by_the_best_threshold(moved, still, steps):
    power = stats.binom(steps, moved).sf(np.arange(-1.0, steps))
    level = np.logaddexp.accumulate(stats.binom(steps, still).logpmf(np.arange(steps, -1, -1)))[::-1]
    told = power > SMALL
    exact = np.max(np.log(power[told] - SMALL) - level[told])
    assert generalised._binomial_epsilon(moved, still, steps, SMALL) == pytest.approx(exact, rel=1e-6)
    nothing = [generalised._binomial_epsilon(*chances, steps, SMALL) for chances in ((still, moved), (moved, 0.0))]
    assert nothing == [0.0, 0.0]


def single_index_epsilon(*arguments):
    return max(single_index.single_index_tests(*arguments).values())


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize(("shift", "steps", "population"), [(1.0, 3, 2), (2.5, 5, 4), (0.5, 8, 3)])
def test_the_bound_is_attained_by_simulated_transcripts(shift, steps, population, share):
    rate, anchor = 1.0 / population, share * shift / population
    generator, losses = np.random.default_rng(7), np.zeros(400_000)

    def density(x):
        return (1.0 - rate) * norm.pdf(x, -anchor) + rate * norm.pdf(x, shift - anchor)

    for _ in range(steps):
        x = generator.standard_normal(losses.size) - anchor + shift * (generator.random(losses.size) < rate)
        losses += np.log(density(x)) - np.log(density(-x))
    expected = brentq(lambda e: np.mean(np.maximum(0.0, -np.expm1(e - losses))) - 0.05, 0.0, losses.max())
    assert single_index_epsilon(shift, steps, population, 0.05, anchor) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("shift", "steps", "rate", "delta", "share"),
    [(1.0, 6, 0.25, 0.05, 0.0), (3.0, 6, 0.25, 0.05, 0.0), (7.0, 6, 0.25, 0.05, 0.9), (9.0, 2000, 1e-3, DELTA, 0.995)],
)
def test_vanishing_contribution_bound_is_below_the_add_or_remove_pair(shift, steps, rate, delta, share):
    """Against a record that contributes nothing."""
    upper = pld.poisson_gaussian_epsilon(1.0 / shift, rate, steps, delta, replace=False)
    assert share * upper <= single_index._vanishing_epsilon(shift, steps, rate, delta) <= upper


@pytest.mark.parametrize(("shift", "population"), [(0.8, 2), (3.0, 10), (6.0, 50)])
def test_one_step_equals_quadrature(shift, population):
    pair = GaussianPair(shift, 1.0 / population, True)
    expected = brentq(lambda e: divergence(pair, e) - 1e-3, 0.0, 60.0)
    assert single_index_epsilon(shift, 1, population, 1e-3) == pytest.approx(expected, rel=2e-3)
    assert single_index_epsilon(shift, 1, population, 1e-3) <= expected * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("shift", "steps", "population"),
    [(10.0, 19_210, 1024), (14.7221, 26_894, 4096), (51.9346, 34_578, 2**14), (360.0, 46_104, 2**17)],
)
def test_large_shifts_agree_with_the_mixture_over_draws(shift, steps, population):
    """The chapter's formula in section 8: loss given k draws ~ Normal(k (s^2/2 + ln q), k s^2)."""
    rate, k = 1.0 / population, np.arange(1.0, steps + 1.0)
    weights = gammaln(steps + 1.0) - gammaln(k + 1.0) - gammaln(steps - k + 1.0)
    weights += k * math.log(rate) + (steps - k) * math.log1p(-rate)
    mean, sd = k * (shift**2 / 2 + math.log(rate)), shift * np.sqrt(k)

    def excess(epsilon):
        upper = log_ndtr((mean - epsilon) / sd)
        lower = epsilon - mean + sd**2 / 2 + log_ndtr((mean - epsilon) / sd - sd)
        with np.errstate(divide="ignore"):
            return logsumexp(weights + upper + np.log(-np.expm1(np.minimum(lower - upper, 0.0)))) - math.log(DELTA)

    mixture = brentq(excess, 0.0, mean[-1])
    assert single_index_epsilon(shift, steps, population, DELTA) == pytest.approx(mixture, rel=2e-4)
    # The rigorous variant pays ln(1-q) in every step without a draw.
    rigorous = single_index._vanishing_epsilon(shift, steps, rate, DELTA)
    assert rigorous == pytest.approx(mixture - steps / population, rel=2e-3)


@pytest.mark.parametrize("steps", [1, 1000, 500_000])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9, 1e-12])
def test_numerical_path_is_tight_from_below_for_full_gaussians(steps, delta):
    exact = gaussian.gdp_epsilon(1.0, delta)
    bound = single_index._reversed_epsilon(GaussianPair(0.5 / math.sqrt(steps), 1.0, True), steps, delta)
    assert bound < exact
    assert bound > (0.998 if delta > 1e-14 * steps else 0.85) * exact


def test_limits():
    assert single_index_epsilon(0.0, 10, 10, DELTA) == 0.0
    assert single_index_epsilon(math.inf, 10, 10, DELTA) == math.inf
    assert single_index_epsilon(5.0, 1, 10**7, DELTA) == 0.0  # drawn with probability below delta
    assert single_index_epsilon(1e6, 46_104, 2**17, DELTA) == pytest.approx(5 * 0.5e12, rel=1e-3)  # five draws


@pytest.mark.parametrize(("constant", "whole"), [(1.0, 2.42), (4.84, 1.00), (16.0, 0.52), (24.0, 0.42)])
def test_an_anchor_that_moves_against_the_contribution_hides_it(constant, whole):
    """In the range of Theorem 4.1, n = 100 and N = 2 n^2: the whole answer d + v has less than d alone."""
    n, steps = 100, 20_000
    shift = 2.0 * n / math.sqrt(constant * steps * math.log(1e5))
    found = single_index_epsilon(shift, steps, n, DELTA, 0.5 * shift / n)
    assert found == pytest.approx(whole, abs=6e-3) and found < 0.5 * single_index_epsilon(shift, steps, n, DELTA)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.99, 2.0])
def test_one_draw_at_most_in_closed_form(epsilon):
    """The loss is normal where the record is drawn, and too small to count elsewhere."""
    shift, rate = 3.0, 0.02
    mean = shift**2 / 2 + math.log(rate)
    upper = norm.cdf((mean - epsilon) / shift)
    delta = rate * (upper - math.exp(epsilon) / rate * norm.cdf((mean - epsilon) / shift - shift))
    assert single_index._vanishing_epsilon(shift, 1, rate, delta) == pytest.approx(epsilon, rel=1e-6)
