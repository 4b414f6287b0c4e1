import math

import numpy as np
import pytest
from scipy import stats

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.accountants.generalised import CoordinateSurvival, counting_epsilon
from dpsco_bench.privacy.accountants.single_index import opposed_epsilon
from dpsco_bench.rng.streams import Stream, stream_key


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


def test_no_change_and_ranges():
    assert counting_epsilon(0.0, 3, 3.0, 2, 1e-6) == 0.0
    assert counting_epsilon(1e-3, 1, 3.0, 2, 1e-2) == 0.0
    for arguments in ((-1.0, 1, 2.0, 1, 0.1), (1.0, 0, 2.0, 1, 0.1), (1.0, 1, 2.0, 0, 0.1), (1.0, 1, 2.0, 1, 0.0)):
        with pytest.raises(InputError):
            counting_epsilon(*arguments)
