import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import truncnorm

from dpsco_bench.papers.gopi2022.laws.quadrature import tilted_gap


def test_check_vectors_of_the_chapter():
    assert 1.0 - tilted_gap(12.0, 2.0) == pytest.approx(0.887196427794, rel=1e-12)
    worst = minimize_scalar(lambda a: -0.5 * a * float(tilted_gap(a, 1.0)), bounds=(1.0, 10.0), method="bounded")
    assert (worst.x, -worst.fun) == pytest.approx((4.24, 0.63887), abs=6e-3)
    assert -worst.fun == pytest.approx(0.63887, abs=5e-6)


def test_no_cancellation_at_strong_tilts():
    a = np.array([1e4, 1e8, 1e12])
    assert 0.5 * a * tilted_gap(a, 1.0) == pytest.approx(0.5 + 1.0 / a, rel=1e-7)


@pytest.mark.parametrize("sd", [0.05, 0.5, 3.0])
def test_against_scipy_where_it_is_exact(sd):
    mean = np.array([-1.5, -0.4, 0.0, 0.3, 0.9, 1.6])
    ends = (-2.0 - mean) / sd, (2.0 - mean) / sd
    assert 2.0 - tilted_gap(mean / sd**2, 0.5 / sd**2, 2.0) == pytest.approx(truncnorm.mean(*ends, mean, sd), rel=1e-9)


def test_both_ends():
    slope, curvature = np.array([-7.0, 0.0, 2.0, 80.0]), 3.0
    gap = tilted_gap(slope, curvature, 1.5)
    assert gap + tilted_gap(-slope, curvature, 1.5) == pytest.approx(3.0, rel=1e-13)
    assert np.all(np.diff(gap) < 0)
