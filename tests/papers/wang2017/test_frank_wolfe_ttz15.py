import numpy as np

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.glm import LeastSquares
from dpsco_bench.problems.registry import get_problem

FW = get_algorithm("wang2017.frank_wolfe_ttz15")
PRIVACY = PrivacySpec(1.0, 1e-5)


class SquaresOnL1(LeastSquares):
    """Half the squared residual on the unit l1 ball."""

    name = "least_squares_l1"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    own_constants = Constants(1.0, 1.0, diameter=2.0, domain="l1_ball")


def test_check_vector_v5(execute):
    rows = np.cos(np.outer(np.arange(1, 6), np.arange(1, 9))) / 3
    data = Data(5, rows, np.array([1.0, -1.0, 1.0, 1.0, -1.0]))
    made = FW.plan(SquaresOnL1.own_constants, 5, 8, PRIVACY, "standard", steps=4)
    output = execute(FW, made, SquaresOnL1(8), data, replicates=2)
    np.testing.assert_allclose(output, np.tile([0, 0, 0, 0, 0, 0, 0, 0.9], (2, 1)), atol=1e-15)


def test_noise_free_rate_of_frank_wolfe(execute):
    """F(x_T) - F* <= 2 L diam_1^2/(T + 1) with diam_1 = 2, the l1 diameter, which bounds the l2 one."""
    problem = get_problem("face_quadratic")
    for steps in (4, 16, 64, 256):
        made = FW.plan(problem.constants, 10, 64, PRIVACY, "standard", steps=steps)
        gap = problem.risk(execute(FW, made, problem, Data(10)), None)[0]
        assert gap <= 2 * 4.0 / (steps + 1)
