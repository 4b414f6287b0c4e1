"""Laws of the radius, also on Schatten balls: against integrals, limits and plain averages."""

import math

import numpy as np
import pytest
from scipy.special import gammaincc

from dpsco_bench.geometry.sets import singular_values
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw, SchattenLaw, cone_norms
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.registry import get_problem


def test_check_vector_of_the_chapter():
    law = RadialLaw(3, 1.0, 3.0, 1.0)
    assert (law.mean(), law.second_moment()) == pytest.approx((0.541542484, 0.338890310), abs=5e-10)


def test_tail_of_a_gamma_law():
    law = RadialLaw(3, 100.0, 0.0)
    for shift in (-0.01, 0.0, 0.02, 0.1):
        assert law.tail(shift) == pytest.approx(gammaincc(3, 3.0 + 100.0 * shift), rel=1e-9)
    assert law.tail(-0.5) == 1.0 and law.tail(2.0) == 0.0


def test_several_curvatures_are_a_mixture_by_mass():
    curvatures = np.array([1.0, 4.0, 9.0])
    each = [RadialLaw(4, 5.0, b) for b in curvatures]
    rho = (np.arange(200_000) + 0.5) / 200_000
    mass = np.array([np.mean(rho**3 * np.exp(-5.0 * rho - b * rho * rho)) for b in curvatures])
    wanted = np.sum(mass * [law.mean() for law in each]) / np.sum(mass)
    assert RadialLaw(4, 5.0, curvatures).mean() == pytest.approx(wanted, rel=1e-9)


def test_norms_of_directions():
    assert cone_norms(1.5, 4, 1.5) == pytest.approx(1.0, rel=1e-12)
    assert np.mean(cone_norms(2.0, 3, 1.0)) == pytest.approx(1.5, abs=0.01)  # 3 E|u_1| on the sphere in R^3
    assert np.mean(cone_norms(1.0, 2, 2.0) ** 2) == pytest.approx(2 / 3, abs=0.005)  # u_1 uniform on (0, 1)
    assert np.mean(cone_norms(np.inf, 5, 2.0) ** 2) == pytest.approx(1 + 4 / 3, abs=0.02)


@pytest.mark.parametrize(("k", "c"), [(30.0, 3.0), (200.0, 12.0), (5e3, 30.0), (1e6, 30.0), (4e4, 6e4)])
@pytest.mark.parametrize(("rows", "columns"), [(5, 1), (5, 2), (3, 3), (4, 3), (8, 4), (6, 5)])
def test_schatten_2_is_the_l2_ball(rows, columns, k, c):
    gap, error = SchattenLaw(rows, columns, 2.0, 2.0, k, c).mean_gap()
    assert abs(gap - AxisLaw(2.0, rows * columns, k, c).mean_gap()) < 4 * error
    assert error < 0.01 * gap or error == math.inf  # too few points count


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
    found, own_error = SchattenLaw(rows, columns, p, q, k, c).mean_gap()
    assert abs(found - gap) < 4 * math.hypot(error, own_error)
    assert abs(found - gap) < 0.02 * gap  # and the comparison is sharp


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
