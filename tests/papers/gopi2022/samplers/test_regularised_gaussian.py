"""Gaussians times ``exp(-c ||x||_q^2)`` on l_p balls, p < 2, against grids; the alternating sampler that uses them."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest

from dpsco_bench.papers.gopi2022.samplers.lp import sample_lp
from dpsco_bench.papers.gopi2022.samplers.proximal import ProximalSampler, regularised_gaussian, step_size

ROWS = 200_000


def drawn(source, mean, sd, c, q, p, rows=ROWS, cap=10_000):
    everyone = np.arange(rows)
    return regularised_gaussian(source, "x", 0, np.tile(mean, (rows, 1)), sd, c, q, p, 1.0, cap, everyone)


@pytest.mark.parametrize(
    ("mean", "sd", "c", "q", "p"),
    [
        ((0.2, -0.1), 0.3, 1.0, 1.5, 1.5),  # inside, with the kinks of the norm
        ((0.9, 0.6), 0.2, 4.0, 1.2, 1.2),  # outside of a face
        ((1.1, 0.0), 0.1, 2.0, 1.5, 1.5),  # outside of a vertex
        ((1.2, 0.1), 0.2, 3.0, 1.6, 1.0),
        ((0.0, 0.0), 0.4, 0.0, 1.5, 1.5),
    ],
)
def test_coordinates_and_their_sum_have_the_law_of_a_grid(draws, mean, sd, c, q, p):
    size = 2001
    grid = (np.arange(size) + 0.5) / size * 2 - 1
    first, second = np.meshgrid(grid, grid, indexing="ij")
    power = np.abs(first) ** q + np.abs(second) ** q
    logs = -((first - mean[0]) ** 2 + (second - mean[1]) ** 2) / (2 * sd**2) - c * power ** (2 / q)
    density = np.where(np.abs(first) ** p + np.abs(second) ** p <= 1, np.exp(logs - logs.max()), 0.0)
    density /= density.sum()
    x, capped = drawn(draws(ROWS), np.array(mean), sd, c, q, p)
    assert not capped.any()
    for axis in (0, 1):
        below = np.cumsum(density.sum(axis=1 - axis))
        assert kstest(x[:, axis], lambda t, below=below: np.interp(t, grid + 1 / size, below, 0.0)).pvalue > 1e-3
    sums = np.bincount(np.add.outer(np.arange(size), np.arange(size)).ravel(), density.ravel())
    at = (np.arange(2 * size - 1) + 1) / size * 2 - 2
    assert kstest(x.sum(axis=1), lambda t: np.interp(t, at + 1 / size, np.cumsum(sums), 0.0)).pvalue > 1e-3


K, WEIGHT, D = 6.0, 0.5, 4
SLOPES = np.array([[1.0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0]])


@pytest.mark.parametrize(("p", "q"), [(1.5, 1.5), (1.0, 1 + 1 / math.log(D))])
def test_an_exact_sample_stays_exact_under_the_alternating_sampler(draws, p, q):
    rows, c = 20_000, K * WEIGHT

    def gaussian(name, step, mean, sd, rows):
        return regularised_gaussian(source, name, step, mean, sd, c, q, p, 1.0, 1000, rows)

    def differences(z, x, indices, rows):
        return -np.einsum("rwd,rd->rw", SLOPES[indices], z - x)

    source, tilt = draws(rows), np.tile(K * SLOPES.mean(axis=0), (rows, 1))
    chains = ProximalSampler(source, gaussian, differences, len(SLOPES), K, 0.0, step_size(K, D ** (1 / p - 0.5), 0.05))
    start = sample_lp(draws(rows, "start"), tilt, c, q, p)
    x, others = chains.run(start, 4), sample_lp(draws(rows, "others"), tilt, c, q, p)
    assert not chains.capped.any() and np.median(np.abs(x - start)) > 0.01
    for axis in range(D):
        assert ks_2samp(x[:, axis], others[:, axis]).pvalue > 1e-3
    assert ks_2samp(np.abs(x).sum(axis=1), np.abs(others).sum(axis=1)).pvalue > 1e-3


def test_a_row_without_an_accepted_point_is_capped_and_stays_in_the_ball(draws):
    x, capped = drawn(draws(100), np.array([1.0, 0.0, 0.0]), 0.1, 2.0, 1.5, 1.0, rows=100, cap=1)
    assert capped.any() and not capped.all()
    assert np.all(np.abs(x).sum(axis=1) <= 1 + 1e-12)


def test_rows_do_not_depend_on_the_others(draws):
    mean = np.random.default_rng(0).standard_normal((30, 3)) * 0.4
    whole, _ = regularised_gaussian(draws(30), "x", 2, mean, 0.2, 3.0, 1.5, 1.5, 1.0, 500, np.arange(30))
    part, _ = regularised_gaussian(draws(12, first=18), "x", 2, mean[18:], 0.2, 3.0, 1.5, 1.5, 1.0, 500, np.arange(12))
    np.testing.assert_array_equal(part, whole[18:])
