import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.registry import get_problem

SGD = get_algorithm("wang2017.noisy_sgd_bst14")
PRIVACY = PrivacySpec(1.0, 1e-5)
STRONG = Constants(1.0, 0.25, strong_convexity=0.1, regularisation=0.1, diameter=2.0, domain="l2_ball")


def test_check_vector_v6(vectors):
    class OnTheUnitBall(vectors.FourRecords):
        own_constants = STRONG

    made = SGD.plan(STRONG, 4, 2, PRIVACY, "standard", steps=3)
    output = vectors.run(SGD, made, OnTheUnitBall(), (0, 2, 3))
    np.testing.assert_allclose(output, [-0.816875923378, 0.576813423738], atol=1e-12)


def test_closed_form_of_the_isotropic_quadratic(execute):
    """``d sigma^2/(2 mu T)`` after T steps of 1/(mu t): the first one forgets the start."""
    problem = get_problem("sgd_closed_form", curvature=0.5)
    made = SGD.plan(problem.constants, 5, 8, PRIVACY, "standard", steps=12)
    risk = problem.risk(execute(SGD, made, problem, Data(5), scale=0.3, replicates=4000), None)
    expected = problem.expected_gap(SGD.id, made.schedule, {"gradient": 0.3})
    assert expected == pytest.approx(8 * 0.09 / (2 * 0.5 * 12))
    assert abs(risk.mean() - expected) < 5 * risk.std() / math.sqrt(len(risk))
    with pytest.raises(InputError, match="a closed form for wang2017.frank_wolfe_ttz15"):
        problem.expected_gap("wang2017.frank_wolfe_ttz15", {}, {})


def test_convex_steps_shrink_with_the_noise_in_force(execute):
    """eta_1 = diam/sqrt(G^2 + d sigma^2): the first step of a linear loss in closed form, noise off and on."""
    constants = Constants(1.0, 0.25, diameter=2e3, domain="l2_ball")
    problem = get_problem("logistic_plain", 8, radius=1e3)
    data = Data(1, np.eye(8)[:1], np.array([1.0]))
    made = SGD.plan(constants, 1, 8, PRIVACY, "standard", steps=1)
    np.testing.assert_allclose(execute(SGD, made, problem, data), 0.5 * 2e3 * np.eye(8)[:1], rtol=1e-12)
    noisy = execute(SGD, made, problem, data, scale=1e-9)
    np.testing.assert_allclose(noisy, 0.5 * 2e3 * np.eye(8)[:1], rtol=1e-6, atol=1e-4)
    far = execute(SGD, made, problem, data, scale=1e6, replicates=500)
    assert np.all(np.linalg.norm(far, axis=1) <= 1e3 * (1 + 1e-12))
