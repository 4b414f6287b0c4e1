"""The law on Schatten balls against the l_2 ball, limits, and plain averages over a ball."""

import math

import numpy as np
import pytest

from dpsco_bench.geometry.sets import singular_values
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.radial import SchattenLaw
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.registry import get_problem


@pytest.mark.parametrize(("k", "c"), [(30.0, 3.0), (200.0, 12.0), (5e3, 30.0), (1e6, 30.0), (4e4, 6e4)])
@pytest.mark.parametrize(("rows", "columns"), [(5, 1), (5, 2), (3, 3), (4, 3), (8, 4), (6, 5)])
def test_schatten_2_is_the_l2_ball(rows, columns, k, c):
    law = SchattenLaw(rows, columns, 2.0, 2.0, k, c)
    if law.effective_points() < 1000:
        assert law.mean_gap_error() == math.inf
        return
    assert abs(law.mean_gap() - AxisLaw(2.0, rows * columns, k, c).mean_gap()) < 4 * law.mean_gap_error()
    assert law.mean_gap_error() < 0.01 * law.mean_gap()


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.6), (1.5, 1.5), (4.0, 2.0)])
@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 2)])
def test_averages_over_the_ball(p, q, rows, columns):
    k, c, size, d = 8.0, 2.0, 400_000, rows * columns
    rng = np.random.default_rng(3)
    x = rng.standard_normal((size, d))
    x *= (rng.random(size) ** (1 / d) * max(1.0, columns ** (0.5 - 1 / p)) / np.linalg.norm(x, axis=1))[:, None]
    values = singular_values(x, columns)
    inside = np.linalg.norm(values, ord=p, axis=1) <= 1
    weights = np.exp(k * x[:, 0] - c * np.linalg.norm(values, ord=q, axis=1) ** 2)[inside]
    weights /= weights.sum()
    gap = np.sum(weights * (1 - x[inside, 0]))
    error = math.sqrt(np.sum((weights * (1 - x[inside, 0] - gap)) ** 2))
    law = SchattenLaw(rows, columns, p, q, k, c)
    assert abs(law.mean_gap() - gap) < 4 * math.hypot(error, law.mean_gap_error())
    assert abs(law.mean_gap() - gap) < 0.02 * gap  # and the comparison is sharp


def test_the_radial_mean_lies_in_the_middle_of_its_bracket():
    """p = 4: between the two values of the regulariser on the sphere, and within the stated error of an average."""
    k, mu, size = 60.0, 0.005, 400_000
    problem = get_problem("schatten_radial", 4, p=4.0, columns=2).at(100, 1.0, 1e-6)
    rng = np.random.default_rng(5)
    x = rng.standard_normal((size, 4))
    x *= (rng.random(size) ** 0.25 * 2**0.25 / np.linalg.norm(x, axis=1))[:, None]
    sizes = np.linalg.norm(singular_values(x, 2), ord=4, axis=1)
    u = (x / sizes[:, None])[sizes <= 1]
    norms = np.linalg.norm(u, axis=1)
    assert 1.0 <= norms.min() < 1.001 and 2**0.25 - 1e-3 < norms.max() <= 2**0.25 + 1e-12
    rho = rng.standard_gamma(4, len(u)) / k
    weights = np.exp(-k * mu * NormRegulariser(4.0, 2, True).coefficient * (rho * norms) ** 2) * (rho < 1)
    mean = np.sum(weights * rho) / np.sum(weights)
    assert problem.mean_excess(k, mu) == pytest.approx(mean, rel=5e-3)
