"""Draws along an axis and chains that leave their target alone, against laws that do not come from the sampler."""

import numpy as np
import pytest
from scipy.special import gammainc
from scipy.stats import kstest

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.samplers.axis import AxisEnvelope, sample_axis, towards
from dpsco_bench.papers.gopi2022.samplers.chains import sample_gibbs, sample_hit_and_run
from tests.marks import rest_at_night

from ..conftest import in_plane, quadrature

ROWS = 200_000
"""Draws that are held against a law."""
LAWS = [
    (1.5, 3, 5.0, 3.0),
    (2.0, 2, 5.0, 2.0),
    (1.2, 4, 0.0, 2.0),
    (1.05, 8, 300.0, 900.0),
    (1.5, 16, 2e4, 1e4),
    (1.5, 2, 1e5, 50.0),
    (1.0, 6, 8.0, 6.0),
    (2.0, 4, 1.4e11, 2.5e7),
]
"""The chapter's cases, concentrated laws where tilt and curvature cancel, and a corner."""
SPLIT = [
    (2.0, 4, 148678416.285, 19976889258.48),
    (2.0, 4, 143011050.95, 19215404622.98),
    (2.0, 64, 240300.6, 28686829.5),
    (2.0, 16, 396877.85, 70036204.8),
    (2.0, 32, 559423.04, 70036204.8),
    (2.0, 256, 631807.48, 30482313.9),
    (1.5, 128, 220843.16, 128.0),
    (1.5, 128, 133900.22, 128.0),
    (2.0, 128, 312319.4, 128.0),
    (2.0, 128, 189363.5, 128.0),
    (2.0, 96, 135238.27, 96.0),
    (2.0, 128, 1e6, 64.0),
]
"""Cells of the chapter's grids (thm6.stat_n, cor2.erm.d and neighbours), most of it on the sphere, where the grid of
cells alone accepts between 1e-19 and a tenth of the proposals."""


@pytest.mark.parametrize("law", LAWS + SPLIT)
def test_cells_tile_the_ball_and_their_envelope_dominates_the_density(law, draws):
    envelope, rng = AxisEnvelope(*law), np.random.default_rng(1)
    left, right, low, high, bounds = envelope.cells.sides
    for position in (*rng.uniform(size=(6, 2)), (0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)):
        at, height = left + position[0] * (right - left), low + position[1] * (high - low)
        with np.errstate(divide="ignore"):
            density = envelope.log_density(at, height)
        inside = np.abs(at) ** law[0] + height ** law[0] < 1 - 1e-12
        assert np.all((bounds - density)[inside] >= -1e-9 * (1 + np.abs(density[inside])))
    (p, d, kap, c), (x, tau), sides = law, envelope.edges, envelope.cells.sides
    assert x[0] == -1 and x[-1] == 1 and tau[0] == 0 and tau[-1] == 1
    assert np.all(np.diff(x) > 0) and np.all(np.diff(tau) > 0)
    of_law = sample_axis(draws(20), p, d, np.full(20, kap), c)
    first = np.append(of_law[:, 0], rng.uniform(-1, 1, 20))
    reach = (1.0 - np.abs(first[20:]) ** p) ** (1 / p)
    rest = np.append(np.sum(np.abs(of_law[:, 1:]) ** p, axis=1) ** (1 / p), reach * rng.uniform(size=20))
    last = sides[:, -rng.integers(1, 1000, size=40)]  # and points near the last cells: of split ones
    near = last[:4:2] + 2.0 * (last[1:4:2] - last[:4:2]) * rng.uniform(size=(2, 40))
    inside = (np.abs(near[0]) ** p + near[1] ** p < 1) & (near[0] < 1)
    first, rest = np.append(first, near[0, inside]), np.append(rest, near[1, inside])
    for at, height in zip(first, rest, strict=True):
        assert np.sum((left <= at) & (at < right) & (low <= height) & (height < high)) == 1


OTHERS = [(1.5, 32, 40.0, 32.0), (2.0, 1, 3.0, 1.0), (1.5, 3, -5.0, 3.0)]


@pytest.mark.parametrize("law", rest_at_night(LAWS + OTHERS + SPLIT, 1, *range(0, 16, 3)))
def test_the_first_coordinate_and_its_gap_have_the_law_of_the_quadrature(draws, score, law):
    """On the Euclidean ball the square of the length of the others, given the first, is a cut Gamma variable."""
    p, d, kap, c = law
    x = sample_axis(draws(ROWS), p, d, np.full(ROWS, kap), c)
    assert np.all(np.sum(np.abs(x) ** p, axis=1) <= 1 + 1e-12)
    known, gap = AxisLaw(p, d, kap, c), 1.0 - x[:, 0]
    assert kstest(x[:, 0], quadrature(known)).pvalue > 1e-3
    assert score(gap, known.mean_gap()) < 4 and score((gap - known.mean_gap()) ** 2, known.variance()) < 4
    if p == 2.0 and d > 1:
        lengths, ends = (c * square for square in (np.sum(x[:, 1:] ** 2, axis=1), 1.0 - x[:, 0] ** 2))
        assert kstest(gammainc(0.5 * (d - 1), lengths) / gammainc(0.5 * (d - 1), ends), "uniform").pvalue > 1e-3


def test_reflections_turn_the_axis_and_keep_lengths():
    rng = np.random.default_rng(0)
    points, directions = rng.standard_normal((2, 50, 4))
    directions[0], directions[1] = 0.0, [2.0, 0, 0, 0]
    turned = towards(points, directions)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(points, axis=1))
    np.testing.assert_array_equal(turned[:2], points[:2])
    unit = directions[2:] / np.linalg.norm(directions[2:], axis=1, keepdims=True)
    np.testing.assert_allclose(np.sum(turned[2:] * unit, axis=1), points[2:, 0], atol=1e-12)
    np.testing.assert_allclose(towards(np.eye(1, 4), -np.eye(1, 4)), -np.eye(1, 4))


CHAINS = 6000


@pytest.mark.parametrize(("p", "d", "kap", "c"), [(1.5, 4, 5.0, 3.0), (2.0, 5, 6.0, 4.0), (1.2, 3, -3.0, 2.0)])
def test_an_exact_sample_stays_exact(draws, score, p, d, kap, c):
    start = sample_axis(draws(CHAINS, "start"), p, d, np.full(CHAINS, kap), c)
    x = sample_gibbs(draws(CHAINS), start, np.tile(kap * np.eye(1, d), (CHAINS, 1)), c, p, p, 1.0, 3, np.shape)
    law = AxisLaw(p, d, kap, c)
    assert score(x[:, 0], law.mean()) < 4
    assert score((x[:, 0] - law.mean()) ** 2, law.variance()) < 4
    assert score(x[:, 1], 0.0) < 4
    assert score(np.abs(x[:, 1]) ** p - np.abs(x[:, d - 1]) ** p, 0.0) < 4
    assert not np.any(x == start)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0 + 1.0 / np.log(5)), (4.0, 2.0)])
def test_chains_on_balls_of_another_norm_arrive_at_the_law_of_a_grid(draws, p, q):
    rows, v, c = 20_000, np.array([3.0, 1.0]), 2.0
    x = sample_gibbs(draws(rows), np.zeros((rows, 2)), np.tile(v, (rows, 1)), c, q, p, 1.0, 60, np.shape)
    assert np.all(np.linalg.norm(x, ord=p, axis=1) <= 1 + 1e-12)
    in_plane(x, lambda one, two: v[0] * one + v[1] * two - c * (np.abs(one) ** q + np.abs(two) ** q) ** (2 / q), p)


def test_an_exact_sample_stays_exact_under_hit_and_run(draws, score):
    def density(x, rows):
        length = np.linalg.norm(x, ord=1.5, axis=1)
        return np.where(length <= 1, 5.0 * x[:, 0] - 3.0 * length**2, -np.inf)

    start = sample_axis(draws(CHAINS, "start"), 1.5, 4, np.full(CHAINS, 5.0), 3.0)
    x = sample_hit_and_run(draws(CHAINS), density, start, 1.0, 3, np.shape)
    law = AxisLaw(1.5, 4, 5.0, 3.0)
    assert score(x[:, 0], law.mean()) < 4 and score((x[:, 0] - law.mean()) ** 2, law.variance()) < 4
    assert score(x[:, 2], 0.0) < 4 and not np.any(x == start)
