import math
from collections import Counter

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.problems.base import Data

NONCONVEX, PLAIN = get_algorithm("wang2017.dp_gd_nonconvex"), get_algorithm("wang2017.dp_gd")


def test_the_output_is_a_uniform_iterate():
    """Indices 0..T-1 alike often, and the iterate that was observed at that index is returned."""
    cell = Cell("wang2017.dp_gd_nonconvex", "isotropic_quadratic", 64, 1.0, 1e-5, d=3, options={"steps": 5})
    problem, (_, made) = cell.problem_entry, cell.plan("none", 0)
    source = Mechanism(made, {"gradient": 0.0}, cell.run_key(0), 3, 0, 4000)
    chosen = source.choose("output", 5)
    counts = Counter(chosen.tolist())
    assert sorted(counts) == [0, 1, 2, 3, 4]
    assert sum((counts[i] - 800) ** 2 / 800 for i in range(5)) < 30  # chi-square with 4 degrees of freedom
    np.testing.assert_array_equal(source.choose("output", 5), chosen)
    trace = run_block(cell, cell.plan("none", 1)[1], {"gradient": 0.0}, Data(64), root_seed=3, replicates=200)
    expected = np.where(chosen[:200, None] == 0, problem.start, problem.optimum)  # eta = 1/L lands on the optimum
    np.testing.assert_allclose(trace.output, expected, atol=1e-15)


@pytest.mark.parametrize(("problem", "options"), [("isotropic_quadratic", {}), ("diag_quadratic", {"kappa": 8.0})])
@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_mean_squared_gradients_are_those_of_the_closed_form(problem, options, sigma):
    cell = Cell("wang2017.dp_gd_nonconvex", problem, 64, 1.0, 1e-5, d=5, options={"steps": 12}, problem_options=options)
    made = cell.plan("none", 0)[1]
    trace = run_block(cell, cell.plan("none", 1)[1], {"gradient": sigma}, Data(64), root_seed=1, replicates=4000)
    exact = cell.problem_entry.expected_mean_squared_gradient(made.step, 12, sigma)
    values = trace.risk[:, -1]
    assert abs(values.mean() - exact) <= 5 * values.std() / math.sqrt(4000) + 1e-12
