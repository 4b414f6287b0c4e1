"""Pairs of data sets in a plane: against the axis, a plain sum over a grid, and the ledger of errata."""

import math

import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw, pair_epsilon
from dpsco_bench.papers.gopi2022.laws.neighbours import PlanarPair, PlaneDensity


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
