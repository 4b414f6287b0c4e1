"""Predicted power: what audits of known losses do, and never more than that by much."""

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_bench.audit import bounds
from dpsco_bench.audit.bounds import attainable_bound, best_event, events
from dpsco_bench.privacy.accountants.gaussian import gdp_mu

from .test_bounds import gaussian_scores


def both_directions(scores, exact):
    """Events that are likelier on the first data set, and those on the second."""
    first, second = scores
    return events(first, second, exact), events(-second, -first, exact)


def power(scores, runs, claim, delta, exact=True):
    return max(bounds.predicted_power(found, runs, claim, delta, 0.95) for found in both_directions(scores, exact))


@pytest.mark.parametrize("exact", [True, False])
def test_without_a_loss_there_is_no_power(exact):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((2, 2000))
    assert power((scores[0] * 0, scores[1] * 0), 10_000, 0.1, 1e-5, exact) == 0
    assert exact or power(tuple(scores), 10_000, 0.5, 1e-5, exact) < 0.01


def test_runs_on_both_data_sets_tell_of_both_probabilities():
    """Of known Gaussian losses: within four standard errors of a count, and their ratio within a tenth."""
    mu = 1.0
    for seed in range(4):
        found = events(*gaussian_scores(np.random.default_rng(seed), mu, 2000), exact=True)
        truth = norm.sf(found.thresholds, 0.5 * mu * mu, mu), norm.sf(found.thresholds, -0.5 * mu * mu, mu)
        assert (np.abs(found.likely / truth[0] - 1.0) < 4.0 / np.sqrt(2000 * truth[0])).all()
        ratio = found.likely / found.unlikely * truth[1] / truth[0]
        assert np.abs(ratio - 1.0).max() < 0.1


def gaussian(mu):
    return lambda rng, runs: tuple(gaussian_scores(rng, mu, runs))


def subsampled(rate, mu, steps):
    """Log density ratios of Gaussian releases that each look at the record with some probability."""

    def scores(rng, runs):
        found = []
        for side in (1.0, 0.0):
            z = rng.standard_normal((runs, steps)) + side * mu * (rng.random((runs, steps)) < rate)
            found.append(np.log1p(rate * np.expm1(mu * z - mu * mu / 2)).sum(axis=1))
        return tuple(found)

    return scores


def atom(chance):
    """Seldom an output that only one data set has."""
    return lambda rng, runs: (
        np.where(rng.random(runs) < chance, np.inf, rng.standard_normal(runs)),
        rng.standard_normal(runs),
    )


FAMILY = 1 - 0.001 / 200
CASES = [
    (gaussian(0.59), True, 2000, 100_000, 1.0, 1e-5, FAMILY),  # of a recorded audit that was called hopeless
    (gaussian(0.59), False, 10_000, 100_000, 1.0, 1e-5, FAMILY),
    (gaussian(0.59), True, 2000, 100_000, 1.6, 1e-5, FAMILY),
    (gaussian(1.0), True, 2000, 4000, 1.4, 1e-3, 0.95),
    (gaussian(1.0), True, 2000, 4000, 1.9, 1e-3, 0.95),
    (subsampled(0.1, 1.0, 10), True, 2000, 10_000, 0.5, 1e-4, 0.95),
    (subsampled(0.1, 1.0, 10), True, 2000, 10_000, 1.2, 1e-4, 0.95),
    (atom(0.02), False, 2000, 10_000, 1.5, 1e-4, 0.95),
    (atom(0.02), False, 2000, 10_000, 4.5, 1e-4, 0.95),
]


@pytest.mark.parametrize(("scores", "exact", "pilot", "runs", "claim", "delta", "confidence"), CASES)
def test_prediction_and_simulation_agree(scores, exact, pilot, runs, claim, delta, confidence):
    """Within a tenth on average over pilots, beyond three standard errors of the simulation."""
    rng, predicted, refuted = np.random.default_rng(7), [], []
    for _ in range(8):
        there, back = both_directions(scores(rng, pilot), exact)
        one, other = (bounds.predicted_power(found, runs, claim, delta, confidence) for found in (there, back))
        predicted.append(1 - (1 - one) * (1 - other))
        first, second = (f.thresholds[best_event(f, runs, claim, delta, confidence)] for f in (there, back))
        for _ in range(3):
            bound = bounds.lower_bound(*scores(rng, runs), delta, confidence, thresholds=(first, -second))
            refuted.append(bound.epsilon > claim)
    share = np.mean(refuted)
    assert abs(np.mean(predicted) - share) <= 0.1 + 3 * np.sqrt(max(share * (1 - share), 0.01) / len(refuted))


def test_the_event_is_chosen_against_the_claim():
    """The largest expected bound may be too unsure; where no event has a chance, it is the choice all the same."""
    found = events(*gaussian_scores(np.random.default_rng(5), 0.59, 2000), exact=True)
    args = 100_000, 1e-5, FAMILY
    largest = np.argmax(bounds.expected_bounds(found.likely, found.unlikely, *args))
    hopeless = best_event(found, args[0], 50.0, *args[1:])
    assert hopeless == largest
    assert found.likely[best_event(found, args[0], 1.0, *args[1:])] >= found.likely[hopeless]


def test_what_normal_noise_shows_that_attains_an_epsilon_is_below_it_and_grows_with_the_runs():
    """Simulated: the mean of audits of normal noise at its exact epsilon, each by an event that it chooses itself."""
    epsilon, delta, runs = 1.0, 1e-5, 20_000
    predicted = attainable_bound(runs, epsilon, delta, 0.95)
    assert 0.0 < predicted < attainable_bound(10 * runs, epsilon, delta, 0.95) < epsilon
    mu, rng = gdp_mu(epsilon, delta), np.random.default_rng(0)
    found = [
        bounds.lower_bound(rng.normal(mu, 1.0, runs), rng.normal(0.0, 1.0, runs), delta, 0.95).epsilon
        for _ in range(40)
    ]
    assert max(found) <= epsilon and abs(np.mean(found) - predicted) < 0.1
    assert attainable_bound(10_000, 0.06, delta, 0.95) == 0.0 and np.isinf(attainable_bound(9, np.inf, delta, 0.95))
    assert np.isnan(attainable_bound(9, np.nan, delta, 0.95))
