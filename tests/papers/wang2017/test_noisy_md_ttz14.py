import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.registry import get_problem

MD = get_algorithm("wang2017.noisy_md_ttz14")
PRIVACY = PrivacySpec(1.0, 1e-5)


def test_on_an_l2_ball_it_is_averaged_projected_gradient_descent(execute, draw):
    problem = get_problem("ridge_logistic", 4, radius=1.5)
    data = draw(problem, 30)
    made = MD.plan(problem.constants, 30, 4, PRIVACY, "standard", steps=9)
    step = math.sqrt(2 * 0.5 / (9 * (1.0 * 3.0) ** 2)) * 1.5**2
    z, total = np.zeros((1, 4)), np.zeros((1, 4))
    for _ in range(9):
        z = z - step * (problem.mean_gradient(z, data) + 0.1 * z)
        z = z * min(1.0, 1.5 / np.linalg.norm(z))
        total = total + z
    np.testing.assert_allclose(execute(MD, made, problem, data), total / 9, rtol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 0.02])
def test_mirror_descents_guarantee_on_a_linear_loss(execute, scale):
    """Mean gap at most ``sqrt(2B (G^2 diam^2 + sigma^2 W)/T)`` on the l1 ball."""
    problem = get_problem("md_linear").at(50, 1.0, 1e-5)
    made = MD.plan(problem.constants, 50, 64, PRIVACY, "standard", steps=200)
    output = execute(MD, made, problem, Data(50), scale=scale, replicates=50)
    gap = problem.risk(output, None) - problem.optimal_risk(None)
    bound = math.sqrt(2 * made.bregman_radius * (made.slope**2 + scale**2 * made.squared_width) / 200)
    assert gap.mean() <= bound
    assert np.all(np.abs(output).sum(axis=1) <= 1 + 1e-9)
