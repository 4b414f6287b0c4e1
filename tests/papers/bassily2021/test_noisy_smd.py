import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec

SMD = get_algorithm("bassily2021.noisy_smd")
PRIVACY = PrivacySpec(1.0, 1e-6)


def test_check_vector(sine):
    problem = sine.problem(4, "lp_ball:1.5", 1.5)
    made = SMD.plan(problem.constants, 6, 4, PRIVACY, "corrected", norm_rule="q", steps=6, batch=2, step=0.3)
    assert (made.r, made.kappa) == pytest.approx((3.0, 2.0))
    batches = [[t % 6, 2 * t % 6] for t in range(1, 6)]
    output, objective = sine.run(SMD, made, problem, batches)
    expected = [-0.009947463449, -0.050263886151, -0.022422710831, 0.005268959215]
    np.testing.assert_allclose(output, expected, atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == 10


def test_p_equal_to_one_takes_the_best_norm(sine):
    problem = sine.problem(4, "l1_ball", 1.0)
    made = SMD.plan(problem.constants, 400, 4, PRIVACY, "fullbatch")
    output, _ = sine.run(SMD, made, problem)
    assert np.abs(output).sum() <= 1 + 1e-12 and made.r >= 2
