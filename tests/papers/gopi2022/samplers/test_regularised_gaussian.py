"""Gaussians times ``exp(-c ||x||_q^2)`` on l_p balls, p < 2, against grids; the alternating sampler that uses them."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from dpsco_bench.papers.gopi2022.samplers import truncated
from dpsco_bench.papers.gopi2022.samplers.chains import ProximalSampler, regularised_gaussian, step_size
from dpsco_bench.papers.gopi2022.samplers.lp import sample_lp

ROWS = 200_000


def drawn(source, mean, sd, c, q, p, rows=ROWS):
    return regularised_gaussian(source, "x", 0, np.tile(mean, (rows, 1)), sd, c, q, p, 1.0, np.arange(rows))


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
def test_coordinates_and_their_sum_have_the_law_of_a_grid(draws, in_plane, mean, sd, c, q, p):
    def logs(first, second):
        away = (first - mean[0]) ** 2 + (second - mean[1]) ** 2
        return -away / (2 * sd**2) - c * (np.abs(first) ** q + np.abs(second) ** q) ** (2 / q)

    x, capped = drawn(draws(ROWS), np.array(mean), sd, c, q, p)
    assert not capped.size
    in_plane(x, logs, p, size=2001)


K, WEIGHT, D = 6.0, 0.5, 4
SLOPES = np.array([[1.0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0]])


@pytest.mark.parametrize(("p", "q"), [(1.5, 1.5), (1.0, 1 + 1 / math.log(D))])
def test_an_exact_sample_stays_exact_under_the_alternating_sampler(draws, p, q):
    rows, c = 20_000, K * WEIGHT

    def gaussian(name, step, mean, sd, rows):
        return regularised_gaussian(source, name, step, mean, sd, c, q, p, 1.0, rows)

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


def test_a_row_without_an_accepted_point_is_capped_and_stays_in_the_ball(draws, monkeypatch):
    monkeypatch.setattr(truncated, "MOST_ATTEMPTS", 1)
    x, capped = drawn(draws(100), np.array([1.0, 0.0, 0.0]), 0.1, 2.0, 1.5, 1.0, rows=100)
    assert 0 < len(capped) < 100
    assert np.all(np.abs(x).sum(axis=1) <= 1 + 1e-12)
