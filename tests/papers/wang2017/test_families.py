"""Instances of Theorems 4.4, 5.4 and 6.3: matched to the schedules, with the constants that they declare."""

import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.registry import get_problem

CELLS = [(256, 1.0, 1e-5), (4096, 0.25, 1e-5), (2**17, 4.0, 1e-3)]


def schedule(algorithm, problem, cell, variant, **options):
    n, epsilon, delta = cell
    entry = get_algorithm(algorithm)
    return entry.plan(problem.constants, n, problem.dimension, PrivacySpec(epsilon, delta), variant, **options)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("d", [8, 128])
def test_soft_quadratic_pp_is_matched_to_the_inner_steps(cell, d):
    problem = get_problem("soft_quadratic_pp", d).at(*cell)
    made = schedule("wang2017.dp_svrg_pp", problem, cell, "literal", inner_steps=4)
    h = min(1.0, 1 / (made.step * 2**made.epochs * 4))
    np.testing.assert_allclose(problem.spectrum, h, rtol=1e-12)
    assert problem.constants.initial_gap == pytest.approx(h / 2) and problem.constants.initial_distance == 1


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("signal", [0.5, 1.0])
def test_soft_quadratic_l2_is_matched_to_the_optimal_horizon(cell, signal):
    problem = get_problem("soft_quadratic_l2", signal=signal).at(*cell)
    made = schedule("wang2017.dp_accmd", problem, cell, "acsa", horizon="optimal")
    np.testing.assert_allclose(problem.spectrum, min(1.0, 4 * 4 / made.steps**2), rtol=1e-12)
    assert np.linalg.norm(problem.optimum) == pytest.approx(signal)
    assert problem.constants.status == ("global" if problem.spectrum[0] * (1 + signal) <= 1 else "nominal")


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("ball", ["l1_ball", "l2_ball"])
def test_l1_linear_is_matched_to_the_literal_horizon(cell, ball):
    problem = get_problem("l1_linear", ball=ball).at(*cell)
    made = schedule("wang2017.dp_accmd", problem, cell, "acsa")
    B = ball_geometry(problem.feasible).bregman_radius(64)
    np.testing.assert_allclose(problem.slope, 4 * 4 * B / made.steps**2 * np.eye(64)[0], rtol=1e-12)
    x = np.array([[0.25] + [0.0] * 63])
    assert problem.risk(x, None)[0] - problem.optimal_risk(None) == pytest.approx(0.75 * problem.slope[0])


@pytest.mark.parametrize("radius", [0.2, 1.0, 100.0])
def test_the_constrained_optimum_of_logistic_plain(draw, radius):
    from dpsco_bench.problems.minimisers import minimise_glm_in_ball

    problem = get_problem("logistic_plain", 4, radius=radius)
    data = draw(problem, 300)
    found = minimise_glm_in_ball(problem, data, radius)
    gradient = problem.mean_gradient(found.point[None], data)[0]
    size = np.linalg.norm(found.point)
    assert size <= radius * (1 + 1e-12)
    assert radius * np.linalg.norm(gradient) + gradient @ found.point <= 1e-9 * radius
    assert (size < 0.99 * radius) == (radius == 100.0)
    assert problem.optimal_risk(data) == pytest.approx(problem.risk(found.point[None], data)[0], rel=1e-12)


def test_geman_mcclure(draw):
    problem = get_problem("geman_mcclure")
    data = draw(problem, 40_000)
    residual = data.labels - data.features.sum(axis=1)
    assert residual.var() == pytest.approx(0.01 + 0.2 * 9, rel=0.05)
    assert np.mean(np.abs(residual) > 0.5) == pytest.approx(0.2 * math.erfc(0.5 / (3.0017 * math.sqrt(2))), rel=0.05)
    c = problem.constants_of(data)
    assert c.initial_gap == pytest.approx(np.mean(data.labels**2 / (1 + data.labels**2)))
    u = np.linspace(-3, 3, 10_001)
    assert np.abs(problem.slope(u, 0.0)).max() == pytest.approx(c.lipschitz, rel=1e-6)
    assert np.abs(problem.curvature(u, 0.0)).max() == pytest.approx(c.smoothness)
    with pytest.raises(InputError, match="convex, for its exact minimum"):
        problem.optimal_risk(data)
