"""Random allocation: the bound against all small mechanisms, the attained pair, simulation, limits and solutions."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_bench.privacy.accountants import allocation, gaussian
from dpsco_bench.privacy.accountants.allocation import allocation_delta, allocation_epsilon, largest_shift

DELTA = 1e-6
# (shift, batches, participation): from weak to strong amplification, from many batches to one.
CASES = [(0.155, 324, 0.95), (0.34, 324, 0.95), (0.13, 5798, 0.995), (1.0, 40, 0.9), (0.8, 2, 0.5)]


def orders_of(records, batches, size):
    """Batch sums ``(n!, T)`` of scalar records in every order."""
    cut = batches * size
    return np.array([np.reshape(o[:cut], (batches, size)).sum(axis=1) for o in itertools.permutations(records)])


def true_delta(first, second, sigma, epsilon):
    """Divergence of mixtures of normals about the rows, by summation on a fine grid in one to three dimensions."""
    axis = np.linspace(-7.0, 7.0, {1: 4001, 2: 301, 3: 81}[first.shape[1]]) * sigma
    one = {c: norm.pdf(axis, c, sigma) for c in np.unique([first, second])}

    def density(rows):
        unique, counts = np.unique(rows, axis=0, return_counts=True)
        total = 0.0
        for row, count in zip(unique, counts, strict=True):
            part = one[row[0]]
            for c in row[1:]:
                part = np.multiply.outer(part, one[c])
            total = total + count / len(rows) * part
        return total

    excess = np.maximum(density(first) - math.exp(epsilon) * density(second), 0.0)
    return float(excess.sum()) * (axis[1] - axis[0]) ** first.shape[1]


@pytest.mark.parametrize("sigma", [0.8, 2.0])
@pytest.mark.parametrize(("n", "batches", "size"), [(3, 2, 1), (4, 3, 1), (5, 2, 2), (4, 1, 3), (5, 3, 1)])
def test_no_data_beat_the_bound(n, batches, size, sigma):
    """Records in [-1, 1] from a grid, every order of them; the largest divergence, and where all others are alike."""
    values = (-1.0, 0.0, 1.0) if batches < 3 else (-1.0, 1.0)
    for epsilon in (0.05, 0.4):
        bound = allocation_delta(2.0 / sigma, batches, batches * size / n, epsilon)
        largest = 0.0
        for others in itertools.combinations_with_replacement(values, n - 1):
            sums = {r: orders_of((r, *others), batches, size) for r in values}
            for r, s in itertools.permutations(values, 2):
                largest = max(largest, true_delta(sums[r], sums[s], sigma, epsilon))
        assert 0.6 * bound < largest <= bound * (1.0 + 1e-6) + 1e-7


def attained(shift, batches, participation, epsilon, runs, rng):
    """Mean and standard error of the divergence of the pair with all other records alike, in both orders."""
    x = np.exp(shift * rng.standard_normal((runs, batches)) - 0.5 * shift**2).mean(axis=1)
    ratio, a = 1.0 - participation + participation * x, math.exp(epsilon)
    gains = [np.maximum(ratio - a, 0.0), np.maximum(1.0 - a * ratio, 0.0)]
    return [(float(g.mean()), float(g.std()) / math.sqrt(runs)) for g in gains]


@pytest.mark.parametrize(("shift", "batches", "participation"), CASES)
def test_the_attained_pair_lies_closely_below(shift, batches, participation):
    """By simulation, 4 standard errors; the gap is that of D's lower tail."""
    rng = np.random.default_rng(11)
    for epsilon in (0.3, 1.0, 2.0):
        epsilon *= shift / math.sqrt(batches)
        bound = allocation_delta(shift, batches, participation, epsilon)
        values = attained(shift, batches, participation, epsilon, 20_000_000 // batches // 20, rng)
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


# Of PLD-accounting 2.0, as docs/allocation.py prints them: the lower end of its epsilon at delta = 1e-5, and the upper
# end e at the delta/(1 + exp(e)) that each half of a triangle may spend.
OF_THE_LIBRARY = [(0.5, 16, 0.4766, 0.5179), (1.0, 16, 1.7867, 2.2388), (1.0, 64, 0.8315, 1.0024)]


@pytest.mark.parametrize(("shift", "batches", "one", "half"), OF_THE_LIBRARY)
def test_the_bound_lies_between_the_library_s_pair_and_two_of_its_steps(shift, batches, one, half):
    """One record against all others alike is the library's pair; by the common centre an exchange costs two of them."""
    found = allocation_epsilon(shift, batches, 1.0 - 1e-6, 1e-5)
    assert one <= found <= 2.0 * half
    assert found < 1.2 * one  # and not about twice


def test_one_batch_of_all_is_the_gaussian():
    for shift in (0.1, 0.5, 1.0):
        assert allocation_epsilon(shift, 1, 1.0, DELTA) == gaussian.gdp_epsilon(shift, DELTA)
        assert allocation_epsilon(shift, 1, 1.0 - 1e-9, DELTA) == pytest.approx(
            gaussian.gdp_epsilon(shift, DELTA), rel=1e-3
        )
    assert largest_shift(1.0, DELTA, 1, 1.0) == gaussian.gdp_mu(1.0, DELTA)
    assert allocation_epsilon(0.0, 9, 0.9, DELTA) == 0.0 and allocation_epsilon(math.inf, 9, 0.9, DELTA) == math.inf


@pytest.mark.parametrize(("shift", "participation", "epsilon"), [(1.0, 0.25, 0.1), (0.4, 0.9, 0.02), (1.2, 0.5, 0.5)])
def test_one_batch_is_a_subset_without_replacement(shift, participation, epsilon):
    """q h(a) at a' = 1 + q (a - 1), in closed form; the grid costs little."""
    exact = participation * gaussian.gdp_delta(shift, math.log1p(math.expm1(epsilon) / participation))
    found = allocation_delta(shift, 1, participation, epsilon, exact)
    assert exact <= found * (1 + 1e-9) and found == pytest.approx(exact, rel=2e-3)


def test_many_batches_approach_the_central_limit():
    """Twice the mean of (X - 1)_+^2 is the variance of D at a = 1."""
    shift, batches = 0.3, 100_000
    upper = math.exp(shift**2) * norm.cdf(1.5 * shift) - 2.0 * norm.cdf(0.5 * shift) + norm.cdf(-0.5 * shift)
    mu = math.sqrt(2.0 * upper / batches)
    found = allocation_epsilon(shift, batches, 1.0 - 1e-6, DELTA)
    assert found == pytest.approx(gaussian.gdp_epsilon(mu, DELTA), rel=1e-2)


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
