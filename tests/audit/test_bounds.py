"""The statistics of the audit: bounds that keep their confidence and come close to the truth, and predicted power."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.stats import beta, norm

from dpsco_bench.audit import bounds
from dpsco_bench.audit.bounds import events, expected_bounds, gdp_lower_bound, lower_bound
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu


def gaussian_scores(rng, runs, mu):
    """Log-likelihood ratios of a Gaussian with shift over noise ``mu``."""
    return (mu * rng.standard_normal(runs) + sign * mu * mu / 2 for sign in (1, -1))


def laplace_scores(rng, runs):
    return rng.laplace(size=runs) + 1.0, rng.laplace(size=runs)


def response_scores(rng, runs, epsilon=0.5):
    """Randomised response: the truth with probability e^eps/(1 + e^eps)."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    return (rng.random(runs) < truth).astype(float), (rng.random(runs) >= truth).astype(float)


MECHANISMS = {
    "gaussian": (partial(gaussian_scores, mu=1.0), gdp_epsilon(1.0, 1e-2), 1e-2),
    "laplace": (laplace_scores, 1.0, 0.0),
    "laplace with delta": (laplace_scores, 1.0, 1e-3),
    "randomised response": (response_scores, 0.5, 0.0),
    "null": (lambda rng, runs: rng.standard_normal((2, runs)), 0.0, 0.0),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_confidence_is_kept(name):
    """At confidence 0.8, at most a fifth of the bounds exceed the truth, up to four standard errors."""
    scores, truth, delta = MECHANISMS[name]
    rng = np.random.default_rng(2)
    further = (0.5, 0.5) if name == "randomised response" else None  # limits are joint for more events too
    above = [lower_bound(*scores(rng, 500), delta, 0.8, further).epsilon > truth for _ in range(400)]
    assert np.mean(above) <= 0.2 + 4 * math.sqrt(0.2 * 0.8 / 400)


@pytest.mark.parametrize("mu", [0.3, 0.5, 1.0, 2.0])
def test_close_to_the_truth_for_gaussians(mu):
    truth = gdp_epsilon(mu, 1e-3)
    bound = lower_bound(*gaussian_scores(np.random.default_rng(4), 1_000_000, mu), 1e-3).epsilon
    assert 0.7 * truth <= bound <= truth


def test_perfect_separation_reaches_what_the_runs_allow():
    """No false alarm in m test runs at error a per bound leaves 1 - a^(1/m)."""
    p, q = np.ones(1000), np.zeros(1000)
    best, shared = (math.log(a ** (1 / 700) / (1 - a ** (1 / 700))) for a in (0.05 / 4, 0.05 / 8))
    assert lower_bound(p, q, 0.0).epsilon == pytest.approx(best, rel=1e-9)
    assert lower_bound(np.where(p > 0, np.inf, p), np.full(1000, -np.inf), 0.0).epsilon == pytest.approx(best, rel=1e-9)
    assert lower_bound(p, q, 0.0, thresholds=(0.5, 0.5)).epsilon == pytest.approx(shared, rel=1e-9)  # two more events
    for value in (0.0, -3.5, np.inf):  # and none at all
        assert lower_bound(np.full(100, value), np.full(100, value), 0.0).epsilon == 0
    # Of a Gaussian-DP parameter: each limit is a power of the error, the bound their difference.
    exact = norm.ppf((0.05 / 4) ** (1 / 700)) - norm.ppf(1 - (0.05 / 4) ** (1 / 700))
    assert gdp_lower_bound(p, q, 0.95) == gdp_lower_bound(q, p, 0.95) == pytest.approx(exact)
    assert gdp_lower_bound(p, q, 0.99) < exact < gdp_lower_bound(np.ones(2000), np.zeros(2000), 0.95)


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
    assert lower_bound(exposed, silent, 0.01).epsilon == 0
    assert lower_bound(exposed, silent, 1e-5).epsilon > 3


@pytest.mark.parametrize("key", ["scores_p", "scores_q"])
def test_scores_that_are_no_numbers_are_refused(key):
    given = {"scores_p": np.zeros(100), "scores_q": np.ones(100), key: np.r_[np.zeros(99), np.nan]}
    with pytest.raises(InputError, match=f"^{key} = nan: must be numbers"):
        lower_bound(**given, delta=0.0)


@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
def test_a_gaussian_dp_parameter_is_bounded_from_below_and_closely(mu):
    """Normal scores attain it: at most the stated share of bounds is above it, and they are near it."""
    rng = np.random.default_rng(11)
    found = [gdp_lower_bound(mu + rng.standard_normal(20_000), rng.standard_normal(20_000), 0.9) for _ in range(60)]
    assert np.mean(np.array(found) > mu) <= 0.1 and np.median(found) > 0.96 * mu - 0.05
    assert gdp_lower_bound(np.zeros(100), np.zeros(100), 0.9) == 0.0


def clopper_pearson(k, n, error):
    """Both limits of a binomial probability, from the beta law."""
    low = np.where(k > 0, beta.ppf(error, np.maximum(k, 1e-9), n - k + 1), 0.0)
    return low, np.where(k < n, beta.ppf(1 - error, k + 1, np.maximum(n - k, 1e-9)), 1.0)


def test_limits_of_few_counts():
    found = [limit(np.arange(8), 7, 0.01) for limit in (bounds.clopper_pearson_lower, bounds.clopper_pearson_upper)]
    np.testing.assert_allclose(found, clopper_pearson(np.arange(8), 7, 0.01), rtol=1e-9)


def by_hand(p, q, delta, confidence, further=None):
    """The bound of `lower_bound`, by trying every threshold of the training part."""
    error, cut_p, cut_q = (1 - confidence) / (4 if further is None else 8), round(0.3 * len(p)), round(0.3 * len(q))
    sides, found = (p[:cut_p], p[cut_p:], q[:cut_q], q[cut_q:]), []

    def value(hits, trials, alarms, others):
        low, high = clopper_pearson(hits, trials, error)[0], clopper_pearson(alarms, others, error)[1]
        return np.log(np.maximum(np.maximum(low - delta, 0.0) / high, 1.0))

    for train, test, other_train, other_test in (sides, sides[2:] + sides[:2]):
        cuts, best = np.unique(np.concatenate([train, other_train])), (-1.0, None)
        for sign, tails in ((-1, cuts[::-1]), (1, cuts)):
            for t in tails:
                hits, alarms = (np.sum(sign * own <= sign * t) for own in (train, other_train))
                expected = min((alarms + 1) * len(other_test) / len(other_train), len(other_test))
                promised = value(hits * len(test) / len(train), len(test), expected, len(other_test))
                best = max(best, (float(promised), (sign, t)), key=lambda pair: pair[0])
        sign, t = best[1]
        counts = [np.sum(sign * own <= sign * t) for own in (test, other_test)]
        found.append(float(value(counts[0], len(test), counts[1], len(other_test))))
    for sign, t, own, other in zip((-1, 1), further or (), sides[1::2], sides[3::-2], strict=False):
        counts = [np.sum(sign * scores <= sign * t) for scores in (own, other)]
        found.append(float(value(counts[0], len(own), counts[1], len(other))))
    return max(found)


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("further", [None, (0.5, -0.5), (-1.5, 1.5), (np.inf, -np.inf)])
def test_the_bound_by_hand(delta, further):
    """With ties, and another number of runs on either data set; events in either direction decide."""
    for seed, shift in enumerate((2.0, -2.0, 0.0, 4.0)):
        rng = np.random.default_rng(seed)
        p, q = np.round(shift + rng.standard_normal(120), 1), np.round(rng.standard_normal(200), 1)
        assert lower_bound(p, q, delta, 0.9, further).epsilon == pytest.approx(by_hand(p, q, delta, 0.9, further))


def test_further_events_alone_can_decide_and_are_named():
    """The training part of the scores says nothing: what a pilot chose beside it is tested all the same."""
    p, q = np.r_[np.zeros(300), np.ones(700)], np.zeros(1000)
    there, back = (lower_bound(p, q, 0.0, thresholds=own) for own in ((0.5, -1.0), (2.0, 0.5)))
    assert lower_bound(p, q, 0.0).epsilon == lower_bound(q, p, 0.0, thresholds=(2.0, 0.5)).epsilon == 0.0
    assert there.epsilon == back.epsilon > 4
    assert (there.direction, there.event) == ("P over Q", "score >= 0.5")
    assert (back.direction, back.event) == ("Q over P", "score <= 0.5")


def test_expected_bounds_grow_with_the_runs_and_fall_with_delta_and_confidence():
    likely, unlikely = np.array([0.02, 0.3, 0.9]), np.array([0.001, 0.1, 0.2])

    def bound(runs=10_000, delta=1e-3, confidence=0.95, more=0.0, less=0.0):
        return expected_bounds(likely + more, unlikely - less, runs, delta, confidence)

    low, high = clopper_pearson(7000 * likely, 7000, 0.05 / 8)[0], clopper_pearson(7000 * unlikely, 7000, 0.05 / 8)[1]
    np.testing.assert_allclose(bound(), np.log((low - 1e-3) / high))
    for better in (bound(runs=20_000), bound(delta=0.0), bound(confidence=0.9), bound(more=0.01), bound(less=5e-4)):
        assert (better > bound()).all()
    assert (bound(runs=10**12) < np.log((likely - 1e-3) / unlikely)).all()
    np.testing.assert_allclose(bound(runs=10**12), np.log((likely - 1e-3) / unlikely), rtol=1e-3)


def test_counted_events_are_limits_of_the_shares():
    """The first less a standard error, the second with two: at the quantiles of the likelier scores."""
    p, q = np.arange(100.0), np.arange(100.0) - 50.0
    found = events(p, q, exact=False)
    hits, alarms = (np.sum(own >= found.thresholds[:, None], axis=1) for own in (p, q))
    np.testing.assert_allclose(found.likely, clopper_pearson(hits, 100, 0.16)[0])
    np.testing.assert_allclose(found.unlikely, clopper_pearson(alarms, 100, 0.02)[1])
    assert found.thresholds[0] == 0.0 and hits[-1] == 10  # no event that fewer runs have met
    drawn = found.possible(found.thresholds[0], 4000, np.random.default_rng(0))
    assert drawn[0].mean() == pytest.approx(100.5 / 101, abs=1e-3) and drawn[1].mean() == pytest.approx(0.5, abs=0.01)


def test_shares_of_exact_scores_are_sums_of_likelihoods_and_never_above_one():
    for size in range(12, 212):
        p, q = gaussian_scores(np.random.default_rng(size), size, 0.1)
        found, pooled = events(p, q, exact=True), np.concatenate([p, q])
        assert max(found.likely.max(), found.unlikely.max()) <= 1.0
        for shares, sign in ((found.likely, 1), (found.unlikely, -1)):
            weights = 1 / (1 + np.exp(-sign * pooled))
            by_hand = [weights[pooled >= t].sum() / weights.sum() for t in found.thresholds]
            np.testing.assert_allclose(shares, by_hand, rtol=1e-12)


@pytest.mark.parametrize(("factor", "exact"), [(1.99, True), (0.51, True), (2.01, False), (0.49, False)])
def test_scores_pass_as_log_density_ratios_if_their_mean_likelihood_is_one_within_a_factor_two(factor, exact):
    p, q = gaussian_scores(np.random.default_rng(2), 500, 1.0)
    p += np.log(np.mean(np.exp(-p)) / factor)
    found, counted = (events(p, q, exact=told) for told in (True, False))
    assert np.array_equal(found.likely, counted.likely) == (not exact)


def both_directions(scores, exact):
    """Events that are likelier on the first data set, and those on the second."""
    first, second = scores
    return events(first, second, exact), events(-second, -first, exact)


@pytest.mark.parametrize("exact", [True, False])
def test_without_a_loss_there_is_no_power(exact):
    scores = np.random.default_rng(0).standard_normal((2, 2000))
    for found in both_directions(0.0 * scores, exact):
        assert bounds.predicted_power(found, 10_000, 0.1, 1e-5, 0.95) == 0
    for found in both_directions(scores, exact):
        assert exact or bounds.predicted_power(found, 10_000, 0.5, 1e-5, 0.95) < 0.01


def test_runs_on_both_data_sets_tell_of_both_probabilities():
    """Gaussian losses are known: within four standard errors of a count, and their ratio within a tenth."""
    mu = 1.0
    for seed in range(4):
        found = events(*gaussian_scores(np.random.default_rng(seed), 2000, mu), exact=True)
        truth = norm.sf(found.thresholds, 0.5 * mu * mu, mu), norm.sf(found.thresholds, -0.5 * mu * mu, mu)
        assert (np.abs(found.likely / truth[0] - 1.0) < 4.0 / np.sqrt(2000 * truth[0])).all()
        ratio = found.likely / found.unlikely * truth[1] / truth[0]
        assert np.abs(ratio - 1.0).max() < 0.1


def sampled_scores(rng, runs, rate=0.1, steps=10):
    """Log density ratios of Gaussian releases with mu = 1 that each look at the record with some probability."""
    found = []
    for side in (1.0, 0.0):
        z = rng.standard_normal((runs, steps)) + side * (rng.random((runs, steps)) < rate)
        found.append(np.log1p(rate * np.expm1(z - 0.5)).sum(axis=1))
    return found


def scores_with_an_atom(rng, runs):
    """Seldom an output that only one data set has."""
    return np.where(rng.random(runs) < 0.02, np.inf, rng.standard_normal(runs)), rng.standard_normal(runs)


FAMILY = 1 - 0.001 / 200
PREDICTED = [
    # of a recorded audit that was called hopeless
    (partial(gaussian_scores, mu=0.59), True, 2000, 100_000, 1.0, 1e-5, FAMILY),
    (partial(gaussian_scores, mu=0.59), False, 10_000, 100_000, 1.0, 1e-5, FAMILY),
    (partial(gaussian_scores, mu=0.59), True, 2000, 100_000, 1.6, 1e-5, FAMILY),
    (partial(gaussian_scores, mu=1.0), True, 2000, 4000, 1.4, 1e-3, 0.95),
    (partial(gaussian_scores, mu=1.0), True, 2000, 4000, 1.9, 1e-3, 0.95),
    (sampled_scores, True, 2000, 10_000, 0.5, 1e-4, 0.95),
    (sampled_scores, True, 2000, 10_000, 1.2, 1e-4, 0.95),
    (scores_with_an_atom, False, 2000, 10_000, 1.5, 1e-4, 0.95),
    (scores_with_an_atom, False, 2000, 10_000, 4.5, 1e-4, 0.95),
]


@pytest.mark.parametrize(("scores", "exact", "pilot", "runs", "claim", "delta", "confidence"), PREDICTED)
def test_prediction_and_simulation_agree(scores, exact, pilot, runs, claim, delta, confidence):
    """Within a tenth on average over pilots, beyond three standard errors of the simulation."""
    rng, predicted, refuted = np.random.default_rng(7), [], []
    for _ in range(8):
        there, back = both_directions(scores(rng, pilot), exact)
        one, other = (bounds.predicted_power(found, runs, claim, delta, confidence) for found in (there, back))
        predicted.append(1 - (1 - one) * (1 - other))
        first, second = (f.thresholds[bounds.best_event(f, runs, claim, delta, confidence)] for f in (there, back))
        for _ in range(3):
            bound = lower_bound(*scores(rng, runs), delta, confidence, thresholds=(first, -second))
            refuted.append(bound.epsilon > claim)
    share = np.mean(refuted)
    assert abs(np.mean(predicted) - share) <= 0.1 + 3 * np.sqrt(max(share * (1 - share), 0.01) / len(refuted))


def test_the_event_is_chosen_against_the_claim():
    """The largest expected bound may be too unsure; where no event has a chance, it is the choice all the same."""
    found = events(*gaussian_scores(np.random.default_rng(5), 2000, 0.59), exact=True)
    args = 100_000, 1e-5, FAMILY
    largest = np.argmax(expected_bounds(found.likely, found.unlikely, *args))
    hopeless = bounds.best_event(found, args[0], 50.0, *args[1:])
    assert hopeless == largest
    assert found.likely[bounds.best_event(found, args[0], 1.0, *args[1:])] >= found.likely[hopeless]


def test_what_normal_noise_shows_that_attains_an_epsilon_is_below_it_and_grows_with_the_runs():
    """Simulated: the mean of audits of normal noise at its exact epsilon, each by an event that it chooses itself."""
    epsilon, delta, runs = 1.0, 1e-5, 20_000
    predicted = bounds.attainable_bound(runs, epsilon, delta, 0.95)
    assert 0.0 < predicted < bounds.attainable_bound(10 * runs, epsilon, delta, 0.95) < epsilon
    mu, rng = gdp_mu(epsilon, delta), np.random.default_rng(0)
    found = [lower_bound(rng.normal(mu, 1.0, runs), rng.standard_normal(runs), delta, 0.95).epsilon for _ in range(40)]
    assert max(found) <= epsilon and abs(np.mean(found) - predicted) < 0.1
    assert bounds.attainable_bound(10_000, 0.06, delta, 0.95) == 0.0
    assert np.isinf(bounds.attainable_bound(9, np.inf, delta, 0.95))
    assert np.isnan(bounds.attainable_bound(9, np.nan, delta, 0.95))
