"""Minima carry certificates."""

import numpy as np
import pytest

from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.problems import minimisers
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.minimisers import minimise, minimise_glm, minimise_glm_in_ball, minimise_over_set
from dpsco_bench.problems.registry import get_problem

D, R = 6, 5
L2 = feasible_set("l2_ball", 1.0)
SETS = ("l1_ball", "l2_ball", "k_support_ball:2", "group_ball:3", "subspace_ball:4")


def random_quadratic(seed, smoothness=2.0, convexity=0.1):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((D, D)))[0]
    H = (basis * np.linspace(convexity, smoothness, D)) @ basis.T
    return H, rng.standard_normal((R, D))


def solve(H, b, domain, accuracy=1e-16, steps=200, start=None, **given):
    start, given = np.zeros((R, D)) if start is None else start, {"accuracy": accuracy, "steps": steps, **given}
    return minimise(lambda x: x @ H - b, domain.project, start, smoothness=2.0, convexity=0.1, **given)


@pytest.mark.parametrize("name", SETS)
def test_optimality_over_every_set(name):
    (H, b), domain = random_quadratic(1), feasible_set(name, 1.0)
    found = solve(H, b, domain)
    gradient = found.points @ H - b
    gap = np.sum(gradient * found.points, axis=1) + domain.support(-gradient)[:, 0]
    assert np.all(gap < 1e-7) and np.all(found.gap <= 1e-16) and np.all(domain.norm(found.points) <= 1 + 1e-9)


def test_the_certificate_bounds_the_gap_and_planned_steps_reach_it():
    H, b = random_quadratic(2)
    best = solve(H, b, L2).points
    for steps in (1, 3, 10):
        found = solve(H, b, L2, accuracy=np.inf, steps=steps)
        values = [np.sum((0.5 * x @ H - b) * x, axis=1) for x in (found.points, best)]
        assert found.steps == steps and np.all(found.gap >= values[0] - values[1] - 1e-14)
    H, b = random_quadratic(3)
    for accuracy in (1e-4, 1e-10, 1e-16):
        steps = minimisers.planned_steps(2.0, 0.1, 100.0 / accuracy)
        assert solve(H, b, feasible_set("l1_ball", 1.0), accuracy, steps).steps == steps


def test_rows_end_by_their_own_certificate_or_by_rounding():
    """More steps are made only for the row that asks for them."""
    H, b = random_quadratic(4)
    start = np.where(np.arange(R)[:, None] == 0, solve(H, b, L2).points, 0.0)
    found = solve(H, b, L2, 1e-16, 30, start)
    assert found.steps > 30 and np.all(found.gap <= 1e-16)
    alone = solve(H, b[:1], L2, 1e-16, 30, start[:1])
    np.testing.assert_allclose(found.points[0], alone.points[0], rtol=1e-12)  # matrix products may round differently
    large = np.arange(R) == 2
    found = solve(*random_quadratic(6), L2, 1e-20, size=np.where(large, 1e6, 1.0))
    np.testing.assert_array_equal(found.rounded, large)
    assert np.all(found.gap[~large] <= 1e-20)


SIZES = [("l1_ball", None), ("l2_ball", None), ("k_support_ball", 4), ("group_ball", 5)]


@pytest.mark.parametrize(("domain", "size"), SIZES)
def test_the_logistic_minimum_over_a_set(draw, domain, size):
    problem = get_problem("logistic_glm", 20, domain=domain, size=size)
    data = draw(problem, 300)
    point = minimise_over_set(problem, data, problem.set)
    gradient = problem.mean_gradient(point[None], data)
    assert np.sum(gradient * point) + problem.set.support(-gradient)[0, 0] <= 1e-13
    if domain == "l2_ball":
        assert problem.optimal_risk(data) == pytest.approx(minimise_glm_in_ball(problem, data, 1.0).value, abs=1e-12)


def gradient(problem, x, data):
    return problem.mean_gradient(x[None], data)[0] + problem.constants.regularisation * x


@pytest.mark.parametrize("n", [20, 1000])
def test_ridge_logistic_gradient_vanishes(draw, n):
    problem = get_problem("ridge_logistic", 6)
    data = draw(problem, n)
    best = minimise_glm(problem, data)
    assert np.linalg.norm(gradient(problem, best.point, data)) < 1e-7
    # By strong convexity the certificate bounds the error of the value: ||gradient||^2 / (2 mu).
    assert abs(best.value - problem.optimal_risk(data)) < 1e-14


def test_least_squares_rank_deficient_data_and_the_ridge_in_force(draw):
    rng = np.random.default_rng(0)
    low = np.tile(rng.standard_normal((30, 3)) / 3**0.5, (2, 1))  # labels that no hyperplane separates
    labels = np.repeat([1.0, -1.0], 30) * np.where(rng.random(60) < 0.1, -1, 1)
    basis = np.linalg.qr(rng.standard_normal((7, 3)))[0]
    narrow, plain = (get_problem("logistic_plain", d) for d in (3, 7))
    wide = Data(60, low @ basis.T, labels)
    best = minimise_glm(plain, wide)
    assert np.linalg.norm(gradient(plain, best.point, wide)) < 1e-7
    np.testing.assert_allclose(best.value, minimise_glm(narrow, Data(60, low, labels)).value, rtol=1e-13)
    problem = get_problem("rank8_least_squares", 12)
    data = draw(problem, 200)
    solution = np.linalg.lstsq(data.features, data.labels, rcond=None)[0]
    exact = 0.5 * np.mean((data.features @ solution - data.labels) ** 2)
    np.testing.assert_allclose(problem.optimal_risk(data), exact, rtol=1e-12)
    data = draw(get_problem("covertype_synthetic"), 200)
    by_option = get_problem("covertype_synthetic", regularisation=0.05).optimal_risk(data)
    by_constant = get_problem("covertype_synthetic", regularisation=0.0, constants={"regularisation": 0.05})
    assert by_constant.optimal_risk(data) == pytest.approx(by_option, rel=1e-12)
