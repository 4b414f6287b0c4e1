"""Laws of the chapter's draws: quadrature, radii, also on Schatten balls, and privacy along an axis and in a plane."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaincc, ive
from scipy.stats import binom, multinomial, truncnorm

from dpsco_bench.geometry.sets import singular_values
from dpsco_bench.papers.gopi2022.laws import axis, quadrature
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw, AxisNeighbours, PlanarPair, PlaneDensity, pair_epsilon
from dpsco_bench.papers.gopi2022.laws.quadrature import DEPTH, bracket, double_exponential, gauss_legendre, tilted_gap
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw, SchattenLaw, cone_norms
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.problems.registry import get_problem


def test_rules_integrate_what_they_are_for():
    nodes, weights = gauss_legendre(20)
    assert np.sum(weights * nodes**39) == pytest.approx(1 / 40, rel=1e-13)
    lower, upper, weights = double_exponential(101)
    assert np.sum(weights * lower**-0.4) == pytest.approx(1 / 0.6, rel=1e-9)
    assert np.sum(weights * lower**-0.25 * upper**0.5) == pytest.approx(0.9585121877884736, rel=1e-12)  # Beta(3/4, 3/2)
    assert np.allclose(lower + upper, 1.0, rtol=0, atol=1e-15) and upper[-1] < 1e-17


@pytest.mark.parametrize(("mode", "scale"), [(0.3, 1e-7), (0.0, 1e-12), (1.0, 1e-3), (0.5, 10.0)])
def test_bracket_holds_the_mass_and_little_else(mode, scale):
    low, high = bracket(lambda x: -(((x - mode) / scale) ** 2), 0.0, 1.0)
    reach = scale * np.sqrt(DEPTH)
    assert low <= max(0.0, mode - 0.99 * reach) and high >= min(1.0, mode + 0.99 * reach)
    assert high - low <= min(1.0, 4.0 * reach)


@pytest.mark.parametrize(("n", "chance"), [(1, 0.3), (7, 0.9), (1000, 0.5), (256_000, 0.51)])
def test_without_zeros_a_binomial_law(n, chance):
    values, law = quadrature.signed_count_law(n, chance, 1.0 - chance)
    heads = (values + n) / 2
    wanted = np.where(heads == np.floor(heads), binom.pmf(np.floor(heads), n, chance), 0.0)
    assert np.abs(law - wanted).max() <= 1e-9 * wanted.max()


def test_against_the_multinomial_law():
    values, law = quadrature.signed_count_law(12, 0.2, 0.5)
    wanted = {s: 0.0 for s in range(-12, 13)}
    for plus in range(13):
        for minus in range(13 - plus):
            wanted[plus - minus] += multinomial.pmf([plus, minus, 12 - plus - minus], 12, [0.2, 0.5, 0.3])
    assert [law[values == s].sum() for s in wanted] == pytest.approx(list(wanted.values()), abs=1e-14)


def test_check_vectors_of_the_truncated_normal():
    """Without cancellation at strong tilts."""
    assert 1.0 - tilted_gap(12.0, 2.0) == pytest.approx(0.887196427794, rel=1e-12)
    worst = minimize_scalar(lambda a: -0.5 * a * float(tilted_gap(a, 1.0)), bounds=(1.0, 10.0), method="bounded")
    assert (worst.x, -worst.fun) == pytest.approx((4.24, 0.63887), abs=6e-3)
    assert -worst.fun == pytest.approx(0.63887, abs=5e-6)
    a = np.array([1e4, 1e8, 1e12])
    assert 0.5 * a * tilted_gap(a, 1.0) == pytest.approx(0.5 + 1.0 / a, rel=1e-7)


@pytest.mark.parametrize("sd", [0.025, 0.25, 1.5])
def test_against_scipy_where_it_is_exact(sd):
    mean = np.array([-0.7, -0.2, 0.0, 0.15, 0.45, 0.8])
    ends = (-1.0 - mean) / sd, (1.0 - mean) / sd
    assert 1.0 - tilted_gap(mean / sd**2, 0.5 / sd**2) == pytest.approx(truncnorm.mean(*ends, mean, sd), rel=1e-9)


def test_laws_of_the_radius():
    law = RadialLaw(3, 1.0, 3.0, 1.0)
    assert (law.mean(), law.second_moment()) == pytest.approx((0.541542484, 0.338890310), abs=5e-10)
    law = RadialLaw(3, 100.0, 0.0)
    for shift in (-0.01, 0.0, 0.02, 0.1):
        assert law.tail(shift) == pytest.approx(gammaincc(3, 3.0 + 100.0 * shift), rel=1e-9)
    assert law.tail(-0.5) == 1.0 and law.tail(2.0) == 0.0
    curvatures = np.array([1.0, 4.0, 9.0])
    each = [RadialLaw(4, 5.0, b) for b in curvatures]
    rho = (np.arange(200_000) + 0.5) / 200_000
    mass = np.array([np.mean(rho**3 * np.exp(-5.0 * rho - b * rho * rho)) for b in curvatures])
    wanted = np.sum(mass * [law.mean() for law in each]) / np.sum(mass)
    assert RadialLaw(4, 5.0, curvatures).mean() == pytest.approx(wanted, rel=1e-9)
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


def test_check_vectors_signs_and_derivatives_along_an_axis():
    law = AxisLaw(1.5, 3, 5.0, 3.0)
    assert (law.mean(), law.variance()) == pytest.approx((0.4688802, 0.0740627), abs=5e-8)
    law = AxisLaw(2.0, 2, 5.0, 2.0)
    assert (law.mean(), law.variance()) == pytest.approx((0.626620046717, 0.0675238867867), rel=2e-12)
    # The sign of the tilt mirrors it; derivatives of the log normaliser are mean and variance.
    right, left = AxisLaw(1.5, 4, 6.0, 4.0), AxisLaw(1.5, 4, -6.0, 4.0)
    assert left.mean() == pytest.approx(-right.mean(), rel=1e-14)
    assert left.variance() == pytest.approx(right.variance(), rel=1e-12)
    assert left.tail(0.3) == pytest.approx(1.0 - right.tail(-0.3), rel=1e-10)
    assert AxisLaw(1.5, 4, 0.0, 4.0).mean() == pytest.approx(0.0, abs=1e-15)
    step = 1e-4
    low, at, high = (AxisLaw(1.3, 6, 9.0 + k * step, 5.0) for k in (-1, 0, 1))
    assert (high.log_normaliser() - low.log_normaliser()) / (2 * step) == pytest.approx(at.mean(), rel=1e-7)
    assert (high.mean() - low.mean()) / (2 * step) == pytest.approx(at.variance(), rel=1e-6)


@pytest.mark.parametrize(("d", "kap", "c"), [(2, 0.2, 2.0), (4, 7.0, 9.0), (16, 200.0, 16.0), (64, 30.0, 64.0)])
def test_with_curvature_against_bessel_integrals(d, kap, c):
    """The mean of x_1 on the Euclidean ball from radial integrals."""
    r, w = np.polynomial.legendre.leggauss(400)
    r, w = 0.5 * (r + 1.0), 0.5 * w
    shell = np.exp(kap * (r - 1.0) - c * r * r) * w * r ** (0.5 * d)
    expected = np.sum(shell * r * ive(0.5 * d, kap * r)) / np.sum(shell * ive(0.5 * d - 1, kap * r))
    assert AxisLaw(2.0, d, kap, c).mean() == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("p", [1.0, 1.2, 1.5, 1.9])
def test_against_a_grid_in_the_plane(p):
    kap, c = 3.0, 2.5
    first, second = np.meshgrid(*((np.arange(m) + 0.5) / (0.5 * m) - 1.0 for m in (4000, 3001)), indexing="ij")
    power = np.abs(first) ** p + np.abs(second) ** p
    density = np.where(power <= 1.0, np.exp(kap * first - c * power ** (2.0 / p)), 0.0)
    assert AxisLaw(p, 2, kap, c).mean() == pytest.approx(np.sum(first * density) / np.sum(density), abs=3e-5)


@pytest.mark.parametrize("p", [1.0, 1.2, 1.5, 2.0])
@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_strong_tilts_keep_their_digits(p, d):
    # near the vertex: Gamma laws of 1 - x_1 and of the rest, so that kap (1 - x_1) has mean 1 + (d-1)/p
    kap = 1e13 * d
    assert AxisLaw(p, d, kap, 1.0).mean_gap() * kap == pytest.approx(1.0 + (d - 1) / p, rel=1e-6)


@pytest.mark.parametrize(
    ("p", "d", "c", "reach"), [(1.5, 2, 40.0, 300.0), (1.5, 2, 5e4, 4e5), (1.04, 16, 2e3, 1e5), (2.0, 64, 70.0, 1e3)]
)
def test_tables_agree_with_the_laws(p, d, c, reach):
    table = axis.gap_table(p, d, c, reach)
    kaps = reach * np.random.default_rng(0).uniform(-1.0, 1.0, 60) ** 3
    exact = np.array([AxisLaw(p, d, float(kap), c).mean_gap() for kap in kaps])
    assert np.abs(table(kaps) - exact).max() < 1e-6
    assert axis.gap_table(p, d, c, reach) is table


def test_the_pair_next_to_it_by_a_plain_sum_over_slices():
    """d = 2, p = 1.5: both densities of x_1 over the disc, without any of the house's quadrature."""
    laws, delta = AxisNeighbours(1.5, 2, 2.0, 60.0, 40), 1e-3
    tilts = [float(tilt[0]) for tilt in laws.tilts(np.array([1.0]))]
    x = (np.arange(40_000)[:, None] + 0.5) / 20_000 - 1.0
    power, (u, w) = np.abs(x) ** 1.5, np.polynomial.legendre.leggauss(60)
    height = (1.0 - power) ** (2 / 3)
    slices = height[:, 0] * (np.exp(-2.0 * (power + (0.5 * height * (u + 1.0)) ** 1.5) ** (4 / 3)) @ w)
    one, two = (np.exp(tilt * (x[:, 0] - 1.0)) * slices for tilt in tilts)
    one, two = one / one.sum(), two / two.sum()

    def reached(epsilon):
        return max(np.maximum(p - math.exp(epsilon) * q, 0.0).sum() for p, q in ((one, two), (two, one)))

    found = pair_epsilon(*(AxisLaw(1.5, 2, tilt, 2.0) for tilt in tilts), delta)
    assert reached(found * (1 - 1e-5)) > delta > reached(found * (1 + 1e-5))
    assert laws.epsilon(delta) >= found * (1 - 1e-6)


PAIRS = [(1.5, 4, 4.0, 5), (1.05, 3, 8.0, 4), (2.0, 1, 0.7, 6), (2.0, 10, 600.0, 4), (1.2, 2, 0.0, 2), (1.5, 2, 3.0, 1)]


@pytest.mark.parametrize(("p", "d", "c", "n"), PAIRS)
def test_all_pairs_one_by_one(p, d, c, n):
    laws = AxisNeighbours(p, d, c, 8.0, n)
    means = 8.0 * np.linspace(-1, 1, n + 1)
    every = [AxisLaw(p, d, float(kap), c) for kap in means]
    worst = max(pair_epsilon(*pair, 0.01) for pair in zip(every[1:], every[:-1], strict=True))
    assert laws.epsilon(0.01) == pytest.approx(worst, abs=2e-7)
    assert laws.centre_epsilon(0.01) <= worst * (1 + 1e-8)


@pytest.mark.parametrize(("p", "d", "c"), [(1.5, 4, 4.0), (1.05, 3, 9.0), (1.5, 2, 300.0), (1.8, 40, 60.0)])
def test_along_an_axis_it_is_the_law_of_the_axis(p, d, c):
    middle, change, delta = 0.8 * c, 1.7 * math.sqrt(c), 1e-4
    axis = pair_epsilon(*(AxisLaw(p, d, middle + sign * change / 2, c) for sign in (1, -1)), delta)
    found = PlanarPair(PlaneDensity(p, d, c), (middle, 0.0), (change, 0.0)).epsilon(delta)
    assert found == pytest.approx(axis, rel=1e-6)


@pytest.mark.parametrize("p", [1.05, 1.5])
def test_off_the_axis_by_a_plain_sum_over_a_grid(p):
    """d = 2, mean along (1, 1), change along (1, -1): log ratios and masses of points, sorted into tails."""
    c, delta = 40.0, 1e-3
    tilt, change = (25.0, 25.0), (9.0, -9.0)
    x = np.linspace(-1, 1, 4001)
    first, second = np.meshgrid(x, x, sparse=True)
    power = np.abs(first) ** p + np.abs(second) ** p
    middle = np.where(power < 1, tilt[0] * first + tilt[1] * second - c * np.minimum(power, 1) ** (2 / p), -np.inf)
    half = 0.5 * (change[0] * first + change[1] * second)
    one, two = (np.exp(middle + sign * half - middle.max()) for sign in (1, -1))
    one, two = one / one.sum(), two / two.sum()

    def reached(epsilon):
        return np.maximum(one - math.exp(epsilon) * two, 0).sum()

    found = PlanarPair(PlaneDensity(p, 2, c), tilt, change).epsilon(delta)
    assert reached(0.999 * found) > delta > reached(1.001 * found)
