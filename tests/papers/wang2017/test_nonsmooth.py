"""Regularisers without a gradient: their proximal map, the minimisers that risks are measured from, and who may run."""

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

STEP, RNG = 0.7, np.random.default_rng(5)


@pytest.mark.parametrize("radius", [None, 0.6])
def test_the_proximal_map_minimises(radius):
    """Against 20,000 feasible points about it, of three sizes, on the whole space and on a ball that binds."""
    problem = get_problem("elastic_net_logistic", d=3, l1=0.3, ridge=0.4, radius=radius)
    objective, y = Objective(problem, Data(1), 1), np.array([[1.4, -0.2, 0.5]])

    def value(x):
        return 0.5 * ((x - y) ** 2).sum(axis=1) + STEP * (0.3 * np.abs(x).sum(axis=1) + 0.2 * (x**2).sum(axis=1))

    found = objective.prox(y, STEP)
    others = np.concatenate([found + size * RNG.standard_normal((20_000, 3)) for size in (1e-3, 0.05, 0.5)])
    assert found[0, 1] == 0.0 and (value(objective.project(others)) >= value(found) - 1e-12).all()
    assert radius is None or np.linalg.norm(found) == pytest.approx(radius)


def test_soft_threshold_and_shrinkage_by_hand():
    """(1.4 - .21)/(1 + .28), 0, (.5 - .21)/1.28."""
    objective = Objective(get_problem("elastic_net_logistic", d=3, l1=0.3, ridge=0.4), Data(1), 1)
    expected = [[1.19 / 1.28, 0.0, 0.29 / 1.28]]
    np.testing.assert_allclose(objective.prox(np.array([[1.4, -0.2, 0.5]]), STEP), expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["elastic_net_logistic", "soft_lasso_pp"])
def test_minimisers_satisfy_the_condition_of_first_order(name):
    """Minus the smooth part's gradient is ``l1 sign(x_j)``, or within l1 where ``x_j = 0``; some are zero, some not."""
    cell = Cell("wang2017.dp_svrg_pp", name, 500, 1.0, 1e-5, d=10)
    problem, data = cell.problem_entry, cell.draw_data(3, 0)
    x = problem.minimiser(data)
    smooth = problem.mean_gradient(x[None], data)[0] + problem.constants.regularisation * x
    at_zero = x == 0.0
    assert 0 < at_zero.sum() < 10 and (np.abs(smooth[at_zero]) <= problem.l1).all()
    np.testing.assert_allclose(smooth[~at_zero], -problem.l1 * np.sign(x[~at_zero]), atol=1e-12)
    points = x + 0.1 * RNG.standard_normal((50, 10))
    risks = problem.risk(points, data) - problem.optimal_risk(data)
    known = problem.excess_risk(points, data)
    assert (risks > 0).all() and (known is None or np.allclose(known, risks, rtol=1e-9))


def test_no_compiled_run_forgets_the_term():
    options = {"epochs": 1, "inner_steps": 1}
    cell = Cell(
        "wang2017.dp_svrg", "elastic_net_logistic", 64, 1.0, 1e-5, d=10, options=options, problem_options={"l1": 0.2}
    )
    made = cell.plan("none", 0)[1]
    output = run_block(cell, made, {"anchor": 0.0, "inner": 0.0}, cell.draw_data(1, 0), root_seed=1).output
    assert (output == 0.0).all()
