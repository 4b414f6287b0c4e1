"""Perturbed objectives and outputs: minimisers with their certificates, the noise behind them, and coupled runs."""

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.papers.wang2017.algorithms.perturbation import perturbation_parameters
from dpsco_bench.papers.wang2017.perturbed import PerturbedMinimiser, minimise_rows, suits
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.glm import GeneralisedLinear, LinearLoss
from dpsco_bench.problems.minimisers import MeanTerms, minimise_glm_in_ball
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ..conftest import execute

KST, TTZ = (get_algorithm(f"wang2017.objective_perturbation_{name}") for name in ("kst12", "ttz14"))
ZHANG = get_algorithm("wang2017.output_perturbation_zhang17")
PRIVACY = PrivacySpec(1.0, 1e-5)
RIDGE = Constants(1.0, 0.25, strong_convexity=0.1, regularisation=0.1)


class LinearRecords(GeneralisedLinear):
    """``f_i(x) = -y_i <a_i, x>`` and a ridge: minimisers are affine in the noise, gradients have norm G everywhere."""

    name, own_constants, margin = "linear_records", RIDGE, LinearLoss()
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR, Trait.STRONGLY_CONVEX})


@pytest.mark.parametrize("epsilon, n, expected", [(1.0, 1000, (0.9506147748, 0.0)), (0.01, 100, (0.005, 0.9887505208))])
def test_check_vector_v9(epsilon, n, expected):
    np.testing.assert_allclose(perturbation_parameters(epsilon, n, 0.25, 0.01), expected, atol=5e-11)


def test_ttz14_is_kst12_over_a_ball(draw):
    free, bounded, tight = (get_problem("ridge_logistic", 4, radius=radius) for radius in (None, 50.0, 0.1))
    data = draw(free, 40)
    made = [a.plan(p.constants, 40, 4, PRIVACY, "standard") for a, p in ((KST, free), (TTZ, bounded))]
    assert made[0].queries == made[1].queries and made[0].weight == made[1].weight
    own = ((KST, made[0], free), (TTZ, made[1], bounded), (TTZ, made[1], tight))
    outputs = [execute(a, m, p, data, scale=5.0, replicates=3) for a, m, p in own]
    np.testing.assert_allclose(outputs[0], outputs[1], rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(outputs[2], axis=1), 0.1, rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 2, 7, 60])
@pytest.mark.parametrize("share", [0.25, 1.0])
def test_coupled_runs_attain_the_sensitivity_of_the_strongly_convex_case(steps, share):
    """Linear losses and a ridge: shrinking by 1 - eta mu per step is exact, so is 2G(1-(1-eta mu)^T)/(n mu)."""
    step = share * 2 / (RIDGE.total_smoothness + RIDGE.strong_convexity)
    made = ZHANG.plan(RIDGE, 10, 3, PRIVACY, "standard", steps=steps, step=step)
    rows, opposite = np.tile([0.0, 1.0, 0.0], (10, 1)), np.where(np.arange(10) == 4, -1.0, 1.0)
    outputs = [execute(ZHANG, made, LinearRecords(3), Data(10, rows, own)) for own in (np.ones(10), opposite)]
    assert np.linalg.norm(outputs[0] - outputs[1]) == pytest.approx(made.query("output").sensitivity, rel=1e-12)


@pytest.fixture(params=["ridge_logistic", "logistic_plain"])
def minimise(request, draw):
    """Minimisers with 50 records and a weight of 0.03: terms, points and the gradients of the perturbed sum there."""

    def run(scale, radius=None):
        problem = get_problem(request.param, 4, radius=radius)
        value = PerturbedMinimiser(Objective(problem, draw(problem, 50), 8), 0.03)
        b = scale * np.random.default_rng(1).standard_normal(value.shape)
        x = value.solve(b)
        return x, value.data_part(x) + 50 * (problem.constants.regularisation + 0.03) * x + b, value.info.certificate

    return run


@pytest.mark.parametrize("scale", [1.0, 1e2, 1e6])
def test_the_linear_term_is_minus_the_gradient_of_the_rest(minimise, scale):
    """``b = -(sum_i grad f_i(x) + n (lambda + weight) x)``: what the privacy proof inverts."""
    _, gradient, certificate = minimise(scale)
    assert np.abs(gradient).max() < 1e-10 * scale and certificate < 1e-12


@pytest.mark.parametrize("radius", [0.2, 1.0, 30.0])
def test_minimisers_in_a_ball_obey_the_optimality_conditions(minimise, radius):
    """Inside, the gradient vanishes; on the sphere it points inwards along the radius."""
    x, gradient, _ = minimise(8.0, radius)
    gradient, length = gradient / 50, np.linalg.norm(x, axis=1)
    assert np.all(length <= radius * (1 + 1e-12))
    inside = length < radius * (1 - 1e-9)
    assert np.abs(gradient[inside]).max(initial=0.0) < 1e-12
    multiplier = -np.sum(gradient * x, axis=1) / radius**2
    assert np.all(multiplier >= -1e-12)
    np.testing.assert_allclose(gradient[~inside], -multiplier[~inside, None] * x[~inside], atol=1e-11)
    assert (inside.any() or radius < 30) and ((~inside).any() or radius > 0.2)


CASES = {
    "canary_huber": (2, np.inf, 0.01),
    "canary_curved": (3, 1.0, 1e-3),
    "ridge_logistic": (4, np.inf, 0.0),
    "logistic_plain": (4, 0.3, 0.02),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_are_minimised_as_one_at_a_time(draw, name):
    """Small terms and large ones, whose minimisers lie on the sphere or far from the start."""
    d, radius, weight = CASES[name]
    problem = get_problem(name, d)
    mean = MeanTerms(problem, draw(problem, 60))
    assert suits(mean, weight)
    rng = np.random.default_rng(4)
    terms = rng.standard_normal((400, d)) * 10.0 ** rng.uniform(-3, 1.0, (400, 1))
    points, norms, settled = minimise_rows(mean, radius, terms, weight, problem.start)
    assert settled.mean() > 0.99
    for row in np.flatnonzero(settled):
        given = {"linear": terms[row], "weight": weight, "start": problem.start, "mean": mean}
        one = minimise_glm_in_ball(problem, mean.data, radius, **given)
        np.testing.assert_allclose(points[row], one.point, rtol=1e-10, atol=1e-11)
        assert norms[row] <= 1e-11 * (1.0 + np.linalg.norm(terms[row]))
