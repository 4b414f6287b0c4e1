import numpy as np
import pytest

from dpsco_bench.papers.wang2017.perturbed import PerturbedMinimiser
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem


class LeastSquares(GeneralisedLinear):
    """Half the squared residual: the perturbed minimiser solves linear equations."""

    name = "least_squares"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.GENERALISED_LINEAR})
    own_constants = Constants(1.0, 1.0, regularisation=0.05)

    def loss(self, margins, labels):
        return 0.5 * (margins - labels) ** 2

    def slope(self, margins, labels):
        return margins - labels

    def curvature(self, margins, labels):
        return 0.0 * margins + 1.0


def least_squares(n=30, d=3):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, d))
    return LeastSquares(d), Data(n, rows / np.linalg.norm(rows, axis=1, keepdims=True), rng.standard_normal(n))


def linear_terms(shape, scale=1.0):
    return scale * np.random.default_rng(1).standard_normal(shape)


def test_least_squares_in_closed_form():
    problem, data = least_squares()
    value = PerturbedMinimiser(Objective(problem, data, 5), 0.2)
    b = linear_terms(value.shape, 7.0)
    hessian = data.features.T @ data.features / 30 + (0.05 + 0.2) * np.eye(3)
    expected = np.linalg.solve(hessian, (data.features.T @ data.labels / 30)[:, None] - b.T / 30).T
    np.testing.assert_allclose(value.solve(b), expected, rtol=1e-12)
    np.testing.assert_allclose(value.solve(None)[0], np.linalg.solve(hessian, data.features.T @ data.labels / 30))


@pytest.mark.parametrize("name", ["ridge_logistic", "logistic_plain"])
@pytest.mark.parametrize("scale", [1.0, 1e2, 1e6])
def test_the_linear_term_is_minus_the_gradient_of_the_rest(draw, name, scale):
    """``b = -(sum_i grad f_i(x) + n (lambda + weight) x)``: what the privacy proof inverts."""
    problem = get_problem(name, 4)
    objective = Objective(problem, draw(problem, 50), 6)
    value = PerturbedMinimiser(objective, 0.03)
    b = linear_terms(value.shape, scale)
    x = value.solve(b)
    ridge = problem.constants.regularisation + 0.03
    np.testing.assert_allclose(value.data_part(x) + 50 * ridge * x, -b, rtol=1e-10, atol=1e-11 * scale)
    assert value.info.certificate < 1e-12


@pytest.mark.parametrize("name", ["ridge_logistic", "logistic_plain"])
@pytest.mark.parametrize("radius", [0.2, 1.0, 30.0])
def test_minimisers_in_a_ball_obey_the_optimality_conditions(draw, name, radius):
    problem = get_problem(name, 4, radius=radius)
    objective = Objective(problem, draw(problem, 60), 8)
    value = PerturbedMinimiser(objective, 0.02)
    b = linear_terms(value.shape, 8.0)
    x = value.solve(b)
    ridge = problem.constants.regularisation + 0.02
    gradient = value.data_part(x) / 60 + ridge * x + b / 60
    length = np.linalg.norm(x, axis=1)
    assert np.all(length <= radius * (1 + 1e-12))
    inside = length < radius * (1 - 1e-9)
    assert np.abs(gradient[inside]).max(initial=0.0) < 1e-12
    multiplier = -np.sum(gradient * x, axis=1) / radius**2
    assert np.all(multiplier >= -1e-12)
    np.testing.assert_allclose(gradient[~inside], -multiplier[~inside, None] * x[~inside], atol=1e-11)
    assert inside.any() or radius < 30
    assert (~inside).any() or radius > 0.2
