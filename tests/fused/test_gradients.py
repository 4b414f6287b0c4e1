"""Mean gradients and risks in one pass, by the moments of the records and by their entries: those of the definition."""

import numpy as np
import pytest

from dpsco_bench.execution.run import get_measure
from dpsco_bench.fused import gradients, sparse
from dpsco_bench.fused.gradients import by_products, moments_gradient, one_pass, summed_gradients, tanh_of_half
from dpsco_bench.fused.sparse import entries_of, excess_risk
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.data import CONSTANT, HUBER, LOGISTIC, PSEUDO_HUBER, SQUARED
from dpsco_bench.problems.glm import PublicQuadratic, RidgeLogistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ..runs import needs_numba

needs_numba()

MARGINS = np.concatenate([np.linspace(-60, 60, 20001), *(s * 10.0 ** np.linspace(-300, 2, 603) for s in (-1, 1))])


def test_tanh_is_that_of_the_library_to_1e_12():
    """Tiny arguments too: a difference from 1 would lose them."""
    np.testing.assert_allclose([*map(tanh_of_half, MARGINS)], np.tanh(0.5 * MARGINS), rtol=1e-14, atol=0)
    ends = [tanh_of_half(margin) for margin in (0.0, -0.0, np.inf, -np.inf)]
    assert ends == [0.0, 0.0, 1.0, -1.0] and np.signbit(ends[1])


def records(n, d, seed, filled=1000):
    """Rows of about so many entries at most, empty ones among them, none longer than 1."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d)) * (rng.random((n, d)) < filled / d)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    return Data(n, rows, np.where(rng.random(n) < 0.5, -1.0, 1.0))


class Printed(RidgeLogistic):
    """With the sign and the offset of the loss that wang2017 prints."""

    sign, offset = 1.0, 1.0


class Altered(RidgeLogistic):
    """A loss that somebody has changed since."""

    def mean_gradient(self, x, data):
        return 2.0 * super().mean_gradient(x, data)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize(("n", "d"), [(1, 20), (15, 1), (257, 54), (1003, 130)])
def test_a_gradient_is_that_of_the_listing(rows, n, d):
    problem, data, rng = RidgeLogistic(d), records(n, d, n + rows), np.random.default_rng(1)
    for size in (1e-3, 1.0, 100.0):
        x = size * rng.standard_normal((rows, d))
        ours, listed = (Objective(problem, data, rows) for _ in range(2))
        found, expected = gradients.mean_gradient(ours, x), listed.mean_gradient(x)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())
        np.testing.assert_array_equal(ours.evaluations, listed.evaluations)


@pytest.mark.parametrize("problem", [RidgeLogistic, Printed])
@pytest.mark.parametrize("rows", [4, 7, 24, 53])
@pytest.mark.parametrize(("n", "d"), [(1, 30), (64, 40), (1003, 54)])
def test_gradients_and_risks_by_entries_are_those_of_the_listing(problem, rows, n, d):
    data, rng = records(n, d, n + rows, filled=3), np.random.default_rng(1)
    for size in (1e-3, 1.0, 300.0):
        x = size * rng.standard_normal((rows, d))
        ours, listed = (Objective(problem(d), data, rows) for _ in range(2))
        ours.minimum = listed.minimum = 0.0
        assert entries_of(ours) is not None
        np.testing.assert_allclose(sparse.mean_gradient(ours, x), listed.mean_gradient(x), rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(ours.evaluations, listed.evaluations)
        np.testing.assert_allclose(excess_risk(ours, x), listed.excess_risk(x), rtol=1e-12)
        np.testing.assert_array_equal(get_measure("excess_risk").value(ours, x), excess_risk(ours, x))


SLOPES = {
    (CONSTANT, 0.3, 0.0): lambda m, y: 0.3 + 0.0 * m,
    (SQUARED, 1.0, 0.0): lambda m, y: m - y,
    (LOGISTIC, 1.0, 1.0): lambda m, y: y / (1.0 + np.exp(-1.0 - y * m)),
    (HUBER, 2.0, 0.0): lambda m, y: np.clip(2.0 * (m - y), -1.0, 1.0),
    (PSEUDO_HUBER, 0.5, 0.0): lambda m, y: (m - y) / np.sqrt((m - y) ** 2 + 0.25),
}


@pytest.mark.parametrize("form", SLOPES, ids=str)
def test_every_slope(form):
    data, x = records(300, 20, 7), 2.0 * np.random.default_rng(7).standard_normal((3, 20))
    expected = SLOPES[form](x @ data.features.T, data.labels) @ data.features
    found = summed_gradients(x, data.features, data.labels, *form)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_where_each_is_taken(monkeypatch):
    """Entries: of few, of several replicates, in float64, of a loss that nothing has changed since."""

    def taken(rows, n=1000, problem=RidgeLogistic):
        return one_pass(Objective(problem(20), records(n, 20, 0), rows))

    assert taken(2, n=100) and not taken(2)
    monkeypatch.setattr(gradients, "LEAST_BYTES", 1000 * 20 * 8)
    assert taken(2) and taken(gradients.MOST_ROWS) and not taken(gradients.MOST_ROWS + 1) and not taken(2, n=999)
    assert not taken(2, problem=Altered)
    few, many = records(200, 20, 0, filled=3), records(200, 20, 0, filled=18)
    first = Objective(RidgeLogistic(20), few, 8)
    assert entries_of(first) is entries_of(first) is not None
    assert entries_of(Objective(RidgeLogistic(20), few, 8, dtype="float32")) is None
    without = (RidgeLogistic, many, 8), (RidgeLogistic, few, sparse.LEAST_ROWS - 1), (Altered, few, 8)
    for problem, data, rows in without:
        assert entries_of(Objective(problem(20), data, rows)) is None
    first.data = Data(200, few.features[::-1].copy(), few.labels[::-1].copy())
    np.testing.assert_array_equal(entries_of(first).labels, few.labels[::-1])  # those of the data that are there
    assert moments_gradient(public(), 4) is not None and moments_gradient(public(), 3) is None
    assert moments_gradient(public(20), 100) is moments_gradient(public(problem=RidgeLogistic), 100) is None


def test_products_with_compiled_slopes_are_the_gradient_of_the_problem():
    data, x = records(700, 6, 5), 3.0 * np.random.default_rng(5).standard_normal((300, 6))
    for problem in (RidgeLogistic(6), Altered(6), get_problem("data_twin", 6, loss="huber")):
        found = by_products(problem, data)(x)
        np.testing.assert_allclose(found, problem.mean_gradient(x, data), rtol=1e-12, atol=1e-15)


def test_an_altered_risk_is_kept():
    class Doubled(RidgeLogistic):
        def risk(self, x, data):
            return 2.0 * super().risk(x, data)

    objective, x = Objective(Doubled(20), records(100, 20, 1, filled=3), 4), np.ones((4, 20))
    objective.minimum = 0.0
    assert entries_of(objective) is not None
    np.testing.assert_array_equal(excess_risk(objective, x), objective.excess_risk(x))


def test_a_gradient_evaluated_beside_a_risk_is_that_of_its_points():
    data, x = records(130, 40, 3, filled=3), np.random.default_rng(3).standard_normal((5, 30, 40))
    beside, apart = (Objective(RidgeLogistic(40), data, 30) for _ in range(2))
    beside.minimum = 0.0

    def agree(points):
        np.testing.assert_array_equal(sparse.mean_gradient(beside, points), sparse.mean_gradient(apart, points))

    for points in x:
        np.testing.assert_array_equal(excess_risk(beside, points), excess_risk(beside, points))
        agree(points)
        np.testing.assert_array_equal(beside.evaluations, apart.evaluations)
    points = x[0]
    for _ in range(3):  # at points that were changed in place since, and at others
        excess_risk(beside, points)
        points *= 0.5
        agree(points)
        excess_risk(beside, points)
        agree(x[1])
        agree(points)
    excess_risk(beside, points)
    beside.data = apart.data = records(130, 40, 4, filled=3)
    agree(points)


def public(n=300, problem=PublicQuadratic):
    return Objective(problem(20), records(n, 20, 0), 6)


@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_a_gradient_by_moments_is_that_of_the_records(size):
    ours, x = public(), size * np.random.default_rng(0).standard_normal((6, 20))
    np.testing.assert_allclose(moments_gradient(ours, 100)(x), ours.mean_gradient(x), rtol=1e-12, atol=1e-15)
