import numpy as np
import pytest
from scipy.stats import beta, kstest

from dpsco_bench.papers.gopi2022.samplers.truncated import cone_lp

ROWS = 200_000


@pytest.mark.parametrize(("p", "d"), [(1.0, 3), (1.5, 4), (2.0, 5), (4.0, 2), (np.inf, 3)])
def test_points_lie_on_the_sphere_with_either_sign(draws, score, p, d):
    u = cone_lp(draws(ROWS), "cone", 0, p, d)
    np.testing.assert_allclose(np.linalg.norm(u, ord=p, axis=1), 1.0, rtol=1e-12)
    assert score(u[:, 0], 0.0) < 4 and score(u[:, 0] * u[:, 1], 0.0) < 4


@pytest.mark.parametrize(("p", "d"), [(1.0, 3), (1.5, 4), (2.0, 5), (4.0, 3)])
def test_coordinates_have_the_law_of_the_cone_measure(draws, score, p, d):
    """``|u_1|^p`` is Beta(1/p, (d - 1)/p), with mean 1/d (check vector: p = 1.5, d = 4)."""
    power = np.abs(cone_lp(draws(ROWS), "cone", 0, p, d)[:, 0]) ** p
    assert score(power, 1.0 / d) < 4
    assert kstest(power, beta(1.0 / p, (d - 1.0) / p).cdf).pvalue > 1e-3
    assert kstest(power, beta(1.1 / p, (d - 1.0) / p).cdf).pvalue < 1e-3


def test_the_largest_entry_of_a_cube_point_is_anyone(draws):
    u = cone_lp(draws(ROWS), "cone", 0, np.inf, 4)
    counts = np.bincount(np.argmax(np.abs(u), axis=1), minlength=4)
    assert np.abs(counts - ROWS / 4).max() < 5 * np.sqrt(ROWS * 3 / 16)
    others = np.sort(np.abs(u), axis=1)[:, :3].ravel()
    assert kstest(others, "uniform").pvalue > 1e-3
