"""Exact draws on l_p balls, 1 <= p < 2, also of Gaussians times exp(-c ||x||_q^2), against laws from elsewhere."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import beta, expon, gamma, ks_2samp, kstest

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.samplers import lp, truncated
from dpsco_bench.papers.gopi2022.samplers.chains import ProximalSampler, regularised_gaussian, step_size
from dpsco_bench.papers.gopi2022.samplers.lp import Factors, LpEnvelope, sample_lp
from dpsco_bench.papers.gopi2022.samplers.truncated import gaussian_on_ball, truncated_normal
from tests.marks import rest_at_night

from ..conftest import in_plane, quadrature

ROWS = 200_000
"""Draws that are held against a law: the Kolmogorov-Smirnov test at level 1e-3 then sees a distance of 0.0044."""
LAWS = [(1.5, 3, 5.0, 3.0), (1.2, 4, 0.0, 2.0), (1.3, 5, -40.0, 6.0), (1.05, 8, 300.0, 900.0), (1.5, 16, 2e4, 1e4)]


def regulariser(p, d):
    return p if p > 1 else 1 + 1 / math.log(d)


def tilt(kind, p, d, size):
    directions = {"axis": np.eye(1, d)[0], "spread": np.ones(d), "any": np.random.default_rng(d).standard_normal(d)}
    v = directions[kind]
    return size * v / np.linalg.norm(v, ord=p / (p - 1) if p > 1 else np.inf)


def drawn(draws, v, c, q, p, rows=ROWS):
    return sample_lp(draws(rows), np.tile(v, (rows, 1)), c, q, p)


@pytest.mark.parametrize("law", rest_at_night(LAWS, 0, 1, 2))
def test_along_an_axis_the_law_is_that_of_the_quadrature(draws, score, law):
    p, d, kap, c = law
    x = drawn(draws, kap * np.eye(1, d)[0], c, p, p)
    law = AxisLaw(p, d, kap, c)
    assert kstest(x[:, 0], quadrature(law)).pvalue > 1e-3
    assert score(x[:, 0], law.mean()) < 4 and score((x[:, 0] - law.mean()) ** 2, law.variance()) < 4
    share = np.abs(x[:, 1]) ** p / np.sum(np.abs(x[:, 1:]) ** p, axis=1)
    assert kstest(share, beta(1 / p, (d - 2) / p).cdf).pvalue > 1e-3 and score(np.sign(x[:, 1]), 0.0) < 4


@pytest.mark.parametrize(
    ("p", "q", "v", "c"),
    [
        (1.5, 1.5, (3.0, -2.0), 2.5),
        (1.2, 1.2, (30.0, 31.0), 5.0),
        (1.0, 1.7, (3.0, -2.0), 2.5),
        (1.0, 1.9, (3.0, -2.0), 2.5),
        (1.0, 1.9, (40.0, 38.0), 9.0),
        (1.0, 1.48, (12.0, 11.0), 6.0),
        (1.0, 1.2, (40.0, 0.0), 60.0),
    ],
)
def test_in_the_plane_coordinates_and_their_sum_have_the_law_of_a_grid(draws, p, q, v, c):
    """Also p = 1, where the regulariser is of another norm."""

    def logs(first, second):
        return v[0] * first + v[1] * second - c * (np.abs(first) ** q + np.abs(second) ** q) ** (2 / q)

    in_plane(drawn(draws, np.array(v), c, q, p), logs, p)


@pytest.mark.parametrize("d", [3, 8, 32])
def test_cold_draws_near_a_vertex_of_the_cross_polytope(draws, d):
    q, size = regulariser(1.0, d), 1e6 * d
    v = np.zeros(d)
    v[1] = -size
    x = drawn(draws, v, float(d), q, 1.0)
    assert kstest(size * (1.0 + x[:, 1]), gamma(d).cdf).pvalue > 1e-3
    assert kstest(size * (1.0 - np.abs(x).sum(axis=1)), expon.cdf).pvalue > 1e-3
    assert kstest(size * np.abs(x[:, 0]), expon.cdf).pvalue > 1e-3


@pytest.mark.parametrize("p", [1.0, 1.05, 1.5, 1.99])
@pytest.mark.parametrize("d", [3, 32])
def test_the_product_bounds_the_density_everywhere_and_enough_is_accepted(draws, p, d):
    """At its own proposals and at points of any scale; the share of accepted proposals is never below 1.5 per cent."""
    rng, rows, q = np.random.default_rng(4), np.zeros(2000, dtype=int), regulariser(p, d)
    wide = rng.standard_normal((2000, d)) * 10.0 ** rng.uniform(-6, 0, (2000, 1))
    wide *= np.minimum(1.0, rng.uniform(size=(2000, 1)) / np.sum(np.abs(wide) ** p, axis=1, keepdims=True) ** (1 / p))
    sizes = [(s * d, d) for s in (0.0, 1.0, 10.0, 100.0, 1e4, 1e9)] + [(s, 1e6) for s in (1.4e6, 1.9e6, 3e6)]
    for kind, (size, c) in product(("axis", "spread", "any"), sizes):
        envelope = LpEnvelope(tilt(kind, p, d, size)[None], float(c), q, p)
        own = envelope.factors.sample(draws(2000), "x", 0, 1, np.arange(2000), rows)[0]
        u, slack = draws(2000).uniform("u", 0, 2), 1e-6 + 1e-15 * size  # for the rounding of <v, x>
        _, accepted = envelope.finish(rows, own.copy(), u)
        assert accepted.mean() > 0.015, (kind, size, c)
        for points in (own, wide):
            sure = np.column_stack([u[:, 0], np.full(2000, math.exp(slack))])
            _, certain = envelope.finish(rows, points.copy(), sure)
            assert not certain.any(), (kind, size, c)


@pytest.mark.parametrize(
    ("v", "lam", "eta", "q", "p"),
    [
        (0.0, 2.0, 0.0, 1.5, 1.5),
        (5.0, 3.0, 0.0, 1.2, 1.2),
        (-5.0, 3.0, 4.0, 1.6, 1.0),
        (4.0, 3.0, 4.0, 1.6, 1.0),
        (900.0, 500.0, 500.0, 1.05, 1.05),
        (1e6, 9e5, 0.0, 1.5, 1.5),
        (3e4, 1.0, 0.0, 2.0, 2.0),
        (0.0, 1e-3, 1e6, 1.3, 1.0),
    ],
)
def test_coordinates_have_their_law(draws, v, lam, eta, q, p):
    """Cut at +-1, narrow and wide, with a kink and without one; against a plain integral."""
    factors = Factors(np.array([[v]]), np.array([lam]), np.array([eta]), q, p)
    rows = np.zeros(ROWS, dtype=int)
    x = factors.sample(draws(ROWS), "x", 0, 1, np.arange(ROWS), rows)[0][:, 0]
    ends = np.quantile(x, [0.0, 1.0]) + np.array([-1.0, 1.0]) * 0.5 * np.ptp(x)
    grid = np.linspace(*np.clip(ends, -1.0, 1.0), 40_001)
    logs = v * grid - lam * np.abs(grid) ** q - eta * np.abs(grid) ** p
    density = np.exp(logs - logs.max())
    below = np.append(0.0, np.cumsum(0.5 * (density[1:] + density[:-1])))
    assert kstest(x, lambda t: np.interp(t, grid, below / below[-1], 0.0, 1.0)).pvalue > 1e-3
    assert factors.propose(rows, draws(ROWS).uniform("y", 0, 3)[:, None, :])[1].mean() > 0.9


@pytest.mark.parametrize(("p", "c"), [(1.5, 3.0), (1.0, 4.0)])
def test_rows_do_not_depend_on_the_others_nor_on_how_many_are_looked_at(draws, monkeypatch, p, c):
    v = np.random.default_rng(0).standard_normal((90, 4)) * np.array([0.1, 3.0, 400.0])[np.arange(90) % 3, None]
    q = regulariser(p, 4)
    whole = sample_lp(draws(90), v, c, q, p)
    assert np.all(np.sum(np.abs(whole) ** p, axis=1) <= 1 + 1e-12)
    np.testing.assert_array_equal(sample_lp(draws(30, first=40), v[40:70], c, q, p), whole[40:70])
    monkeypatch.setattr(lp, "ROWS", 7)
    monkeypatch.setattr(lp, "VALUES", 8)
    np.testing.assert_array_equal(sample_lp(draws(90), v, c, q, p), whole)


def near(source, mean, sd, c, q, p, rows=ROWS):
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
def test_coordinates_and_their_sum_have_the_law_of_a_grid(draws, mean, sd, c, q, p):
    def logs(first, second):
        away = (first - mean[0]) ** 2 + (second - mean[1]) ** 2
        return -away / (2 * sd**2) - c * (np.abs(first) ** q + np.abs(second) ** q) ** (2 / q)

    x, capped = near(draws(ROWS), np.array(mean), sd, c, q, p)
    assert not capped.size
    in_plane(x, logs, p, size=2001)


K, WEIGHT, D = 6.0, 0.5, 4
SLOPES = np.array([[1.0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0]])


@pytest.mark.parametrize(("p", "q"), [(1.5, 1.5), (1.0, 1 + 1 / math.log(D)), (np.inf, 2.0)])
def test_an_exact_sample_stays_exact_under_the_alternating_sampler(draws, p, q):
    """On the cube the sampler itself has the regulariser, on other balls the normals that it draws."""
    rows, c, mean, cube = 20_000, K * WEIGHT, SLOPES.mean(axis=0), math.isinf(p)
    source, tilt = draws(rows), np.tile(K * mean, (rows, 1))

    def gaussian(name, step, centre, sd, rows):
        if cube:
            return gaussian_on_ball(source, name, step, centre, sd, p, 1.0, rows)
        return regularised_gaussian(source, name, step, centre, sd, c, q, p, 1.0, rows)

    def differences(z, x, indices, rows):
        return -np.einsum("rwd,rd->rw", SLOPES[indices], z - x)

    def exact(key):
        if cube:
            return truncated_normal(draws(rows, key).uniform("u", 0, D), mean / WEIGHT, 1 / math.sqrt(c), 1.0)
        return sample_lp(draws(rows, key), tilt, c, q, p)

    eta = step_size(K, max(1.0, D ** (1 / p - 0.5)), 0.05)
    chains = ProximalSampler(source, gaussian, differences, len(SLOPES), K, c * cube, eta)
    start, others = exact("start"), exact("others")
    x = chains.run(start, 4)
    assert not chains.capped.any() and np.median(np.abs(x - start)) > 0.01
    for axis in range(D):
        assert ks_2samp(x[:, axis], others[:, axis]).pvalue > 1e-3
    assert ks_2samp(np.abs(x).sum(axis=1), np.abs(others).sum(axis=1)).pvalue > 1e-3


def test_a_row_without_an_accepted_point_is_capped_and_stays_in_the_ball(draws, monkeypatch):
    monkeypatch.setattr(truncated, "MOST_ATTEMPTS", 1)
    x, capped = near(draws(100), np.array([1.0, 0.0, 0.0]), 0.1, 2.0, 1.5, 1.0, rows=100)
    assert 0 < len(capped) < 100
    assert np.all(np.abs(x).sum(axis=1) <= 1 + 1e-12)
