"""Gradients, risks and declared constants of every problem agree with each other."""

import numpy as np
import pytest

from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.problems import glm
from dpsco_bench.problems.base import Data, Trait

from .conftest import CONVEX, GLOBAL, ORACLES

POINTS = 5


def is_smooth(problem):
    """Tell whether a smoothness constant is declared: 0 is one of linear losses only."""
    return problem.constants.smoothness > 0 or Trait.LINEAR_LOSS in problem.traits


@pytest.fixture
def points(problem):
    return np.random.default_rng(1).standard_normal((POINTS, problem.dimension))


def test_gradients_are_derivatives_of_the_risk_and_means_of_records(problem, draw, points):
    n, lam, h = 30, problem.constants.regularisation, 1e-6
    data = draw(problem, n)
    gradient = problem.mean_gradient(points, data) + lam * points + problem.l1 * np.sign(points)
    numerical = np.empty_like(points)
    for j in range(problem.dimension):
        shift = h * np.eye(problem.dimension)[j]
        numerical[:, j] = (problem.risk(points + shift, data) - problem.risk(points - shift, data)) / (2 * h)
    np.testing.assert_allclose(gradient, numerical, rtol=1e-5, atol=1e-7 * max(1.0, np.abs(gradient).max()))
    indices = np.broadcast_to(np.arange(n), (POINTS, n))
    total = problem.batch_gradient(points, problem.gather(data, indices), np.ones((POINTS, n)))
    np.testing.assert_allclose(total / n, problem.mean_gradient(points, data), rtol=1e-12, atol=1e-14)


def inside(problem, x):
    """Points moved into the problem's domain."""
    ball = problem.constants.ball
    return x if ball is None else ball.project(x)


@pytest.mark.parametrize("problem", CONVEX, indirect=True)
def test_the_optimum_is_not_beaten_and_the_initial_gap_bounds_that_of_the_start(problem, draw, points):
    data, start = draw(problem, 30), problem.start[None]
    for x in (points, 0.1 * points, start):
        assert np.all(problem.risk(inside(problem, x), data) - problem.optimal_risk(data) >= -1e-12)
    # D0 is a-priori; on a drawn data set it is an upper bound up to the sampling of small n.
    data = draw(problem, 2000)
    assert problem.risk(start, data)[0] - problem.optimal_risk(data) <= problem.constants.initial_gap * 1.1


def test_strong_convexity_and_smoothness_hold_and_agree_with_the_traits(problem, draw, points):
    data = draw(problem, 30)
    c, lam = problem.constants_of(data), problem.constants.regularisation
    if {Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ} & problem.traits:
        assert c.strong_convexity > 0
    if Trait.STRONGLY_CONVEX in problem.traits:
        assert Trait.POLYAK_LOJASIEWICZ in problem.traits, "strong convexity implies the inequality"
        assert not is_smooth(problem) or c.strong_convexity <= c.total_smoothness * (1 + 1e-12)
    gradient = problem.mean_gradient(points, data) + lam * points
    move, change = points[1:] - points[:-1], gradient[1:] - gradient[:-1]
    square = (move**2).sum(axis=1)
    if is_smooth(problem):
        assert np.all(np.linalg.norm(change, axis=1) <= c.total_smoothness * np.sqrt(square) * (1 + 1e-9))
    if Trait.CONVEX in problem.traits:
        lower = c.strong_convexity if Trait.STRONGLY_CONVEX in problem.traits else 0.0
        assert np.all((move * change).sum(axis=1) >= (lower - 1e-12) * square * (1 - 1e-9))


@pytest.mark.parametrize("problem", [name for name in GLOBAL if name not in ORACLES], indirect=True)
def test_records_of_the_domain_obey_the_lipschitz_constant(problem):
    dual, largest = dual_exponent(problem.constants.norm), 0.0
    records, rng = problem.domain_records(40, seed=2), np.random.default_rng(3)
    for radius in (0.1, 10.0, 1e4):
        x = inside(problem, radius * rng.standard_normal((40, problem.dimension)))
        one_each = Data(40, records.features[:, None, :], records.labels[:, None])
        single = problem.batch_gradient(x, one_each, np.ones((40, 1)))
        largest = max(largest, float(np.linalg.norm(single, axis=1, ord=dual).max()))
    assert 0.5 < largest / problem.constants.lipschitz <= 1 + 1e-12


@pytest.mark.parametrize("problem", ORACLES, indirect=True)
def test_an_oracle_on_a_ball_obeys_its_constants(problem, draw):
    x = inside(problem, 100.0 * np.random.default_rng(3).standard_normal((400, problem.dimension)))
    gradients, c = problem.mean_gradient(x, draw(problem, 4)), problem.constants
    assert lp_norm(gradients, dual_exponent(c.norm)).max() <= c.lipschitz * (1 + 1e-12)


def test_drawn_records_lie_in_the_domain_and_single_precision_stays_single(problem, draw, points):
    data, x = draw(problem, 50), points.astype(np.float32)
    assert data.n == 50
    if data.features is not None:
        assert data.features.shape == (50, problem.dimension) and data.features.dtype == np.float64
        assert np.linalg.norm(data.features, axis=1).max() <= 1 + 1e-12
        assert data.labels.shape == (50,) and np.isfinite(data.labels).all()
    data = data.to(np, "float32")
    batch = problem.gather(data, np.zeros((POINTS, 2), dtype=np.int64))
    assert problem.mean_gradient(x, data).dtype == np.float32
    assert problem.batch_gradient(x, batch, np.ones((POINTS, 2), dtype=np.float32)).dtype == np.float32


@pytest.mark.parametrize("size", [1, 7, 30, 1000])
def test_the_gradient_does_not_depend_on_blocks_of_records(problem, draw, points, size, monkeypatch):
    data = draw(problem, 30)
    whole = problem.mean_gradient(points, data)
    monkeypatch.setattr(glm, "CACHED_SCORES", 0)
    monkeypatch.setattr(glm, "LEAST_RECORDS", size)
    np.testing.assert_allclose(problem.mean_gradient(points, data), whole, rtol=1e-12, atol=1e-14)
