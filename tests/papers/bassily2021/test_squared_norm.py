import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.problems.registry import get_problem


@pytest.mark.parametrize(("p", "d"), [(1.5, 6), (1.0, 64), (2.0, 3), (1.25, 1)])
def test_the_risk_of_a_noisy_point_is_the_second_moment(p, d):
    """E||z||_r^2 = d sigma^2 for the generalised Gaussian, whatever p."""
    options = {"p": p}
    cell = Cell("bassily2021.gg_mechanism", "squared_norm", n=10, epsilon=1.0, delta=1e-6, d=d, problem_options=options)
    _, made = cell.plan("paper", 0)
    trace = run_block(cell, made, {"release": 0.5}, cell.draw_data(0, 0), root_seed=4, replicates=4000)
    risk = trace.risk[:, -1]
    assert abs(risk.mean() - 0.25 * d) < 4 * risk.std() / np.sqrt(4000)
    np.testing.assert_allclose(risk, np.linalg.norm(trace.output, ord=made.r, axis=1) ** 2, rtol=1e-12)


def test_start_is_the_minimiser():
    problem = get_problem("squared_norm", 4)
    assert problem.risk(problem.start[None], None)[0] == problem.optimal_risk(None) == 0
    assert np.abs(problem.mean_gradient(problem.start[None], None)).max() == 0
