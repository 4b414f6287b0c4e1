import numpy as np
import pytest

from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.problems.minimisers import minimise, minimise_glm_in_ball, minimise_over_set, planned_steps
from dpsco_bench.problems.registry import get_problem

D, R = 6, 5
SETS = ("l1_ball", "l2_ball", "k_support_ball:2", "group_ball:3", "subspace_ball:4")


def random_quadratic(seed, smoothness=2.0, convexity=0.1):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((D, D)))[0]
    H = (basis * np.linspace(convexity, smoothness, D)) @ basis.T
    return H, rng.standard_normal((R, D))


def solve(H, b, domain, accuracy=1e-16, steps=200, start=None):
    start = np.zeros((R, D)) if start is None else start
    return minimise(
        lambda x: x @ H - b, domain.project, start, smoothness=2.0, convexity=0.1, accuracy=accuracy, steps=steps
    )


@pytest.mark.parametrize("name", SETS)
def test_optimality_over_every_set(name):
    H, b = random_quadratic(1)
    domain = feasible_set(name, 1.0)
    found = solve(H, b, domain)
    gradient = found.points @ H - b
    gap = np.sum(gradient * found.points, axis=1) + domain.support(-gradient)[:, 0]
    assert np.all(gap < 1e-7) and np.all(found.gap <= 1e-16) and np.all(domain.norm(found.points) <= 1 + 1e-9)


def test_the_certificate_bounds_the_gap():
    H, b = random_quadratic(2)
    domain = feasible_set("l2_ball", 1.0)

    def value(x):
        return 0.5 * np.sum(x @ H * x, axis=1) - np.sum(b * x, axis=1)

    best = value(solve(H, b, domain).points)
    for steps in (1, 3, 10):
        found = solve(H, b, domain, accuracy=np.inf, steps=steps)
        assert found.steps == steps
        assert np.all(found.gap >= value(found.points) - best - 1e-14)


def test_planned_steps_reach_the_accuracy_without_an_extension():
    H, b = random_quadratic(3)
    for accuracy in (1e-4, 1e-10, 1e-16):
        steps = planned_steps(2.0, 0.1, 100.0 / accuracy)
        assert solve(H, b, feasible_set("l1_ball", 1.0), accuracy, steps).steps == steps


def test_more_steps_are_made_where_the_certificate_asks_for_them_and_only_for_its_row():
    H, b = random_quadratic(4)
    domain = feasible_set("l2_ball", 1.0)
    optimum = solve(H, b, domain).points
    start = np.where(np.arange(R)[:, None] == 0, optimum, 0.0)
    found = solve(H, b, domain, 1e-16, 30, start)
    assert found.steps > 30 and np.all(found.gap <= 1e-16)
    alone = minimise(
        lambda x: x @ H - b[:1], domain.project, start[:1], smoothness=2.0, convexity=0.1, accuracy=1e-16, steps=30
    )
    np.testing.assert_allclose(found.points[0], alone.points[0], rtol=1e-12)  # matrix products may round differently


def test_what_rounding_ends_is_said_row_by_row():
    H, b = random_quadratic(6)
    domain = feasible_set("l2_ball", 1.0)
    large = np.arange(R) == 2
    found = minimise(
        lambda x: x @ H - b,
        domain.project,
        np.zeros((R, D)),
        smoothness=2.0,
        convexity=0.1,
        accuracy=1e-20,
        steps=200,
        size=np.where(large, 1e6, 1.0),
    )
    np.testing.assert_array_equal(found.rounded, large)
    assert np.all(found.gap[~large] <= 1e-20)


@pytest.mark.parametrize("size", [("l1_ball", None), ("l2_ball", None), ("k_support_ball", 4), ("group_ball", 5)])
def test_the_logistic_minimum_over_a_set(draw, size):
    problem = get_problem("logistic_glm", 20, domain=size[0], size=size[1])
    data = draw(problem, 300)
    point = minimise_over_set(problem, data, problem.set)
    gradient = problem.mean_gradient(point[None], data)
    gap = float(np.sum(gradient * point)) + float(problem.set.support(-gradient)[0, 0])
    assert gap <= 1e-13
    if size[0] == "l2_ball":
        assert problem.optimal_risk(data) == pytest.approx(minimise_glm_in_ball(problem, data, 1.0).value, abs=1e-12)
