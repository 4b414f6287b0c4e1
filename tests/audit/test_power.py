"""Predicted power: what audits of known losses do, and never more than that by much."""

import numpy as np
import pytest

from dpsco_bench.audit.bounds import lower_bound
from dpsco_bench.audit.power import both_directions, events, expected_bound, predicted_power

from .test_bounds import gaussian_scores


def power(scores, runs, claim, delta, exact=True):
    return max(predicted_power(found, runs, claim, delta, 0.95) for found in both_directions(scores, exact))


@pytest.mark.parametrize("exact", [True, False])
def test_without_a_loss_there_is_no_power(exact):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((2, 2000))
    assert power((scores[0] * 0, scores[1] * 0), 10_000, 0.1, 1e-5, exact) == 0
    assert exact or power(tuple(scores), 10_000, 0.5, 1e-5, exact) < 0.01


@pytest.mark.parametrize(("mu", "claim"), [(0.5, 1.0), (1.0, 1.0), (1.0, 1.6), (2.0, 2.0), (2.0, 4.0)])
def test_it_is_the_share_of_audits_that_refute(mu, claim):
    """Of Gaussian losses: never above the share by more than a third, and near 1 where nearly all do."""
    rng, runs, delta = np.random.default_rng(1), 4000, 1e-3
    share = np.mean([lower_bound(*gaussian_scores(rng, mu, runs), delta).epsilon > claim for _ in range(60)])
    found = power(tuple(gaussian_scores(rng, mu, 2000)), runs, claim, delta)
    assert found <= share + 1 / 3
    assert found >= 0.9 or claim > 0.5 * mu * mu


def test_rare_events_have_the_probability_that_losses_give_them():
    rng = np.random.default_rng(2)
    p, q = gaussian_scores(rng, 2.0, 4000)
    known, counted = events(p, q, exact=True), events(p, q, exact=False)
    assert known.unlikely.min() < 0.1 * counted.unlikely.min()
    assert expected_bound(known, 1_000_000, 1e-5, 0.95) > expected_bound(counted, 1_000_000, 1e-5, 0.95)


def test_probabilities_are_told_with_a_standard_error():
    """The likely one less, the unlikely one more."""
    p, q = gaussian_scores(np.random.default_rng(4), 1.0, 2000)
    found = events(p, q, exact=True)
    shares = np.array([np.mean(p >= t) for t in found.thresholds])
    weights = np.array([np.mean(np.exp(-p) * (p >= t)) for t in found.thresholds]) / np.mean(np.exp(-p))
    rare = shares < 0.5
    error = np.sqrt((1 - shares) / (shares * len(p)))
    assert (found.likely < shares).all()
    np.testing.assert_allclose(found.unlikely[rare], (weights * (1 + error))[rare])


def test_scores_that_are_no_densities_are_counted():
    """``E exp(-score)`` far from 1 tells."""
    rng = np.random.default_rng(3)
    p, q = rng.standard_normal((2, 1000)) + np.array([[5.0], [5.0]])
    np.testing.assert_array_equal(events(p, q, exact=True).unlikely, events(p, q, exact=False).unlikely)
