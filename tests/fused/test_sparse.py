"""Losses and gradients by the entries that are not zero: those of the definition to 1e-12, whatever the sizes."""

import numpy as np
import pytest

from dpsco_bench.execution.run import get_measure
from dpsco_bench.fused import compiled, sparse
from dpsco_bench.fused.sparse import entries_of, excess_risk, mean_gradient
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.glm import RidgeLogistic
from dpsco_bench.problems.objective import Objective

if not compiled.available():
    pytest.skip("Numba is missing or switched off: reference implementations run", allow_module_level=True)


def records(n, d, rng, filled=3):
    """Rows of at most so many entries, empty ones among them."""
    rows = rng.standard_normal((n, d)) * (rng.random((n, d)) < filled / d)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    return Data(n, rows, np.where(rng.random(n) < 0.5, -1.0, 1.0))


class Printed(RidgeLogistic):
    """With the sign and the offset of the loss that wang2017 prints."""

    sign, offset = 1.0, 1.0


@pytest.mark.parametrize("problem", [RidgeLogistic, Printed])
@pytest.mark.parametrize("rows", [4, 7, 24, 53])
@pytest.mark.parametrize(("n", "d"), [(1, 30), (64, 40), (1003, 54)])
def test_gradients_and_risks_are_those_of_the_listing(problem, rows, n, d):
    rng = np.random.default_rng(n + rows)
    data = records(n, d, rng)
    for size in (1e-3, 1.0, 300.0):
        x = size * rng.standard_normal((rows, d))
        ours, listed = (Objective(problem(d), data, rows) for _ in range(2))
        ours.minimum = listed.minimum = 0.0
        assert entries_of(ours) is not None
        expected = listed.mean_gradient(x)
        np.testing.assert_allclose(mean_gradient(ours, x), expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(ours.evaluations, listed.evaluations)
        np.testing.assert_allclose(excess_risk(ours, x), listed.excess_risk(x), rtol=1e-12)
        np.testing.assert_array_equal(get_measure("excess_risk").value(ours, x), excess_risk(ours, x))


def test_where_they_are_taken():
    """Of few entries, of several replicates, in float64, of a loss that nothing has changed since."""
    rng = np.random.default_rng(0)
    few, many = records(200, 20, rng), records(200, 20, rng, filled=18)

    class Altered(RidgeLogistic):
        def mean_gradient(self, x, data):
            return super().mean_gradient(x, data)

    assert entries_of(Objective(RidgeLogistic(20), few, 8)) is not None
    for other in (
        Objective(RidgeLogistic(20), many, 8),
        Objective(RidgeLogistic(20), few, sparse.LEAST_ROWS - 1),
        Objective(RidgeLogistic(20), few, 8, dtype="float32"),
        Objective(Altered(20), few, 8),
    ):
        assert entries_of(other) is None


def test_an_altered_risk_is_kept():
    class Doubled(RidgeLogistic):
        def risk(self, x, data):
            return 2.0 * super().risk(x, data)

    data, x = records(100, 20, np.random.default_rng(1)), np.ones((4, 20))
    objective = Objective(Doubled(20), data, 4)
    objective.minimum = 0.0
    assert entries_of(objective) is not None
    np.testing.assert_array_equal(excess_risk(objective, x), objective.excess_risk(x))


def test_entries_are_those_of_the_data_that_are_there():
    data = records(50, 20, np.random.default_rng(2))
    objective = Objective(RidgeLogistic(20), data, 4)
    first = entries_of(objective)
    assert entries_of(objective) is first
    objective.data = Data(50, data.features[::-1].copy(), data.labels[::-1].copy())
    np.testing.assert_array_equal(entries_of(objective).labels, data.labels[::-1])


def test_a_gradient_evaluated_beside_a_risk_is_that_of_its_points():
    rng, rows, d = np.random.default_rng(3), 30, 40
    data, x = records(130, d, rng), rng.standard_normal((5, rows, d))
    beside, apart = (Objective(RidgeLogistic(d), data, rows) for _ in range(2))
    beside.minimum = 0.0
    for points in x:
        risk = excess_risk(beside, points)
        np.testing.assert_array_equal(risk, excess_risk(beside, points))
        np.testing.assert_array_equal(mean_gradient(beside, points), mean_gradient(apart, points))
        np.testing.assert_array_equal(beside.evaluations, apart.evaluations)
    points = x[0]
    for _ in range(3):  # at points that were changed in place since, and at others
        excess_risk(beside, points)
        points *= 0.5
        np.testing.assert_array_equal(mean_gradient(beside, points), mean_gradient(apart, points))
        excess_risk(beside, points)
        np.testing.assert_array_equal(mean_gradient(beside, x[1]), mean_gradient(apart, x[1]))
        np.testing.assert_array_equal(mean_gradient(beside, points), mean_gradient(apart, points))
    excess_risk(beside, points)
    beside.data = apart.data = records(130, d, rng)
    np.testing.assert_array_equal(mean_gradient(beside, points), mean_gradient(apart, points))
