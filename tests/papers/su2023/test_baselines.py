import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.papers.su2023.algorithms.table1 import Projected, PublicMetric, shortest_in_l1, weighted_vertices
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

TTZ = get_algorithm("su2023.ttz14")
PRIVACY = PrivacySpec(1.0, 1e-6)


@pytest.mark.parametrize(("domain", "factor"), [("l1_ball", 1), ("l2_ball", 16)])
def test_the_step_of_ttz14(execute, domain, factor):
    """The first iterate of a run with one step: a mirror step of 1/(s sqrt(T)), with sqrt(d T) on the l2 ball."""
    problem = get_problem("pointmass_linear", 16, domain=domain)
    made = TTZ.plan(problem.constants, 400, 16, PRIVACY, "standard", steps=1)
    data = problem.draw(400, None)
    tiny = execute(TTZ, made, problem, data, scale=1e-9)  # too small to see, but a step that is set by it: far out
    np.testing.assert_allclose(tiny[0], problem.vertex, atol=1e-6)
    if domain == "l2_ball":
        s = 5.0
        moved = execute(TTZ, made, problem, data, scale=s, replicates=4000).mean(axis=0)
        assert moved @ problem.vertex == pytest.approx(1 / (s * math.sqrt(factor)), rel=0.3)


@pytest.mark.parametrize("domain", ["l1_ball", "l2_ball"])
def test_the_projected_problem(draw, domain):
    problem = get_problem("logistic_glm", 8, domain=domain)
    small = Projected(Objective(problem, draw(problem, 50), 6), 4, 1.0)
    assert np.linalg.norm(small.data.features, axis=1).max() <= 1.1 + 1e-12
    u = np.random.default_rng(0).normal(size=(6, 4))
    for _ in range(20):
        v = small.project(u)
    x = small.lift(v)
    np.testing.assert_allclose(x @ small.matrix.T, v, atol=1e-8)
    assert np.all(problem.set.norm(x) <= 1 + 1e-4)
    residual = (u - v) @ small.matrix
    gap = problem.set.support(residual)[:, 0] - np.sum((u - v) * v, axis=1)
    assert np.all(gap <= 1e-4), "v is the nearest point: <u - v, w - v> <= 0 for all w"


def test_slopes_of_the_projected_problem_are_clipped(draw):
    """Beyond the ball the squared loss is steeper than L = 2; within it nothing changes."""
    problem = get_problem("public_quadratic", 8)
    small = Projected(Objective(problem, draw(problem, 50), 1), 8, 2.0)
    near, far = 0.1 * np.ones((1, 8)), 1e6 * np.ones((1, 8))
    np.testing.assert_array_equal(small.mean_gradient(near), problem.mean_gradient(near, small.data))
    signs = np.sign(far @ small.data.features.T)
    np.testing.assert_allclose(small.mean_gradient(far), 2.0 * signs @ small.data.features / 50)


def test_the_entropic_map_is_exponentiated_gradient_on_the_vertices():
    u = np.random.default_rng(3).normal(size=(4, 5))
    weights = np.exp(np.concatenate([-u, u], axis=1))
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weighted_vertices(u, 2.0), 2.0 * (weights[:, :5] - weights[:, 5:]), atol=1e-14)
    np.testing.assert_array_equal(weighted_vertices(np.zeros((1, 5)), 2.0), np.zeros((1, 5)))
    far = weighted_vertices(np.array([[-1e4, 3.0, 1.0]]), 1.0)
    np.testing.assert_allclose(far, [[1.0, 0.0, 0.0]], atol=1e-300)


def test_shortest_points():
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(shortest_in_l1(matrix, np.array([1.0, -3.0])), [0.0, 0.5, -3.0], atol=1e-9)
    np.testing.assert_array_equal(shortest_in_l1(matrix, np.zeros(2)), np.zeros(3))


def test_projections_in_the_public_metric():
    """KKT: <u - x, Q (w - x)> <= 0 for every w of the ball."""
    problem = get_problem("public_quadratic", 6, public_points=64)
    objective = Objective(problem, problem.domain_records(2, 0), 5)
    metric, u = PublicMetric(objective), np.random.default_rng(1).normal(size=(5, 6))
    x = metric.project(u, np.zeros((5, 6)))
    for _ in range(5):
        x = metric.project(u, x)
    pull = (u - x) @ metric.matrix
    gap = problem.own_constants.ball.support(pull)[:, 0] - np.sum(pull * x, axis=1)
    assert np.all(gap < 1e-6)
    inside = 0.1 * u / np.linalg.norm(u, axis=1, keepdims=True)
    np.testing.assert_allclose(metric.project(inside, inside), inside, atol=1e-12)
