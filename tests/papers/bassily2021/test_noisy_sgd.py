import numpy as np

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec

SGD = get_algorithm("bassily2021.noisy_sgd")
PRIVACY = PrivacySpec(1.0, 1e-6)


def test_check_vector(sine):
    problem = sine.problem(3, "lp_ball:4", 4.0, radius=0.1)
    made = SGD.plan(problem.constants, 6, 3, PRIVACY, "standard", steps=6, step=0.5)
    output, objective = sine.run(SGD, made, problem, [[t] for t in range(6)])
    np.testing.assert_allclose(output, [-0.009657335702, -0.015291039448, -0.011172989109], atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == 6 and not made.warnings
