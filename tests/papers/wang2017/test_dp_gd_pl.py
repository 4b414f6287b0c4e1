import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.registry import get_problem

GD = get_algorithm("wang2017.dp_gd_pl")
PRIVACY = PrivacySpec(1.0, 1e-5)


@pytest.mark.parametrize(("kappa", "step", "steps"), [(4.0, None, 9), (16.0, 0.5, 40), (1.0, 0.3, 3)])
def test_closed_form_of_the_diagonal_quadratic(execute, kappa, step, steps):
    """The formula that claims use against simulated runs, mean within five standard errors."""
    problem, sigma = get_problem("diag_quadratic", kappa=kappa), 0.2
    made = GD.plan(problem.constants, 8, 16, PRIVACY, "standard", steps=steps, step=step)
    output = execute(GD, made, problem, Data(8), scale=sigma, replicates=4000)
    risk = problem.risk(output, None)
    expected = problem.expected_gap(GD.law, made.schedule, {"gradient": sigma})
    assert abs(risk.mean() - expected) < 5 * risk.std() / math.sqrt(len(risk))


def test_noise_free_descent_is_at_least_as_fast_as_the_theorem(execute):
    problem = get_problem("diag_quadratic", kappa=8.0)
    made = GD.plan(problem.constants, 8, 16, PRIVACY, "standard", steps=25)
    gap = problem.risk(execute(GD, made, problem, Data(8)), None)[0]
    assert gap <= (1 - 1 / 8) ** 25 * problem.constants.initial_gap


def test_regulariser_enters_the_gradient_once(execute, draw):
    problem = get_problem("ridge_logistic", 3)
    data = draw(problem, 16)
    one, two = (
        execute(GD, GD.plan(problem.constants, 16, 3, PRIVACY, "standard", steps=T), problem, data) for T in (1, 2)
    )
    eta, zero = 1 / 0.35, np.zeros((1, 3))
    np.testing.assert_allclose(one, -eta * problem.mean_gradient(zero, data), rtol=1e-14)
    np.testing.assert_allclose(two, one - eta * (problem.mean_gradient(one, data) + 0.1 * one), rtol=1e-13)
