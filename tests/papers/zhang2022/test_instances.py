"""The instances of the zhang2022 chapter: constants, closed forms, laws, signals side by side, anchors."""

import math

import numpy as np
import pytest

from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ...runs import drawn

CASES = {
    "linear_ball": {"d": 5, "spread": 0.5},
    "lp_ball": {"d": 5, "p": 1.5},
    "quad": {"d": 5, "spread": 0.25, "mu": 2.0},
    "anchored_ball": {"d": 5, "distance": 0.125},
}


def points(problem, rows, seed=0):
    """Points of the ball, some of them on its boundary."""
    x = np.random.default_rng(seed).standard_normal((rows, problem.dimension))
    norms = problem.feasible_set.norm(x)
    return x / norms * np.linspace(0.2, 1.0, rows)[:, None]


@pytest.mark.parametrize("name", CASES)
def test_the_constants_hold(name):
    problem = get_problem(name, **CASES[name])
    data, c = drawn(problem, 300), problem.constants
    x = points(problem, 4)
    records = problem.record_gradients(x, data, 0, 300)
    dual = 2.0 if c.norm == 2 else c.norm / (c.norm - 1)
    assert np.linalg.norm(records, ord=dual, axis=-1).max() <= c.lipschitz * (1 + 1e-12)
    other = problem.record_gradients(x[::-1], data, 0, 300)
    moved = np.linalg.norm(x - x[::-1], ord=c.norm, axis=-1)[:, None]
    assert (np.linalg.norm(records - other, ord=dual, axis=-1) <= c.smoothness * moved + 1e-12).all()
    noise = records - problem.population_gradient(x, data)[:, None, :]
    np.testing.assert_allclose(np.linalg.norm(noise, axis=-1), c.gradient_deviation, atol=1e-12)
    assert np.abs(noise.mean(axis=1)).max() < 5 * c.gradient_deviation / math.sqrt(5 * 300) + 1e-15
    assert c.ball.diameter == c.diameter == 2.0 and c.hessian_rank == 0


@pytest.mark.parametrize("name", CASES)
def test_the_excess_is_that_of_the_population_and_zero_at_its_optimum_alone(name):
    problem = get_problem(name, **CASES[name])
    data, x = drawn(problem, 10), points(problem, 4)
    best = problem.optimum(data)
    assert (problem.feasible_set.norm(best) <= 1 + 1e-12).all()
    np.testing.assert_allclose(problem.excess_risk(best, data), 0, atol=1e-15)
    excess = problem.excess_risk(x, data)
    np.testing.assert_allclose(excess, problem.risk(x, data) - problem.optimal_risk(data), atol=1e-12)
    assert (excess > 0).all()
    slope = problem.population_gradient(best, data)  # first-order condition over the ball
    assert (np.sum(slope * (x - best), axis=-1) >= -1e-12).all()
    step = 1e-6 * np.random.default_rng(1).standard_normal(x.shape)
    change = problem.risk(x + step, data) - problem.risk(x - step, data)
    np.testing.assert_allclose(change, 2 * np.sum(problem.population_gradient(x, data) * step, axis=-1), rtol=1e-6)


def test_sizes_of_the_chapter():
    for name, p, q in (("linear_ball", None, 2), ("lp_ball", 1.5, 3), ("anchored_ball", None, 2)):
        problem = get_problem(name, 6, signal=0.5, **({"p": p} if p else {}))
        np.testing.assert_allclose(np.linalg.norm(drawn(problem, 10).means, ord=q, axis=1), 0.5, rtol=1e-12)
    quad = get_problem("quad", 6, spread=0.25, mu=2.0)
    np.testing.assert_allclose(np.linalg.norm(quad.optimum(drawn(quad, 10)), axis=1), 0.3, rtol=1e-12)
    assert quad.constants.lipschitz == pytest.approx(2 * 1.55) and quad.constants.gradient_deviation == 0.5
    assert get_problem("anchored_ball", 6).constants.smoothness == 1 / 64


def test_the_anchor_is_feasible_and_at_the_stated_distance():
    problem = get_problem("anchored_ball", 4, distance=0.25).with_signals(np.array([0.1, 0.25, 0.5]))
    data = drawn(problem, 8)
    objective = Objective(problem, data, 12, n=8)
    start = objective.start
    np.testing.assert_allclose(np.linalg.norm(start - problem.optimum(data), axis=1), 0.25, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(start, axis=1), 0.75, rtol=1e-12)
    np.testing.assert_array_equal(Objective(get_problem("linear_ball", 3), Objective, 2, n=1).start, np.zeros((2, 3)))
