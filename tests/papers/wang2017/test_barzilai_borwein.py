from types import SimpleNamespace

import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.papers.wang2017.algorithms.barzilai_borwein import barzilai_borwein_step
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.registry import get_problem

SVRG = get_algorithm("wang2017.dp_svrg")
PRIVACY = PrivacySpec(1.0, 1e-5)
LAM, L, M = 0.1, 0.25, 20
LOW, HIGH = 1 / (M * (L + LAM)), 5 / (M * LAM)


def plan(exact):
    return SimpleNamespace(inner_steps=M, exact_anchor=exact, bb_range=(LOW, HIGH))


@pytest.mark.parametrize("xp", [np, strict])
def test_value(xp):
    move, change = xp.asarray([[1.0, 2.0], [3.0, 0.0]]), xp.asarray([[0.5, 0.25], [-1.0, 7.0]])
    step = barzilai_borwein_step(move, change, 0.1, plan(True))
    np.testing.assert_allclose(np.asarray(step), [[5 / (M * 1.0)], [9 / (M * 3.0)]])


def test_noise_cannot_take_the_private_step_out_of_its_range():
    rng = np.random.default_rng(0)
    move, change = rng.standard_normal((2, 1000, 3))
    free, clipped = (barzilai_borwein_step(move, change, 0.1, plan(exact)) for exact in (True, False))
    assert np.all(free > 0) and free.max() > HIGH and free.min() < LOW
    np.testing.assert_array_equal(clipped, np.clip(free, LOW, HIGH))


def test_without_a_change_the_step_is_kept():
    zero, previous = np.zeros((2, 3)), np.array([[0.3], [0.4]])
    for exact in (True, False):
        np.testing.assert_array_equal(barzilai_borwein_step(zero, zero, previous, plan(exact)), previous)
        np.testing.assert_array_equal(barzilai_borwein_step(zero, zero, 0.3, plan(exact)), [[0.3], [0.3]])


def test_exact_steps_lie_between_the_curvatures():
    """For gradients of an objective with curvature in [lambda, L + lambda]: 1/(m(L+lambda)) <= eta <= 1/(m lambda)."""
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    hessian = basis @ np.diag([LAM, 0.2, 0.3, L + LAM]) @ basis.T
    move = rng.standard_normal((500, 4))
    step = barzilai_borwein_step(move, move @ hessian, 0.1, plan(True))
    assert np.all(step >= LOW * (1 - 1e-12)) and np.all(step <= 1 / (M * LAM) * (1 + 1e-12))


def steps_of(execute, draw, variant):
    """Step sizes that a noise-free run uses from its second epoch on, recovered from the prox argument."""
    problem = get_problem("ridge_logistic", 4)
    made = SVRG.plan(problem.constants, 64, 4, PRIVACY, variant, epochs=4, inner_steps=100, step=1 / 12, step_rule="bb")
    used = []
    entry = SVRG.run_function.__globals__["barzilai_borwein_step"]

    def spy(*arguments):
        used.append(entry(*arguments))
        return used[-1]

    SVRG.run_function.__globals__["barzilai_borwein_step"] = spy
    try:
        execute(SVRG, made, problem, draw(problem, 64), replicates=3)
    finally:
        SVRG.run_function.__globals__["barzilai_borwein_step"] = entry
    return np.array(used)


@pytest.mark.parametrize("variant", ["literal", "poisson"])
def test_noise_free_runs_stay_below_one_over_m_lambda(execute, draw, variant):
    """dg includes the regulariser in both variants, hence eta <= 1/(m lambda), below 1/(24 L) once m > 24 L/lambda."""
    steps = steps_of(execute, draw, variant)
    assert steps.shape == (3, 3, 1)
    assert np.all(steps <= 1 / (100 * LAM) * (1 + 1e-9)) and np.all(steps >= 1 / (100 * (L + LAM)) * (1 - 1e-9))
    assert np.all(steps < 1 / (24 * L))


def test_literal_steps_are_a_leak_of_their_own():
    c = get_problem("ridge_logistic").constants
    constant, bb = (SVRG.plan(c, 64, 4, PRIVACY, "literal", step_rule=rule) for rule in ("constant", "bb"))
    assert len(bb.leaks) == len(constant.leaks) + 1
    assert not SVRG.plan(c, 64, 4, PRIVACY, "poisson", step_rule="bb").leaks
