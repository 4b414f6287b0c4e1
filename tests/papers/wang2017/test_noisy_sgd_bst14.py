import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.spec import PrivacySpec
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


def test_schedule_and_noise():
    made = SGD.plan(STRONG, 30, 7, PRIVACY, "standard")
    (query,) = made.queries
    assert made.steps == query.releases == made.gradient_evaluations == 900
    assert query.sensitivity == 2.0 and query.records.population == 30
    assert query.paper_scale == pytest.approx(math.sqrt(32 * math.log(30 / 1e-5) * math.log(1e5)))


@pytest.mark.parametrize("n", [2**8, 2**10])
def test_privacy_fact_of_the_printed_noise(n):
    result = calibrate(SGD.plan(STRONG, n, 7, PRIVACY, "standard"), PRIVACY, "paper")
    assert result.charge.kind == "upper" and result.privacy_status == "proven"
    assert result.charge.epsilon == pytest.approx(0.07, abs=0.01)


def test_accounted_noise_is_the_least_that_the_profile_accepts():
    result = calibrate(SGD.plan(STRONG, 64, 7, PRIVACY, "standard"), PRIVACY, "accounted")
    assert 0.995 < result.charge.epsilon <= 1.0 and result.privacy_status == "proven"


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


def test_iterates_stay_in_the_domain(execute, draw):
    problem = get_problem("ridge_logistic", 4, radius=0.5)
    made = SGD.plan(problem.constants, 20, 4, PRIVACY, "standard", steps=50)
    output = execute(SGD, made, problem, draw(problem, 20), scale=3.0, replicates=20)
    assert np.all(np.linalg.norm(output, axis=1) <= 0.5 * (1 + 1e-12))


def test_refusals():
    with pytest.raises(InputError, match="^domain = 'space': must be a ball, without strong convexity"):
        SGD.plan(Constants(1.0, 0.25), 10, 3, PRIVACY, "standard")
    with pytest.raises(InputError, match="^steps = 0"):
        SGD.plan(STRONG, 10, 3, PRIVACY, "standard", steps=0)
    cell = Cell(SGD.id, "logistic_plain", n=10, epsilon=1.0, delta=1e-5)
    with pytest.raises(Refusal, match="lacks an l1 or l2 ball as domain or a strongly convex objective"):
        cell.plan("paper", 0)
