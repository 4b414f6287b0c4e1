import numpy as np

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block

LMO, MECHANISM = get_algorithm("bassily2021.gg_lmo"), get_algorithm("bassily2021.gg_mechanism")


def test_the_minimiser_of_a_linear_loss_without_noise():
    """cube_fixed has the same mean everywhere: x = d^(-1/p) everywhere, with no excess risk."""
    cell = Cell(LMO.id, "cube_fixed", n=1000, epsilon=1.0, delta=1e-6, d=8, problem_options={"signal": 3.0})
    _, made = cell.plan("none", 0)
    trace = run_block(cell, cell.plan("none", 1)[1], {"gradient": 0.0}, cell.draw_data(0, 0), root_seed=1, replicates=2)
    np.testing.assert_allclose(trace.output, 8 ** (-1 / 1.5), rtol=1e-12)
    assert np.abs(trace.risk).max() < 1e-15 and made.gradient_evaluations == 1000
