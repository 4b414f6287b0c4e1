"""Gibbs chains leave their target alone, and reach it."""

from functools import partial

import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.samplers.axis import sample_axis
from dpsco_bench.papers.gopi2022.samplers.gibbs import sample_gibbs

ROWS = 6000


def axis(kap, d, rows=ROWS):
    return np.tile(kap * np.eye(1, d), (rows, 1))


def keep_gap(kept, x):
    kept.append(1.0 - x[:, 0])


@pytest.mark.parametrize(("p", "d", "kap", "c"), [(1.5, 4, 5.0, 3.0), (2.0, 5, 6.0, 4.0), (1.2, 3, -3.0, 2.0)])
def test_an_exact_sample_stays_exact(draws, score, p, d, kap, c):
    start = sample_axis(draws(ROWS, "start"), p, d, np.full(ROWS, kap), c)
    x = sample_gibbs(draws(ROWS), axis(kap, d), c, p, p, 1.0, 3, start=start)
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
    x = sample_gibbs(draws(ROWS), np.tile(v, (ROWS, 1)), c, q, p, 1.0, 60)
    assert np.all(np.linalg.norm(x, ord=p, axis=1) <= 1 + 1e-12)
    for j in range(3):
        mean = weight @ ball[:, j]
        error = np.hypot(x[:, j].std() / ROWS**0.5, np.sqrt(weight**2 @ (ball[:, j] - mean) ** 2))
        assert abs(x[:, j].mean() - mean) < 4 * error


def test_the_move_along_the_ray_brings_chains_to_a_vertex_sooner(draws):
    """l_1 ball, a law close to the vertex e_1: 60 sweeps from the centre, against 400."""
    p, d, rows = 1.0, 8, 256
    q, slope = 1.0 + 1.0 / np.log(d), axis(498.0 * d, d, rows)
    means = {}
    for move, sweeps in ((True, 400), (True, 60), (False, 60)):
        kept = []
        sample_gibbs(draws(rows), slope, float(d), q, p, 1.0, sweeps, partial(keep_gap, kept), scale_move=move)
        means[move, sweeps] = np.mean(kept[sweeps // 2 :])
    with_move, without = (abs(means[move, 60] / means[True, 400] - 1.0) for move in (True, False))
    assert with_move < 0.1 and without > 3 * with_move


def test_rows_do_not_depend_on_the_others(draws):
    v = np.tile([3.0, 1.0, 0.0], (20, 1))
    whole = sample_gibbs(draws(20), v, 1.0, 1.5, 1.5, 1.0, 5)
    np.testing.assert_array_equal(sample_gibbs(draws(8, first=12), v[:8], 1.0, 1.5, 1.5, 1.0, 5), whole[12:])
