import math
from collections import Counter

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.registry import get_problem

NONCONVEX, PLAIN = get_algorithm("wang2017.dp_gd_nonconvex"), get_algorithm("wang2017.dp_gd")
PRIVACY = PrivacySpec(1.0, 1e-5)


def plan(entry=NONCONVEX, constants=None, n=4096, d=8, **options):
    return entry.plan(constants or Constants(0.65, 2.0, initial_gap=0.4), n, d, PRIVACY, "standard", **options)


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


def test_the_choice_does_not_depend_on_how_replicates_are_split():
    made = plan(steps=9)
    parts = [Mechanism(made, {"gradient": 0.0}, "x", 1, first, 3).choose("output", 9) for first in (0, 3)]
    np.testing.assert_array_equal(
        np.concatenate(parts), Mechanism(made, {"gradient": 0.0}, "x", 1, 0, 6).choose("output", 9)
    )


@pytest.mark.parametrize(("problem", "options"), [("isotropic_quadratic", {}), ("diag_quadratic", {"kappa": 8.0})])
@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_mean_squared_gradients_are_those_of_the_closed_form(problem, options, sigma):
    cell = Cell("wang2017.dp_gd_nonconvex", problem, 64, 1.0, 1e-5, d=5, options={"steps": 12}, problem_options=options)
    made = cell.plan("none", 0)[1]
    trace = run_block(cell, cell.plan("none", 1)[1], {"gradient": sigma}, Data(64), root_seed=1, replicates=4000)
    exact = cell.problem_entry.expected_mean_squared_gradient(made.step, 12, sigma)
    values = trace.risk[:, -1]
    assert abs(values.mean() - exact) <= 5 * values.std() / math.sqrt(4000) + 1e-12


def test_theorem_6_3_is_exact_on_the_isotropic_quadratic():
    """(2 L D0 + (T-1) d sigma^2)/T."""
    problem = get_problem("isotropic_quadratic")
    assert problem.expected_mean_squared_gradient(1.0, 10, 0.2) == pytest.approx((1 + 9 * 16 * 0.04) / 10, rel=1e-14)


def test_the_variance_of_the_last_iterate(execute):
    """H = I, eta = 1: every iterate after the first is the optimum plus one draw of noise."""
    problem = get_problem("isotropic_quadratic", 3)
    made = plan(PLAIN, problem.constants, n=8, d=3, steps=4)
    error = execute(PLAIN, made, problem, Data(8), scale=0.7, replicates=20_000) - problem.optimum
    assert abs(error.var() / 0.49 - 1) < 5 * math.sqrt(2 / error.size)
    assert abs(error.mean()) < 5 * 0.7 / math.sqrt(error.size)


def test_linear_losses_give_a_random_walk(execute):
    """Var(x_T) = T eta^2 sigma^2 per coordinate, around the drift -T eta c."""
    problem = get_problem("l1_linear", 16)
    made = plan(PLAIN, Constants(1.0, 1.0), n=8, d=16, steps=9, step=0.5)
    x = execute(PLAIN, made, problem, Data(8), scale=0.7, replicates=4000) - 9 * 0.5 * problem.slope
    assert abs(x.var() / (9 * 0.25 * 0.49) - 1) < 5 * math.sqrt(2 / x.size)
