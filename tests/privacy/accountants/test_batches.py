"""Batches of a fixed size or a random order: bounds against all small mechanisms, attained pairs, and limits."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import lognorm, norm

from dpsco_bench.privacy.accountants import allocation, fixed_size, gaussian
from dpsco_bench.privacy.accountants.allocation import allocation_delta, allocation_epsilon, largest_shift
from dpsco_bench.privacy.accountants.fixed_size import batch_epsilon, least_scale
from dpsco_bench.privacy.accountants.pld import GaussianPair
from dpsco_bench.privacy.accountants.single_index import opposed_epsilon

from .test_pld import discrete_divergence

DELTA = 1e-6
ORDERS = (0.4, 0.8, 1.0, 1.05, 1.3, 2.0, 5.0)


def batches(records, size, replacement):
    """Sums ``(batches, 1)`` of all equally likely batches of scalar records."""
    chosen = itertools.product(records, repeat=size) if replacement else itertools.combinations(records, size)
    return np.array([[sum(batch)] for batch in chosen])


def orders_of(records, batches, size):
    """Batch sums ``(n!, T)`` of scalar records in every order."""
    cut = batches * size
    return np.array([np.reshape(o[:cut], (batches, size)).sum(axis=1) for o in itertools.permutations(records)])


def true_divergences(first, second, sigma, orders, reach):
    """Divergences of mixtures of normals about the rows, by summation on a fine grid in one to three dimensions."""
    axis = np.linspace(-reach, reach, {1: 4001, 2: 301, 3: 81}[first.shape[1]]) * sigma
    one = {c: norm.pdf(axis, c, sigma) for c in np.unique([first, second])}

    def density(rows):
        unique, counts = np.unique(rows, axis=0, return_counts=True)
        total = 0.0
        for row, count in zip(unique, counts, strict=True):
            part = one[row[0]]
            for c in row[1:]:
                part = np.multiply.outer(part, one[c])
            total = total + count / len(rows) * part
        return total * (axis[1] - axis[0]) ** first.shape[1]

    p, q = density(first), density(second)
    return np.array([np.maximum(p - a * q, 0.0).sum() for a in orders])


def largest_divergences(values, n, sums, *how):
    """Compare all data sets of n records of these values that differ in one, by sums over all equally likely draws."""
    largest = 0.0
    for others in itertools.combinations_with_replacement(values, n - 1):
        drawn = {record: sums((record, *others)) for record in values}
        for pair in itertools.permutations(values, 2):
            largest = np.maximum(largest, true_divergences(*(drawn[record] for record in pair), *how))
    return largest


@pytest.mark.parametrize("sigma", [0.7, 2.0])
@pytest.mark.parametrize(("n", "size", "replacement"), [(3, 1, False), (3, 2, False), (2, 2, True), (3, 2, True)])
def test_no_data_on_a_line_beat_the_bound(n, size, replacement, sigma):
    """All records in [-1, 1] from a grid; the largest divergence of one release at every order, both ways round."""
    if replacement:
        copies = fixed_size.CopiesBound.of(2.0 / sigma, n, size, 1e-15)
        losses = fixed_size.pessimistic_copies_losses(copies, 1e-3, 1e-13)
    else:
        losses = fixed_size.pessimistic_subset_losses(GaussianPair(2.0 / sigma, size / n, False), 1e-3, 1e-13)
    bound = np.array([discrete_divergence(losses, math.log(order)) for order in ORDERS])
    values, sums = (-1.0, -0.6, 0.0, 0.6, 1.0), lambda records: batches(records, size, replacement)
    largest = largest_divergences(values, n, sums, sigma, ORDERS, 9.0)
    assert np.all(largest <= bound * (1.0 + 1e-5) + 1e-9)
    if not replacement:  # attained, in one order of the pair or the other
        np.testing.assert_allclose(largest, bound, rtol=2e-3)
    else:
        assert np.all(largest >= 0.9 * bound)


@pytest.mark.parametrize("sigma", [0.8, 2.0])
@pytest.mark.parametrize(("n", "batches", "size"), [(3, 2, 1), (4, 3, 1), (5, 2, 2), (4, 1, 3), (5, 3, 1)])
def test_no_data_in_a_random_order_beat_the_bound(n, batches, size, sigma):
    """Records in [-1, 1] from a grid, every order of them; the largest divergence, and where all others are alike."""
    values, epsilons = (-1.0, 0.0, 1.0) if batches < 3 else (-1.0, 1.0), np.array([0.05, 0.4])
    bound = np.array([allocation_delta(2.0 / sigma, batches, batches * size / n, epsilon) for epsilon in epsilons])
    sums = lambda records: orders_of(records, batches, size)  # noqa: E731
    largest = largest_divergences(values, n, sums, sigma, np.exp(epsilons), 7.0)
    assert np.all((0.6 * bound < largest) & (largest <= bound * (1.0 + 1e-6) + 1e-7))


@pytest.mark.parametrize(("size", "replacement"), [(1, False), (2, True)])
def test_two_releases_cost_no_more_than_charged(size, replacement):
    axis = np.linspace(-8.0, 14.0, 1101)
    centres = batches((1.0, -1.0, -1.0), size, replacement) + size  # that of the neighbour is at 0
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
    """All records in every batch, no shift, and drawing with replacement, whose cost is larger in second order."""
    mu = gaussian.gdp_mu(1.0, DELTA)
    for steps in (1, 7):
        exact = gaussian.gdp_epsilon(0.3 * math.sqrt(steps), DELTA)
        assert batch_epsilon(0.3, 9, 9, steps, DELTA) == batch_epsilon(0.3, 1, 1, steps, DELTA, True) == exact
    assert batch_epsilon(0.3, 1, 4, 2, DELTA, True) == gaussian.gdp_epsilon(1.2 * math.sqrt(2), DELTA)
    assert batch_epsilon(0.3, 40, 1, 9, DELTA, True) == batch_epsilon(0.3, 40, 1, 9, DELTA)
    assert batch_epsilon(0.0, 9, 3, 2, DELTA) == 0.0 and batch_epsilon(math.inf, 9, 3, 2, DELTA) == math.inf
    assert least_scale(1.0, DELTA, 9, 9, 4) == pytest.approx(2.0 / mu)
    assert least_scale(1.0, DELTA, 1, 3, 4, True) == pytest.approx(6.0 / mu)
    one, other = (batch_epsilon(0.5, 100_000, 100, 500, DELTA, r) for r in (False, True))
    assert one < other < 1.01 * one
    for shift in (0.1, 0.5, 1.0):
        exact = gaussian.gdp_epsilon(shift, DELTA)
        assert allocation_epsilon(shift, 1, 1.0, DELTA) == exact
        assert allocation_epsilon(shift, 1, 1.0 - 1e-9, DELTA) == pytest.approx(exact, rel=1e-3)
    assert largest_shift(1.0, DELTA, 1, 1.0) == mu
    assert allocation_epsilon(0.0, 9, 0.9, DELTA) == 0.0 and allocation_epsilon(math.inf, 9, 0.9, DELTA) == math.inf
    # Twice the mean of (X - 1)_+^2 is the variance of D at a = 1.
    shift, batches = 0.3, 100_000
    upper = math.exp(shift**2) * norm.cdf(1.5 * shift) - 2.0 * norm.cdf(0.5 * shift) + norm.cdf(-0.5 * shift)
    mu = math.sqrt(2.0 * upper / batches)
    found = allocation_epsilon(shift, batches, 1.0 - 1e-6, DELTA)
    assert found == pytest.approx(gaussian.gdp_epsilon(mu, DELTA), rel=1e-2)


# (shift, batches, participation): from weak to strong amplification, from many batches to one.
CASES = [(0.155, 324, 0.95), (0.34, 324, 0.95), (0.13, 5798, 0.995), (1.0, 40, 0.9), (0.8, 2, 0.5)]


@pytest.mark.parametrize(("shift", "batches", "participation"), CASES)
def test_the_attained_pair_lies_closely_below(shift, batches, participation):
    """By simulation in both orders, 4 standard errors, all other records alike; the gap is that of D's lower tail."""
    rng, runs = np.random.default_rng(11), 20_000_000 // batches // 20
    for epsilon in (0.3, 1.0, 2.0):
        epsilon *= shift / math.sqrt(batches)
        bound = allocation_delta(shift, batches, participation, epsilon)
        x = np.exp(shift * rng.standard_normal((runs, batches)) - 0.5 * shift**2).mean(axis=1)
        ratio, a = 1.0 - participation + participation * x, math.exp(epsilon)
        gains = [np.maximum(ratio - a, 0.0), np.maximum(1.0 - a * ratio, 0.0)]
        values = [(float(g.mean()), float(g.std()) / math.sqrt(runs)) for g in gains]
        for mean, error in values:
            assert mean - 4.0 * error <= bound
        best, error = max(values)
        assert bound <= (1.0 + 1.5 * shift) * best + 6.0 * error


@pytest.mark.parametrize(("shift", "batches", "participation"), [(2.5, 1000, 0.999), (3.0, 100, 0.99), (4.0, 10, 0.9)])
def test_large_shifts_are_near_the_attained_pair(shift, batches, participation):
    """From below by importance sampling of the differing record's release: more than 0.9 of epsilon is attained."""
    rng, runs = np.random.default_rng(3), 2_000_000 // batches
    upper = allocation_epsilon(shift, batches, participation, DELTA)

    def least(epsilon):
        reach = (epsilon + math.log(batches / participation)) / shift + 0.5 * shift
        z = reach + rng.standard_normal(runs)
        weights = np.exp((shift - reach) * z + 0.5 * (reach**2 - shift**2))
        others = np.exp(shift * rng.standard_normal((runs, batches - 1)) - 0.5 * shift**2).sum(axis=1)
        ratio = 1.0 - participation + participation / batches * (np.exp(shift * z - 0.5 * shift**2) + others)
        gains = participation * weights * np.maximum(1.0 - math.exp(epsilon) / ratio, 0.0)
        return float(gains.mean()), 4.0 * float(gains.std()) / math.sqrt(runs)

    mean, error = least(upper)
    assert mean - error <= DELTA
    mean, error = least(0.9 * upper)
    assert mean - error > DELTA


@pytest.mark.parametrize(("shift", "cap"), [(0.3, 1.2), (0.7, 5.0), (2.0, 3.0)])
def test_the_square_of_a_capped_ratio_has_this_mean(shift, cap):
    """``Y = exp(s Z - s^2 / 2)`` is the ratio of ``N(s, 1)`` to ``N(0, 1)`` at a point of the latter."""
    ratio = lognorm(shift, scale=math.exp(-0.5 * shift**2))
    below = ratio.expect(np.square, lb=0.0, ub=cap)
    assert allocation._capped_square(shift, cap) == pytest.approx(below + cap**2 * ratio.sf(cap), rel=1e-7)


# Of PLD-accounting 2.0, as docs/allocation.py prints them: the lower end of its epsilon at delta = 1e-5, and the upper
# end e at the delta/(1 + exp(e)) that each half of a triangle may spend.
OF_THE_LIBRARY = [(0.5, 16, 0.4766, 0.5179), (1.0, 16, 1.7867, 2.2388), (1.0, 64, 0.8315, 1.0024)]


@pytest.mark.parametrize(("shift", "batches", "one", "half"), OF_THE_LIBRARY)
def test_the_bound_lies_between_the_library_s_pair_and_two_of_its_steps(shift, batches, one, half):
    """One record against all others alike is the library's pair; by the common centre an exchange costs two of them."""
    found = allocation_epsilon(shift, batches, 1.0 - 1e-6, 1e-5)
    assert one <= found <= 2.0 * half
    assert found < 1.2 * one  # and not about twice


@pytest.mark.parametrize(("shift", "participation", "epsilon"), [(1.0, 0.25, 0.1), (0.4, 0.9, 0.02), (1.2, 0.5, 0.5)])
def test_one_batch_is_a_subset_without_replacement(shift, participation, epsilon):
    """q h(a) at a' = 1 + q (a - 1), in closed form; the grid costs little."""
    exact = participation * gaussian.gdp_delta(shift, math.log1p(math.expm1(epsilon) / participation))
    found = allocation_delta(shift, 1, participation, epsilon, exact)
    assert exact <= found * (1 + 1e-9) and found == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize(("shift", "batches", "participation"), CASES)
def test_epsilon_inverts_delta_and_is_monotone(shift, batches, participation):
    here = allocation_epsilon(shift, batches, participation, DELTA)
    assert allocation_delta(shift, batches, participation, here, DELTA) <= DELTA
    assert allocation_delta(shift, batches, participation, 0.99 * here, DELTA) > DELTA
    assert allocation_epsilon(shift, 2 * batches, participation, DELTA) < here
    assert allocation_epsilon(shift, batches, 0.9 * participation, DELTA) < here * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [0.05, 0.5])
def test_several_positive_terms_count_as_often_as_there_are_batches(epsilon):
    shift, batches, participation, resolution = 2.5, 50, 0.95, 1e-6
    offset = batches * (1.0 - participation) / participation * math.expm1(epsilon)
    law = allocation._step_law(shift, epsilon, participation, resolution, batches, offset)
    grid = allocation._excess_of_sum(law, batches, offset, resolution) / batches + law.cut
    assert allocation._one_positive(shift, epsilon, batches, offset) > 0.99 * grid
