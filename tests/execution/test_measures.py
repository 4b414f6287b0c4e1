"""What is measured of a run: declared by the algorithm, evaluated in float64, never counted."""

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import MEASURES, get_measure, run_block
from dpsco_bench.problems.objective import Objective

CELL = Cell("wang2017.dp_gd_nonconvex", "geman_mcclure", n=40, d=4, epsilon=1.0, delta=1e-5, options={"steps": 6})


def test_every_algorithm_declares_a_known_measure():
    for id in list_algorithms():
        assert get_algorithm(id).measure in MEASURES
    with pytest.raises(InputError, match="^measure = 'luck': must be one of excess_risk, mean_squared_gradient"):
        get_measure("luck")


def test_the_mean_squared_gradient_is_that_of_the_observed_iterates():
    data, measure, seen = CELL.draw_data(0, 0), get_measure("mean_squared_gradient"), []
    objective = Objective(CELL.problem_entry, data, 3)
    rng = np.random.default_rng(0)
    for _ in range(4):
        x = rng.standard_normal((3, 4))
        measure.observe(objective, x)
        seen.append((CELL.problem_entry.mean_gradient(x, data) ** 2).sum(axis=1))
    np.testing.assert_allclose(measure.value(objective, np.zeros((3, 4))), np.mean(seen, axis=0), rtol=1e-12)
    np.testing.assert_array_equal(objective.evaluations, 0.0)


def test_it_includes_the_regulariser():
    cell = Cell("wang2017.dp_gd_nonconvex", "ridge_logistic", n=20, d=4, epsilon=1.0, delta=1e-5)
    data, x = cell.draw_data(0, 0), np.ones((1, 4))
    objective = Objective(cell.problem_entry, data, 1)
    expected = cell.problem_entry.mean_gradient(x, data) + 0.1 * x
    np.testing.assert_allclose(get_measure("mean_squared_gradient").value(objective, x), (expected**2).sum())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_record_it(dtype):
    """Without checkpoints one value; with them a running mean that ends at it; the start's own value beside it."""
    arguments = dict(root_seed=2, replicates=3, dtype=dtype)
    data = CELL.draw_data(2, 0)
    once = run_block(CELL, CELL.plan("paper", 2)[1], {"gradient": 0.3}, data, **arguments)
    curve = run_block(CELL, CELL.plan("paper", 2)[1], {"gradient": 0.3}, data, record=1.0, **arguments)
    assert once.risk.shape == (3, 1) and once.risk.dtype == np.float64
    np.testing.assert_array_equal(curve.risk[:, -1], once.risk[:, 0])
    assert curve.risk.shape[1] == 7
    np.testing.assert_allclose(curve.risk[:, 0], once.start_risk, rtol=1e-6)
    np.testing.assert_array_equal(once.evaluations[:, 0], 6 * 40)


def test_closed_forms_follow_the_measure():
    problem = Cell("wang2017.dp_gd", "isotropic_quadratic", n=9, d=4, epsilon=1.0, delta=1e-5).problem_entry
    known = ("gradient_descent", {"step": 1.0, "steps": 5}, {"gradient": 0.1})
    risk, gradient = (get_measure(name).closed_form(problem, *known) for name in MEASURES)
    assert risk == pytest.approx(0.5 * 4 * 0.01) and gradient == pytest.approx((1 + 4 * 4 * 0.01) / 5)
