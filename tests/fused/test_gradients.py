"""The mean gradient in one pass: its tanh to 1e-12, its sums those of the definition to 1e-10, whatever the sizes."""

import numpy as np
import pytest

from dpsco_bench.fused import compiled, gradients
from dpsco_bench.fused.gradients import by_products, mean_gradient, one_pass, summed_gradients, tanh_of_half
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.data import CONSTANT, HUBER, LOGISTIC, PSEUDO_HUBER, SQUARED
from dpsco_bench.problems.glm import RidgeLogistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

if not compiled.available():
    pytest.skip("Numba is missing or switched off: reference implementations run", allow_module_level=True)

MARGINS = np.concatenate([np.linspace(-60, 60, 20001), *(s * 10.0 ** np.linspace(-300, 2, 603) for s in (-1, 1))])


def test_tanh_is_that_of_the_library_to_1e_12():
    """Tiny arguments too: a difference from 1 would lose them."""
    found = np.array([tanh_of_half(margin) for margin in MARGINS])
    np.testing.assert_allclose(found, np.tanh(0.5 * MARGINS), rtol=1e-14, atol=0)
    ends = [tanh_of_half(margin) for margin in (0.0, -0.0, np.inf, -np.inf)]
    assert ends == [0.0, 0.0, 1.0, -1.0] and np.signbit(ends[1])


def records(n, d, rng):
    rows = rng.standard_normal((n, d))
    return Data(n, rows / np.linalg.norm(rows, axis=1, keepdims=True), np.where(rng.random(n) < 0.5, -1.0, 1.0))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize(("n", "d"), [(1, 20), (15, 1), (257, 54), (1003, 130)])
def test_a_gradient_is_that_of_the_listing(rows, n, d):
    rng = np.random.default_rng(n + rows)
    problem, data = RidgeLogistic(d), records(n, d, rng)
    for size in (1e-3, 1.0, 100.0):
        x = size * rng.standard_normal((rows, d))
        ours, listed = (Objective(problem, data, rows) for _ in range(2))
        expected = listed.mean_gradient(x)
        np.testing.assert_allclose(mean_gradient(ours, x), expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())
        np.testing.assert_array_equal(ours.evaluations, listed.evaluations)


SLOPES = {
    (CONSTANT, 0.3, 0.0): lambda m, y: 0.3 + 0.0 * m,
    (SQUARED, 1.0, 0.0): lambda m, y: m - y,
    (LOGISTIC, 1.0, 1.0): lambda m, y: y / (1.0 + np.exp(-1.0 - y * m)),
    (HUBER, 2.0, 0.0): lambda m, y: np.clip(2.0 * (m - y), -1.0, 1.0),
    (PSEUDO_HUBER, 0.5, 0.0): lambda m, y: (m - y) / np.sqrt((m - y) ** 2 + 0.25),
}


@pytest.mark.parametrize("form", SLOPES, ids=str)
def test_every_slope(form):
    rng = np.random.default_rng(7)
    data, x = records(300, 20, rng), 2.0 * rng.standard_normal((3, 20))
    expected = SLOPES[form](x @ data.features.T, data.labels) @ data.features
    found = summed_gradients(x, data.features, data.labels, *form)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_where_it_is_taken(monkeypatch):

    def taken(rows, n=1000, problem=RidgeLogistic):
        return one_pass(Objective(problem(20), records(n, 20, np.random.default_rng(0)), rows))

    assert taken(2, n=100) and not taken(2)
    monkeypatch.setattr(gradients, "LEAST_BYTES", 1000 * 20 * 8)
    assert taken(2) and taken(gradients.MOST_ROWS) and not taken(gradients.MOST_ROWS + 1) and not taken(2, n=999)

    class Altered(RidgeLogistic):
        def mean_gradient(self, x, data):
            return super().mean_gradient(x, data)

    assert not taken(2, problem=Altered)


def test_products_with_compiled_slopes_are_the_gradient_of_the_problem():
    rng = np.random.default_rng(5)
    data = Data(700, rng.standard_normal((700, 6)), np.where(rng.random(700) < 0.5, -1.0, 1.0))
    x = 3.0 * rng.standard_normal((300, 6))

    class Altered(RidgeLogistic):
        def mean_gradient(self, x, data):
            return 2.0 * super().mean_gradient(x, data)

    for problem in (RidgeLogistic(6), Altered(6), get_problem("data_twin", 6, loss="huber")):
        mean = by_products(problem, data)
        np.testing.assert_allclose(mean(x), problem.mean_gradient(x, data), rtol=1e-12, atol=1e-15)
