"""The canary problem is a true worst case: its declared constants hold and are attained."""

import numpy as np
import pytest

from dpsco_bench.problems.base import Data
from dpsco_bench.problems.registry import get_problem


def record_gradient(problem, data, x, record=0):
    one = Data(1, data.features[None, record : record + 1], data.labels[None, record : record + 1])
    return problem.batch_gradient(x[None], one, np.ones((1, 1)))[0]


@pytest.fixture(params=["turning", "steady"])
def canary(request, draw):
    problem = get_problem("canary_huber", 3, canary=request.param)
    return problem, draw(problem, 20)


def test_the_neighbour_differs_in_one_record_and_mirrors_its_gradient(canary):
    problem, data = canary
    other = problem.neighbour(data)
    changed = (data.features != other.features).any(axis=1) | (data.labels != other.labels)
    np.testing.assert_array_equal(np.flatnonzero(changed), [0])
    x = np.array([4.0, 0.0, 0.0])
    mirrored = record_gradient(problem, data, x) * [1, -1, -1]
    np.testing.assert_allclose(record_gradient(problem, other, x), mirrored)


def test_the_steady_canary_attains_the_sensitivity_of_a_gradient(draw):
    problem = get_problem("canary_huber", 2, canary="steady")
    data = draw(problem, 10)
    for x in (problem.start, np.zeros(2), np.array([-50.0, 30.0]), np.array([0.0, -200.0])):
        change = record_gradient(problem, data, x) - record_gradient(problem, problem.neighbour(data), x)
        assert np.linalg.norm(change) == pytest.approx(2.0)


def test_the_turning_canary_nearly_attains_the_sensitivity_of_a_difference(draw):
    problem = get_problem("canary_huber", 2)
    data = draw(problem, 10)
    turns = [
        record_gradient(problem, side, np.zeros(2)) - record_gradient(problem, side, problem.start)
        for side in (data, problem.neighbour(data))
    ]
    assert [np.linalg.norm(turn) for turn in turns] == pytest.approx([2.0, 2.0])
    assert np.linalg.norm(turns[0] - turns[1]) == pytest.approx(4 * np.sqrt(0.99))
