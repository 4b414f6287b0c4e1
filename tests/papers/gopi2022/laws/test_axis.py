import math

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import brentq
from scipy.special import ive

from dpsco_bench.papers.gopi2022.laws.axis import (
    AxisLaw,
    AxisNeighbours,
    PlanarPair,
    PlaneDensity,
    gap_table,
    pair_epsilon,
)


def test_check_vectors_of_the_chapter():
    law = AxisLaw(1.5, 3, 5.0, 3.0)
    assert (law.mean(), law.variance()) == pytest.approx((0.4688802, 0.0740627), abs=5e-8)
    law = AxisLaw(2.0, 2, 5.0, 2.0)
    assert (law.mean(), law.variance()) == pytest.approx((0.626620046717, 0.0675238867867), rel=2e-12)


def bessel_radial(d, kap, c):
    """Mean of x_1 on the Euclidean ball from the radial integral of Bessel functions."""
    r, w = np.polynomial.legendre.leggauss(400)
    r, w = 0.5 * (r + 1.0), 0.5 * w
    shell = np.exp(kap * (r - 1.0) - c * r * r) * w * r ** (0.5 * d)
    return np.sum(shell * r * ive(0.5 * d, kap * r)) / np.sum(shell * ive(0.5 * d - 1, kap * r))


@pytest.mark.parametrize(("d", "kap", "c"), [(2, 0.2, 2.0), (4, 7.0, 9.0), (16, 200.0, 16.0), (64, 30.0, 64.0)])
def test_with_curvature_against_bessel_integrals(d, kap, c):
    assert AxisLaw(2.0, d, kap, c).mean() == pytest.approx(bessel_radial(d, kap, c), rel=1e-11)


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


def test_the_sign_of_the_tilt_mirrors_the_law():
    right, left = AxisLaw(1.5, 4, 6.0, 4.0), AxisLaw(1.5, 4, -6.0, 4.0)
    assert left.mean() == pytest.approx(-right.mean(), rel=1e-14)
    assert left.variance() == pytest.approx(right.variance(), rel=1e-12)
    assert left.tail(0.3) == pytest.approx(1.0 - right.tail(-0.3), rel=1e-10)
    assert AxisLaw(1.5, 4, 0.0, 4.0).mean() == pytest.approx(0.0, abs=1e-15)


def test_the_derivative_of_the_log_normaliser_is_the_mean_and_of_the_mean_the_variance():
    step = 1e-4
    low, at, high = (AxisLaw(1.3, 6, 9.0 + k * step, 5.0) for k in (-1, 0, 1))
    assert (high.log_normaliser() - low.log_normaliser()) / (2 * step) == pytest.approx(at.mean(), rel=1e-7)
    assert (high.mean() - low.mean()) / (2 * step) == pytest.approx(at.variance(), rel=1e-6)


@pytest.mark.parametrize(
    ("p", "d", "c", "reach"), [(1.5, 2, 40.0, 300.0), (1.5, 2, 5e4, 4e5), (1.04, 16, 2e3, 1e5), (2.0, 64, 70.0, 1e3)]
)
def test_tables_agree_with_the_laws(p, d, c, reach):
    table = gap_table(p, d, c, reach)
    kaps = reach * np.random.default_rng(0).uniform(-1.0, 1.0, 60) ** 3
    exact = np.array([AxisLaw(p, d, float(kap), c).mean_gap() for kap in kaps])
    assert np.abs(table(kaps) - exact).max() < 1e-6
    assert gap_table(p, d, c, reach) is table


# the exact privacy of a draw: the worst pair of neighbouring data sets on an axis, and pairs in a plane


def test_the_pair_next_to_it_by_a_plain_double_integral():
    """d = 2, p = 1.5: tails of both laws over the disc, without any of the house's quadrature."""
    laws, delta = AxisNeighbours(1.5, 2, 2.0, 60.0, 40), 1e-3
    small, large = (float(tilt[0]) for tilt in laws.tilts(np.array([1.0])))

    def mass(tilt, start, end):
        def density(y, x):
            return math.exp(tilt * (x - 1) - 2.0 * (abs(x) ** 1.5 + y**1.5) ** (4 / 3))

        return dblquad(density, start, end, 0, lambda x: (1 - abs(x) ** 1.5) ** (2 / 3), epsabs=0, epsrel=1e-9)[0]

    whole = [mass(tilt, -1, 0) + mass(tilt, 0, 1) for tilt in (small, large)]

    def excess(epsilon):
        at = min(1.0, (epsilon + math.log(whole[1] / whole[0])) / (large - small) + 1.0)
        right = mass(large, at, 1) / whole[1] - math.exp(epsilon) * mass(small, at, 1) / whole[0]
        at = max(-1.0, (math.log(whole[1] / whole[0]) - epsilon) / (large - small) + 1.0)
        left = mass(small, -1, at) / whole[0] - math.exp(epsilon) * mass(large, -1, at) / whole[1]
        return max(right, left) - delta

    found = brentq(excess, 0.5, 5.0, xtol=1e-6)
    pair = AxisLaw(1.5, 2, small, 2.0), AxisLaw(1.5, 2, large, 2.0)
    assert pair_epsilon(*pair, delta) == pytest.approx(found, rel=1e-5)
    assert laws.epsilon(delta) >= found * (1 - 1e-6)


@pytest.mark.parametrize(
    "arguments",
    [(1.5, 4, 4.0, 5), (1.05, 3, 8.0, 4), (2.0, 1, 0.7, 6), (2.0, 10, 600.0, 4), (1.2, 2, 0.0, 2), (1.5, 2, 3.0, 1)],
)
def test_all_pairs_one_by_one(arguments):
    p, d, c, n = arguments
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
