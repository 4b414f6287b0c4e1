"""Optima carry certificates."""

import numpy as np
import pytest

from dpsco_bench.problems.base import Data
from dpsco_bench.problems.glm import Logistic
from dpsco_bench.problems.minimisers import minimise_glm
from dpsco_bench.problems.registry import get_problem


class Plain(Logistic):
    """Logistic loss without a ridge."""

    name = "plain"

    @property
    def own_constants(self):
        from dpsco_bench.problems.base import Constants

        return Constants(1.0, 0.25)


def gradient(problem, x, data):
    return problem.mean_gradient(x[None], data)[0] + problem.constants.regularisation * x


@pytest.mark.parametrize("n", [20, 1000])
def test_ridge_logistic_gradient_vanishes(draw, n):
    problem = get_problem("ridge_logistic", 6)
    data = draw(problem, n)
    best = minimise_glm(problem, data)
    assert np.linalg.norm(gradient(problem, best.point, data)) < 1e-7
    assert best.decrement < 1e-14
    # By strong convexity the certificate bounds the error of the value: ||gradient||^2 / (2 mu).
    assert abs(best.value - problem.optimal_risk(data)) < 1e-14


def overlapping(rng, n, d):
    """Labels that no hyperplane separates: every row comes with both."""
    rows = rng.standard_normal((n // 2, d)) / d**0.5
    return np.concatenate([rows, rows]), np.repeat([1.0, -1.0], n // 2) * np.where(rng.random(n) < 0.1, -1, 1)


def test_rank_deficient_data_without_a_ridge():
    rng = np.random.default_rng(0)
    low, labels = overlapping(rng, 60, 3)
    basis = np.linalg.qr(rng.standard_normal((7, 3)))[0]
    wide = Data(60, low @ basis.T, labels)
    best = minimise_glm(Plain(7), wide)
    assert np.linalg.norm(gradient(Plain(7), best.point, wide)) < 1e-7
    np.testing.assert_allclose(best.value, minimise_glm(Plain(3), Data(60, low, labels)).value, rtol=1e-13)


def test_least_squares_optimum_is_the_normal_equations(draw):
    problem = get_problem("rank8_least_squares", 12)
    data = draw(problem, 200)
    solution = np.linalg.lstsq(data.features, data.labels, rcond=None)[0]
    exact = 0.5 * np.mean((data.features @ solution - data.labels) ** 2)
    np.testing.assert_allclose(problem.optimal_risk(data), exact, rtol=1e-12)


def test_the_optimum_is_that_of_the_ridge_in_force(draw):
    data = draw(get_problem("covertype_synthetic"), 200)
    by_option = get_problem("covertype_synthetic", regularisation=0.05).optimal_risk(data)
    by_constant = get_problem("covertype_synthetic", regularisation=0.0, constants={"regularisation": 0.05})
    assert by_constant.optimal_risk(data) == pytest.approx(by_option, rel=1e-12)
