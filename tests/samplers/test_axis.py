import numpy as np
import pytest
from scipy.stats import kstest

from dpsco_bench.laws.axis import AxisLaw
from dpsco_bench.samplers.axis import AxisEnvelope, sample_axis, towards

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


@pytest.mark.parametrize("law", LAWS)
def test_the_envelope_dominates_the_density_in_every_cell(law):
    envelope, rng = AxisEnvelope(*law), np.random.default_rng(1)
    x, tau = envelope.edges
    for position in (*rng.uniform(size=(6, 2)), (0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)):
        at = x[:-1] + position[0] * np.diff(x)
        height = tau[:-1] + position[1] * np.diff(tau)
        with np.errstate(divide="ignore"):
            density = envelope.log_density(at[:, None], height)
        inside = np.abs(at)[:, None] ** law[0] + height ** law[0] < 1 - 1e-12
        slack = envelope.bounds - density
        assert np.all(slack[inside] >= -1e-9 * (1 + np.abs(density[inside])))


@pytest.mark.parametrize("law", LAWS)
def test_cells_tile_the_ball(law):
    x, tau = AxisEnvelope(*law).edges
    assert x[0] == -1 and x[-1] == 1 and tau[0] == 0 and tau[-1] == 1
    assert np.all(np.diff(x) > 0) and np.all(np.diff(tau) > 0)


@pytest.mark.parametrize("law", LAWS)
def test_most_proposals_are_accepted(draws, law):
    assert AxisEnvelope(*law).propose(draws(20000).uniform("u", 0, 4))[2].mean() > 0.84


@pytest.mark.parametrize("law", [*LAWS, (1.5, 32, 40.0, 32.0), (2.0, 1, 3.0, 1.0), (1.5, 3, -5.0, 3.0)])
def test_the_first_coordinate_has_the_law_of_the_quadrature(draws, law):
    p, d, kap, c = law
    x = sample_axis(draws(4000), p, d, np.full(4000, kap), c)
    assert np.all(np.sum(np.abs(x) ** p, axis=1) <= 1 + 1e-12)
    quadrature = AxisLaw(p, d, kap, c)
    grid = np.unique(quadrature.quantiles(200))
    below = np.array([1.0 - quadrature.tail(t) for t in grid])
    assert kstest(x[:, 0], lambda t: np.interp(t, grid, below, 0.0, 1.0)).pvalue > 1e-3


def test_a_wrong_tilt_is_noticed(draws):
    x = sample_axis(draws(4000), 1.5, 3, np.full(4000, 5.4), 3.0)
    quadrature = AxisLaw(1.5, 3, 5.0, 3.0)
    grid = quadrature.quantiles(200)
    below = np.array([1.0 - quadrature.tail(t) for t in grid])
    assert kstest(x[:, 0], lambda t: np.interp(t, grid, below, 0.0, 1.0)).pvalue < 1e-3


@pytest.mark.parametrize(
    ("law", "mean", "variance"),
    [((1.5, 3, 5.0, 3.0), 0.4688802, 0.0740627), ((2.0, 2, 5.0, 2.0), 0.626620046717, 0.0675238867866)],
)
def test_check_vectors(draws, score, law, mean, variance):
    p, d, kap, c = law
    x = sample_axis(draws(200000), p, d, np.full(200000, kap), c)[:, 0]
    assert score(x, mean) < 3 and score((x - mean) ** 2, variance) < 3


def test_the_other_coordinates_are_exchangeable_and_independent_of_the_axis_given_their_norm(draws, score):
    x = sample_axis(draws(20000), 1.5, 4, np.full(20000, 3.0), 2.0)
    power = np.abs(x[:, 1:]) ** 1.5
    share = power[:, 0] / power.sum(axis=1)
    assert score(share, 1 / 3) < 4 and score((share - 1 / 3) * (x[:, 0] - x[:, 0].mean()), 0.0) < 4
    assert score(x[:, 1], 0.0) < 4


def test_rows_have_their_own_tilts(draws, score):
    tilts = np.repeat([-4.0, 0.0, 6.0], 8000)
    x = sample_axis(draws(24000), 1.5, 3, tilts, 2.0)[:, 0].reshape(3, 8000)
    for values, kap in zip(x, (-4.0, 0.0, 6.0), strict=True):
        assert score(values, AxisLaw(1.5, 3, kap, 2.0).mean()) < 4


def test_rows_do_not_depend_on_the_others(draws):
    whole = sample_axis(draws(64), 1.5, 3, np.linspace(-2, 5, 64).round(1), 2.0)
    part = sample_axis(draws(24, first=40), 1.5, 3, np.linspace(-2, 5, 64).round(1)[40:], 2.0)
    np.testing.assert_array_equal(part, whole[40:])


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
