"""Batches of a fixed size: the bound against all small mechanisms, attained pairs, simulation, limits and solutions."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.accountants.fixed_size import (
    CopiesBound,
    batch_epsilon,
    least_scale,
    pessimistic_copies_losses,
    pessimistic_subset_losses,
)
from dpsco_bench.privacy.accountants.pld import GaussianPair
from dpsco_bench.privacy.accountants.single_index import opposed_epsilon

DELTA = 1e-6
ORDERS = (0.4, 0.8, 1.0, 1.05, 1.3, 2.0, 5.0)


def divergences(losses):
    """Hockey-stick divergences of a discretised loss at the orders."""
    values = losses.spacing * np.arange(losses.first, losses.first + len(losses.masses))
    return [losses.infinite + np.maximum(0.0, 1.0 - a * np.exp(-values)) @ losses.masses for a in ORDERS]


def batches(records, size, replacement):
    """Sums ``(batches, d)`` of all equally likely batches of records ``(n, d)``."""
    chosen = itertools.product(records, repeat=size) if replacement else itertools.combinations(records, size)
    return np.array([np.sum(batch, axis=0) for batch in chosen])


def true_divergences(first, second, sigma):
    """Divergences of two mixtures of normals about the centres ``(k, d)``, d = 1 or 2, by summation on a fine grid."""
    d = first.shape[1]
    axis = np.linspace(-9.0, 9.0, 4001 if d == 1 else 301) * sigma + (0.0 if d == 1 else 1e-3)
    points = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)
    cell = (axis[1] - axis[0]) ** d

    def density(centres):
        return np.mean([np.prod(norm.pdf(points, c, sigma), axis=1) for c in centres], axis=0)

    p, q = density(first) * cell, density(second) * cell
    return [np.maximum(p - a * q, 0.0).sum() for a in ORDERS]


def bound_divergences(shift, population, size, replacement):
    if replacement:
        return divergences(pessimistic_copies_losses(CopiesBound.of(shift, population, size, 1e-15), 1e-3, 1e-13))
    return divergences(pessimistic_subset_losses(GaussianPair(shift, size / population, False), 1e-3, 1e-13))


@pytest.mark.parametrize("sigma", [0.7, 2.0])
@pytest.mark.parametrize(("n", "size", "replacement"), [(3, 1, False), (3, 2, False), (2, 2, True), (3, 2, True)])
def test_no_data_on_a_line_beat_the_bound(n, size, replacement, sigma):
    """All records in [-1, 1] from a grid; the largest divergence of one release at every order, both ways round."""
    values = np.array([-1.0, -0.6, 0.0, 0.6, 1.0])
    bound = np.array(bound_divergences(2.0 / sigma, n, size, replacement))
    largest = np.zeros(len(ORDERS))
    for others in itertools.combinations_with_replacement(values, n - 1):
        for x, other in itertools.permutations(values, 2):
            sums = [batches(np.array([[r], *[[y] for y in others]]), size, replacement) for r in (x, other)]
            largest = np.maximum(largest, true_divergences(*sums, sigma))
    assert np.all(largest <= bound * (1.0 + 1e-5) + 1e-9)
    if not replacement:  # attained, in one order of the pair or the other
        np.testing.assert_allclose(largest, bound, rtol=2e-3)
    else:
        assert np.all(largest >= 0.9 * bound)


@pytest.mark.parametrize(("size", "replacement"), [(1, False), (2, True)])
def test_two_releases_cost_no_more_than_charged(size, replacement):
    axis = np.linspace(-8.0, 14.0, 1101)
    opposed = np.array([[1.0], [-1.0], [-1.0]])
    centres = batches(opposed, size, replacement) + size  # that of the neighbour is at 0
    p = np.mean([norm.pdf(axis, c[0]) for c in centres], axis=0) * (axis[1] - axis[0])
    q = norm.pdf(axis) * (axis[1] - axis[0])
    for epsilon in (0.1, 0.4):
        for first, second in ((p, q), (q, p)):
            excess = np.multiply.outer(first, first) - math.exp(epsilon) * np.multiply.outer(second, second)
            delta = float(np.maximum(excess, 0.0).sum())
            assert batch_epsilon(2.0, 3, size, 2, delta, replacement) >= epsilon * (1.0 - 1e-4)


@pytest.mark.parametrize(
    ("shift", "n", "size", "steps", "share"),
    [(0.38, 4096, 91, 512, 0.85), (0.6, 4096, 182, 512, 0.8), (0.2, 50, 60, 3, 0.3)],
)
def test_upper_and_lower_bounds_of_drawing_with_replacement(shift, n, size, steps, share):
    upper = batch_epsilon(shift, n, size, steps, DELTA, True)
    drawn = -math.expm1(size * math.log1p(-1 / n))
    assert share * upper < opposed_epsilon(shift, steps, drawn, DELTA) < upper


def test_limits():
    for steps in (1, 7):
        exact = gaussian.gdp_epsilon(0.3 * math.sqrt(steps), DELTA)
        assert batch_epsilon(0.3, 9, 9, steps, DELTA) == exact
        assert batch_epsilon(0.3, 1, 1, steps, DELTA, True) == exact
    assert batch_epsilon(0.3, 1, 4, 2, DELTA, True) == gaussian.gdp_epsilon(1.2 * math.sqrt(2), DELTA)
    assert batch_epsilon(0.3, 40, 1, 9, DELTA, True) == batch_epsilon(0.3, 40, 1, 9, DELTA)
    assert batch_epsilon(0.0, 9, 3, 2, DELTA) == 0.0 and batch_epsilon(math.inf, 9, 3, 2, DELTA) == math.inf
    assert least_scale(1.0, DELTA, 9, 9, 4) == pytest.approx(2.0 / gaussian.gdp_mu(1.0, DELTA))
    assert least_scale(1.0, DELTA, 1, 3, 4, True) == pytest.approx(6.0 / gaussian.gdp_mu(1.0, DELTA))
    # Drawing single records with or without replacement differs in the second order of the rate.
    one, other = (batch_epsilon(0.5, 100_000, 100, 500, DELTA, r) for r in (False, True))
    assert one < other < 1.01 * one
