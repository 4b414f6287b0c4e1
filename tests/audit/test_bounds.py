"""The statistics of the audit: bounds that keep their confidence, and come close to the truth."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_bench.audit.bounds import clopper_pearson_lower, clopper_pearson_upper, gdp_lower_bound, lower_bound
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon


def epsilon_lower_bound(*given):
    return lower_bound(*given).epsilon


def gaussian_scores(rng, mu, runs):
    """Log-likelihood ratios of a Gaussian with shift over noise ``mu``."""
    return (mu * rng.standard_normal(runs) + sign * mu * mu / 2 for sign in (1, -1))


def laplace_scores(rng, epsilon, runs):
    return rng.laplace(size=runs) + epsilon, rng.laplace(size=runs)


def response_scores(rng, epsilon, runs):
    """Randomised response: the truth with probability e^eps/(1 + e^eps)."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    return (rng.random(runs) < truth).astype(float), (rng.random(runs) >= truth).astype(float)


MECHANISMS = {
    "gaussian": (lambda rng, runs: gaussian_scores(rng, 1.0, runs), gdp_epsilon(1.0, 1e-2), 1e-2),
    "laplace": (lambda rng, runs: laplace_scores(rng, 1.0, runs), 1.0, 0.0),
    "laplace with delta": (lambda rng, runs: laplace_scores(rng, 1.0, runs), 1.0, 1e-3),
    "randomised response": (lambda rng, runs: response_scores(rng, 0.5, runs), 0.5, 0.0),
    "null": (lambda rng, runs: rng.standard_normal((2, runs)), 0.0, 0.0),
}


@pytest.mark.parametrize("trials", [1, 7, 400])
def test_clopper_pearson_inverts_the_binomial_tails(trials):
    for k in {0, 1, trials // 2, trials - 1, trials}:
        low, high = (float(f(k, trials, 0.01)) for f in (clopper_pearson_lower, clopper_pearson_upper))
        assert 0 <= low <= k / trials <= high <= 1
        assert low == 0 if k == 0 else binom.sf(k - 1, trials, low) == pytest.approx(0.01, rel=1e-6)
        assert high == 1 if k == trials else binom.cdf(k, trials, high) == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize("name", MECHANISMS)
def test_never_above_the_truth(name):
    """At a confidence of 1 - 1e-5, one excess in 300 repetitions has probability 0.003 at most (union bound)."""
    scores, truth, delta = MECHANISMS[name]
    rng = np.random.default_rng(1)
    bounds = [epsilon_lower_bound(*scores(rng, 2000), delta, 1 - 1e-5) for _ in range(300)]
    assert max(bounds) <= truth


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_confidence_is_kept(name):
    """At confidence 0.8, at most a fifth of the bounds exceed the truth, up to four standard errors."""
    scores, truth, delta = MECHANISMS[name]
    rng = np.random.default_rng(2)
    above = [epsilon_lower_bound(*scores(rng, 500), delta, 0.8) > truth for _ in range(400)]
    assert np.mean(above) <= 0.2 + 4 * math.sqrt(0.2 * 0.8 / 400)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("scores", [laplace_scores, response_scores])
def test_close_to_the_truth_for_pure_mechanisms(scores, epsilon):
    bound = epsilon_lower_bound(*scores(np.random.default_rng(3), epsilon, 100_000), 0.0)
    assert 0.7 * epsilon <= bound <= epsilon


@pytest.mark.parametrize("mu", [0.3, 0.5, 1.0, 2.0])
def test_close_to_the_truth_for_gaussians(mu):
    truth = gdp_epsilon(mu, 1e-3)
    bound = epsilon_lower_bound(*gaussian_scores(np.random.default_rng(4), mu, 1_000_000), 1e-3)
    assert 0.7 * truth <= bound <= truth


def test_perfect_separation_reaches_what_the_runs_allow():
    """No false alarm in m test runs at error a per bound leaves 1 - a^(1/m)."""
    p, q = np.full(1000, 1.0), np.full(1000, 0.0)
    best, shared = (math.log(a ** (1 / 700) / (1 - a ** (1 / 700))) for a in (0.05 / 4, 0.05 / 8))
    assert epsilon_lower_bound(p, q, 0.0) == pytest.approx(best, rel=1e-9)
    assert epsilon_lower_bound(np.where(p > 0, np.inf, p), np.full(1000, -np.inf), 0.0) == pytest.approx(best, rel=1e-9)
    assert lower_bound(p, q, 0.0, thresholds=(0.5, 0.5)).epsilon == pytest.approx(shared, rel=1e-9)  # two more events


def test_neither_orientation_nor_scale_of_the_scores_matters():
    p, q = laplace_scores(np.random.default_rng(6), 1.0, 5000)
    bound = epsilon_lower_bound(p, q, 1e-6)
    for changed in ((-p, -q), (q, p), (np.arctan(p), np.arctan(q)), (p * 1e200, q * 1e200)):
        assert epsilon_lower_bound(*changed, 1e-6) == pytest.approx(bound, rel=0.1)
    assert epsilon_lower_bound(np.arctan(p), np.arctan(q), 1e-6) == bound


def test_rare_events_on_one_side_are_found_and_need_the_delta():
    """An event that is rare on both data sets, and far rarer on one, counts whichever data set that is."""
    rng = np.random.default_rng(7)
    rare, rarer = (rng.random(50_000) < 0.05).astype(float), (rng.random(50_000) < 0.001).astype(float)
    there, back = lower_bound(rare, rarer, 1e-5), lower_bound(rarer, rare, 1e-5)
    assert (there.direction, back.direction) == ("P over Q", "Q over P")
    assert there.epsilon == back.epsilon > 3
    assert there.epsilon == pytest.approx(math.log((there.power_low - 1e-5) / there.false_alarm_high))
    # A mechanism that exposes a record with probability 0.01, else says nothing, is (0, 0.01)-private.
    rng = np.random.default_rng(5)
    exposed, silent = (rng.random(100_000) < 0.01).astype(float), np.zeros(100_000)
    assert epsilon_lower_bound(exposed, silent, 0.01) == 0
    assert epsilon_lower_bound(exposed, silent, 1e-5) > 3


@pytest.mark.parametrize("value", [0.0, -3.5, np.inf])
def test_constant_scores_show_nothing(value):
    assert epsilon_lower_bound(np.full(100, value), np.full(100, value), 0.0) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores_p": np.r_[np.zeros(99), np.nan]}, "^scores_p = nan: must be numbers"),
        ({"scores_q": np.zeros(3)}, r"^shape of scores_q = \(3,\)"),
        ({"scores_q": np.zeros((100, 1))}, "^shape of scores_q = "),
        ({"delta": 1.0}, "^delta = 1.0"),
        ({"delta": math.nan}, "^delta = nan"),
        ({"confidence": 1.0}, "^confidence = 1.0"),
    ],
)
def test_refuses_what_it_cannot_judge(changes, message):
    with pytest.raises(InputError, match=message):
        lower_bound(**{"scores_p": np.zeros(100), "scores_q": np.ones(100), "delta": 0.0, **changes})


@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
def test_a_gaussian_dp_parameter_is_bounded_from_below_and_closely(mu):
    """Normal scores attain it: at most the stated share of bounds is above it, and they are near it."""
    rng = np.random.default_rng(11)
    found = [gdp_lower_bound(mu + rng.standard_normal(20_000), rng.standard_normal(20_000), 0.9) for _ in range(60)]
    assert np.mean(np.array(found) > mu) <= 0.1 and np.median(found) > 0.96 * mu - 0.05
    assert gdp_lower_bound(np.zeros(100), np.zeros(100), 0.9) == 0.0
