import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Data, Problem, Trait
from dpsco_bench.problems.registry import get_problem

GD = get_algorithm("wang2017.dp_gd_pl")
PRIVACY = PrivacySpec(1.0, 1e-5)


class Linear(Problem):
    """``f_i(x) = <c, x>`` for every record: gradient descent is a random walk with drift."""

    name = "linear"
    traits = frozenset(Trait)
    shares_records = True
    own_constants = Constants(1.0, 1.0, strong_convexity=1.0)

    def mean_gradient(self, x, data):
        return np.full_like(x, 0.5)

    def risk(self, x, data):
        return 0.5 * x.sum(axis=-1)

    def optimal_risk(self, data):
        return 0.0


def assert_variance(samples, expected):
    samples = samples.ravel()
    assert abs(samples.var() / expected - 1) < 5 * math.sqrt(2 / samples.size)


def test_linear_loss_is_a_random_walk(execute):
    """Var(x_T) = T eta^2 sigma^2 per coordinate, mean -T eta c."""
    made = GD.plan(Linear.own_constants, 8, 4, PRIVACY, "standard", steps=12, step=0.5)
    output = execute(GD, made, Linear(4), Data(8), scale=0.3, replicates=3000)
    assert_variance(output, 12 * 0.25 * 0.09)
    assert abs(output.mean() + 12 * 0.5 * 0.5) < 5 * math.sqrt(12 * 0.25 * 0.09 / output.size)


def test_identity_hessian_with_unit_step_keeps_the_last_noise_only(execute):
    problem = get_problem("diag_quadratic", 4, kappa=1.0)
    made = GD.plan(problem.constants, 8, 4, PRIVACY, "standard", steps=5)
    output = execute(GD, made, problem, Data(8), scale=0.7, replicates=3000)
    assert made.step == 1.0
    assert_variance(output, 0.49)
    assert abs(output.mean()) < 5 * 0.7 / math.sqrt(output.size)


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
    """One step from the origin moves along the losses alone; the next one feels the ridge."""
    problem = get_problem("ridge_logistic", 3)
    data = draw(problem, 16)
    one, two = (
        execute(GD, GD.plan(problem.constants, 16, 3, PRIVACY, "standard", steps=T), problem, data) for T in (1, 2)
    )
    eta, zero = 1 / 0.35, np.zeros((1, 3))
    np.testing.assert_allclose(one, -eta * problem.mean_gradient(zero, data), rtol=1e-14)
    np.testing.assert_allclose(two, one - eta * (problem.mean_gradient(one, data) + 0.1 * one), rtol=1e-13)
