import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.problems.base import Batch, Data
from dpsco_bench.problems.minimisers import minimise_glm
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem


@pytest.fixture
def data(draw):
    return draw(get_problem("ridge_logistic", 3), 20)


@pytest.fixture
def objective(data):
    return Objective(get_problem("ridge_logistic", 3), data, replicates=2)


def batch(indices, mask, expected):
    mask = np.asarray(mask, dtype=float)
    return Batch(np.asarray(indices), mask, mask.sum(axis=-1), expected)


def test_batch_means_divide_by_the_expected_size(objective, data):
    x = np.random.default_rng(0).standard_normal((2, 3))
    drawn = batch([[1, 2, 0], [4, 0, 0]], [[1, 1, 0], [1, 0, 0]], 5.0)
    got = objective.batch_gradient(x, drawn)
    for r, records in enumerate(([1, 2], [4])):
        rows = Data(len(records), data.features[records], data.labels[records])
        expected = objective.problem.mean_gradient(x[r : r + 1], rows)[0] * len(records) / 5.0
        np.testing.assert_allclose(got[r], expected, rtol=1e-13)


def test_prox_solves_its_problem(objective):
    """``argmin (1/2)||u - x||^2 + step (lambda/2) ||u||^2``: the gradient vanishes there."""
    x, step = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, 1.0]]), np.array([[0.3], [2.0]])
    u = objective.prox(x, step)
    np.testing.assert_allclose(u - x + step * objective.regulariser_gradient(u), 0.0, atol=1e-15)
    # argmin over the ball of ``||y - x||^2/2``: the projection; there is no domain elsewhere.
    given = Data(1, np.ones((1, 2)), np.ones(1)), 1
    ball = Objective(get_problem("logistic_plain", 2, radius=1.0), *given)
    np.testing.assert_allclose(ball.prox(np.array([[3.0, 4.0], [0.3, 0.4]]), 0.5), [[0.6, 0.8], [0.3, 0.4]])
    free = Objective(get_problem("logistic_plain", 2), *given)
    assert free.domain is None and free.prox(np.array([[3.0, 4.0]]), 0.5)[0, 0] == 3.0


def test_the_excess_risk_is_that_of_double_precision_and_zero_at_the_optimum(data, objective):
    """Near the optimum a float32 risk would be noise: the excess comes out to the accuracy of the point."""
    x = np.array([[0.3, 0.2, 0.1]] * 2, dtype=np.float32)
    risk = Objective(objective.problem, data, 2, np, "float32").excess_risk(x)
    assert risk.dtype == np.float64
    np.testing.assert_allclose(risk, objective.excess_risk(x.astype(np.float64)), rtol=0, atol=1e-15)
    best = minimise_glm(objective.problem, data).point
    assert np.abs(objective.excess_risk(np.stack([best, best]))).max() < 1e-14


@pytest.mark.parametrize("name", ["ridge_logistic", "rank8_least_squares", "diag_quadratic"])
@pytest.mark.parametrize("xp", [np, strict])
def test_ranges_of_shared_records_are_their_slices(name, xp, draw):
    problem = get_problem(name)
    data, d = draw(problem, 12), problem.dimension
    objective = Objective(problem, data, 2, xp)
    x, other = (xp.asarray(points) for points in np.random.default_rng(1).standard_normal((2, 2, d)))
    part = data if data.features is None else Data(5, data.features[3:8], data.labels[3:8])
    expected = problem.mean_gradient(np.asarray(x), part)
    mean = objective.range_gradient(x, 3, 5)
    np.testing.assert_allclose(np.asarray(mean), expected, rtol=1e-14)
    pair = objective.range_gradient_pair(x, other, 3, 5)
    np.testing.assert_array_equal(np.asarray(pair[0]), np.asarray(mean))
    np.testing.assert_allclose(np.asarray(pair[1]), problem.mean_gradient(np.asarray(other), part), rtol=1e-14)
    each = np.asarray(objective.record_gradients(x, 3, 5))
    assert each.shape == (2, 5, d)
    np.testing.assert_allclose(each.mean(axis=1), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(np.asarray(objective.evaluations), [20, 20])


class OwnSamples(type(get_problem("rank8_least_squares", 8))):
    """Least squares in which every replicate has its own records."""

    draws_per_replicate = True


@pytest.mark.parametrize("xp", [np, strict])
def test_samples_of_each_replicate_take_the_place_of_shared_records(xp, draw):
    problem, shared = OwnSamples(8), get_problem("rank8_least_squares", 8)
    sets = [draw(shared, 10, data_set) for data_set in range(3)]
    rows, labels = (xp.asarray(np.stack([getattr(s, key) for s in sets])) for key in ("features", "labels"))
    objective = Objective(problem, Data(10, rows, labels), 3, xp, n=10)
    points = np.random.default_rng(2).standard_normal((3, 8))
    x, indices = xp.asarray(points), np.array([[0, 3], [9, 9], [4, 1]])
    drawn = Batch(xp.asarray(indices), xp.ones((3, 2)), xp.asarray([2.0, 2.0, 2.0]), 2.0)
    got = [objective.range_gradient(x, 2, 4), objective.record_gradients(x, 2, 4), objective.batch_gradient(x, drawn)]
    for r, data in enumerate(sets):
        one = Objective(shared, data, 1)
        own = points[r : r + 1]
        expected = [one.range_gradient(own, 2, 4), one.record_gradients(own, 2, 4)]
        expected += [one.batch_gradient(own, batch([indices[r]], [[1, 1]], 2.0))]
        for mine, theirs in zip(got, expected, strict=True):
            np.testing.assert_allclose(np.asarray(mine)[r], theirs[0], rtol=1e-12)
    np.testing.assert_array_equal(np.asarray(objective.evaluations), 10.0)
