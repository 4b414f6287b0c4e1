import numpy as np

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block


def test_the_projection_moves_less_than_the_noise():
    options = {"domain": "l1_ball", "signal": 0.1}
    cell = Cell("su2023.app_objp", "pointmass_linear", n=512, epsilon=1.0, delta=1e-6, d=64, problem_options=options)
    cell = Cell(**{**vars(cell), "options": {"output_noise": True}})
    _, made = cell.plan("paper", 0)
    scales = {"linear term": 10.0, "output": 0.05}
    trace = run_block(cell, made, scales, cell.draw_data(0, 0), root_seed=2, replicates=200, rounds="su2023.cover")
    moved, free = trace.extras["moved"], trace.extras["unprojected"]
    assert (moved <= free).all() and abs(free.mean() / (64 * 0.0025) - 1) < 4 * np.sqrt(2 / 64 / 200)
