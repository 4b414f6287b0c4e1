"""Choices of an audit: the event that refutes the claim most often, and scores by learned covariances."""

import numpy as np
import pytest

from dpsco_bench.audit.auditor import normal_sides
from dpsco_bench.audit.bounds import best_event, clopper_pearson_lower, clopper_pearson_upper, events

from .test_bounds import gaussian_scores


@pytest.mark.parametrize(("mu", "runs", "claim"), [(0.59, 100_000, 1.24), (1.0, 100_000, 2.34), (2.0, 4000, 3.17)])
def test_no_event_refutes_a_claim_much_more_often_than_the_chosen_one(mu, runs, claim):
    found, rng = events(*gaussian_scores(np.random.default_rng(5), mu, 2000), exact=True), np.random.default_rng(6)
    tested, error, size = round(0.7 * runs), 0.05 / 8, (2000, len(found.likely))
    low = clopper_pearson_lower(rng.binomial(tested, found.likely, size), tested, error)
    high = clopper_pearson_upper(rng.binomial(tested, found.unlikely, size), tested, error)
    refuted = np.mean(low - 1e-5 > np.exp(claim) * high, axis=0)
    assert 0.1 < refuted.max() < refuted[best_event(found, runs, claim, 1e-5, 0.95)] + 0.05


def test_covariances_are_learned_from_ten_outputs_a_dimension():
    rng = np.random.default_rng(0)
    few, enough, wide = (rng.standard_normal(shape) for shape in ((29, 3), (30, 3), (5000, 65)))
    assert normal_sides(few, enough) is normal_sides(enough, few) is normal_sides(wide, wide) is None
    for mean, inverse in normal_sides(enough, 2.0 * enough + 1.0):
        assert mean.shape == (3,) and inverse.shape == (3, 3)
