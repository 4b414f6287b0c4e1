import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.accountants.pure import epsilon_each_for
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import get_problem

FW = get_algorithm("wang2017.frank_wolfe_ttz15")
PRIVACY = PrivacySpec(1.0, 1e-5)
ON_L1 = Constants(1.0, 1.0, diameter=6.0, domain="l1_ball")


class LeastSquares(GeneralisedLinear):
    """Half the squared residual on the unit l1 ball."""

    name = "least_squares_l1"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    own_constants = Constants(1.0, 1.0, diameter=2.0, domain="l1_ball")

    def slope(self, margins, labels):
        return margins - labels


def test_check_vector_v5(execute):
    rows = np.cos(np.outer(np.arange(1, 6), np.arange(1, 9))) / 3
    data = Data(5, rows, np.array([1.0, -1.0, 1.0, 1.0, -1.0]))
    made = FW.plan(LeastSquares.own_constants, 5, 8, PRIVACY, "standard", steps=4)
    output = execute(FW, made, LeastSquares(8), data, replicates=2)
    np.testing.assert_allclose(output, np.tile([0, 0, 0, 0, 0, 0, 0, 0.9], (2, 1)), atol=1e-15)


@pytest.mark.parametrize("n", [64, 4096])
def test_schedule_and_noise(n):
    made = FW.plan(ON_L1, n, 10, PRIVACY, "standard")
    T = round(n ** (2 / 3))
    (query,) = made.queries
    assert (made.steps, query.releases, made.gradient_evaluations) == (T, T - 1, n * (T - 1))
    assert query.sensitivity == pytest.approx(2 * 3.0 / n)
    assert query.paper_scale == pytest.approx(3.0 * math.sqrt(8 * T * math.log(1e5)) / n)
    scale = calibrate(made, PRIVACY, "accounted").scales["vertex"]
    assert 4 * 3.0 / (n * scale) == pytest.approx(epsilon_each_for(1.0, 1e-5, T - 1))


@pytest.mark.parametrize(("n", "at_most"), [(2**12, 1.63), (2**14, 1.66)])
def test_privacy_fact_of_the_printed_noise(n, at_most):
    made = FW.plan(ON_L1, n, 10, PRIVACY, "standard")
    result = calibrate(made, PRIVACY, "paper")
    assert result.charge.kind == "upper" and result.privacy_status == "unproven"
    assert 0.95 * at_most < result.charge.epsilon <= at_most
    assert calibrate(made, PRIVACY, "accounted").privacy_status == "proven"


def test_iterates_are_combinations_of_vertices(execute):
    problem = get_problem("face_quadratic")
    made = FW.plan(problem.constants, 1000, 64, PRIVACY, "standard", steps=30)
    output = execute(FW, made, problem, Data(1000), scale=0.05, replicates=20)
    assert np.all(np.abs(output).sum(axis=1) <= 1 + 1e-12)
    assert np.unique(output, axis=0).shape[0] == 20


def test_noise_free_rate_of_frank_wolfe(execute):
    """F(x_T) - F* <= 2 L diam_1^2/(T + 1) with diam_1 = 2, the l1 diameter, which bounds the l2 one."""
    problem = get_problem("face_quadratic")
    for steps in (4, 16, 64, 256):
        made = FW.plan(problem.constants, 10, 64, PRIVACY, "standard", steps=steps)
        gap = problem.risk(execute(FW, made, problem, Data(10)), None)[0]
        assert gap <= 2 * 4.0 / (steps + 1)


def test_refusals():
    with pytest.raises(InputError, match="^steps = 1: must be an integer >= 2"):
        FW.plan(ON_L1, 100, 10, PRIVACY, "standard", steps=1)
    with pytest.raises(InputError, match="^domain = 'l2_ball': must be l1_ball"):
        FW.plan(Constants(1.0, 1.0, diameter=1.0, domain="l2_ball"), 100, 10, PRIVACY, "standard")
    cell = Cell(FW.id, "ridge_logistic", n=100, epsilon=1.0, delta=1e-5, problem_options={"radius": 1.0})
    with pytest.raises(Refusal, match="lacks an l1 ball as domain"):
        cell.plan("paper", 0)
