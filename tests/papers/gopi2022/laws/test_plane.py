"""Pairs of data sets in a plane: against the axis, a plain sum over a grid, and the ledger of errata."""

import math

import numpy as np
import pytest

from dpsco_bench.claims.catalogue import load_errata
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.plane import PlanarPair, PlaneDensity, planar_epsilon
from dpsco_bench.papers.gopi2022.laws.privacy_curve import pair_epsilon
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.temperature import Temperature


@pytest.mark.parametrize(("p", "d", "c"), [(1.5, 4, 4.0), (1.05, 3, 9.0), (1.5, 2, 300.0), (1.8, 40, 60.0)])
def test_along_an_axis_it_is_the_law_of_the_axis(p, d, c):
    middle, change, delta = 0.8 * c, 1.7 * math.sqrt(c), 1e-4
    axis = pair_epsilon(*(AxisLaw(p, d, middle + sign * change / 2, c) for sign in (1, -1)), delta)
    found = PlanarPair(PlaneDensity(p, d, c), (middle, 0.0), (change, 0.0)).epsilon(delta)
    assert found == pytest.approx(axis, rel=1e-6)


def test_a_euclidean_ball_has_no_direction():
    plane, turned = PlaneDensity(2.0, 5, 7.0), np.array([math.cos(0.7), math.sin(0.7)])
    values = [PlanarPair(plane, tuple(3 * u), tuple(2 * u)).epsilon(1e-4) for u in (np.array([1.0, 0.0]), turned)]
    assert values[1] == pytest.approx(values[0], rel=1e-7)


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


def planar(rule, p, d, claim, delta, n=10_000):
    """Epsilon of the printed schedule, S = G = 1, and the bound of Theorem 2 with the true S = 2."""
    t, coefficient = claim / math.sqrt(2 * math.log(0.5 / delta)), 0.5 / (p - 1)
    k, mu = Temperature(rule, n, d, 1.0, 1.0, theta=coefficient).at(1.0 / t)
    return planar_epsilon(p, d, k * mu * coefficient, k, n, delta), gdp_epsilon(2 * t, delta)


@pytest.mark.parametrize(
    ("rule", "p", "d", "cells", "share"),
    [
        ("sco", 1.5, 4, {"1.677": (1, 1e-5), "8.310": (4, 1e-5), "19.93": (8, 1e-5)}, 0.995),
        ("sco", 1.2, 2, {"1.664": (1, 1e-5)}, 0.98),
        ("sco", 1.05, 2, {"1.600": (1, 1e-5)}, 0.93),
        ("erm", 1.5, 4, {"0.946": (1, 1e-5), "4.309": (4, 1e-5), "9.382": (8, 1e-5), "4.199": (4, 1e-6)}, 0.46),
    ],
)
def test_numbers_of_the_ledger(rule, p, d, cells, share):
    text = load_errata("gopi2022")[0].calculation
    for written, (claim, delta) in cells.items():
        found, bound = planar(rule, p, d, claim, delta)
        digits = len(written.partition(".")[2])
        assert written in text and math.floor(found * 10**digits) / 10**digits == float(written)
        assert share * bound < found <= bound
