"""Gibbs chains and hit-and-run leave their target alone, and reach it."""

import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.samplers.axis import sample_axis
from dpsco_bench.papers.gopi2022.samplers.chains import sample_gibbs, sample_hit_and_run

ROWS = 6000


def axis(kap, d, rows=ROWS):
    return np.tile(kap * np.eye(1, d), (rows, 1))


@pytest.mark.parametrize(("p", "d", "kap", "c"), [(1.5, 4, 5.0, 3.0), (2.0, 5, 6.0, 4.0), (1.2, 3, -3.0, 2.0)])
def test_an_exact_sample_stays_exact(draws, score, p, d, kap, c):
    start = sample_axis(draws(ROWS, "start"), p, d, np.full(ROWS, kap), c)
    x = sample_gibbs(draws(ROWS), start, axis(kap, d), c, p, p, 1.0, 3, np.shape)
    law = AxisLaw(p, d, kap, c)
    assert score(x[:, 0], law.mean()) < 4
    assert score((x[:, 0] - law.mean()) ** 2, law.variance()) < 4
    assert score(x[:, 1], 0.0) < 4
    assert score(np.abs(x[:, 1]) ** p - np.abs(x[:, d - 1]) ** p, 0.0) < 4
    assert not np.any(x == start)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0 + 1.0 / np.log(5)), (4.0, 2.0)])
def test_balls_of_another_norm_against_rejection(draws, p, q):
    """On an l_1 and an l_4 ball, where r is in another norm: uniform points of the ball, weighted."""
    d, c, v = 5, 2.0, np.array([3.0, 1.0, 0.0, 0.0, 0.0])
    rng = np.random.default_rng(0)
    magnitude = rng.standard_gamma(1 / p, (400000, d)) ** (1 / p) * rng.choice([-1.0, 1.0], (400000, d))
    ball = magnitude / (np.sum(np.abs(magnitude) ** p, axis=1) + rng.standard_exponential(400000))[:, None] ** (1 / p)
    weight = np.exp(ball @ v - c * np.linalg.norm(ball, ord=q, axis=1) ** 2)
    weight /= weight.sum()
    x = sample_gibbs(draws(ROWS), np.zeros((ROWS, d)), np.tile(v, (ROWS, 1)), c, q, p, 1.0, 60, np.shape)
    assert np.all(np.linalg.norm(x, ord=p, axis=1) <= 1 + 1e-12)
    for j in range(3):
        mean = weight @ ball[:, j]
        error = np.hypot(x[:, j].std() / ROWS**0.5, np.sqrt(weight**2 @ (ball[:, j] - mean) ** 2))
        assert abs(x[:, j].mean() - mean) < 4 * error


def density(kap, c, p):
    def function(x, rows):
        length = np.linalg.norm(x, ord=p, axis=1)
        return np.where(length <= 1, kap * x[:, 0] - c * length**2, -np.inf)

    return function


def test_an_exact_sample_stays_exact_under_hit_and_run(draws, score):
    start = sample_axis(draws(ROWS, "start"), 1.5, 4, np.full(ROWS, 5.0), 3.0)
    x = sample_hit_and_run(draws(ROWS), density(5.0, 3.0, 1.5), start, 1.0, 3, np.shape)
    law = AxisLaw(1.5, 4, 5.0, 3.0)
    assert score(x[:, 0], law.mean()) < 4 and score((x[:, 0] - law.mean()) ** 2, law.variance()) < 4
    assert score(x[:, 2], 0.0) < 4 and not np.any(x == start)
