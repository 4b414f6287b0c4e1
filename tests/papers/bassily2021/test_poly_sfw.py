import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.geometry.polytope import CrossPolytope, Polytope
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants

SFW = get_algorithm("bassily2021.poly_sfw")
PRIVACY = PrivacySpec(1.0, 1e-6)
LINEAR = Constants(1.0, 0.0, diameter=2.0, domain="l1_ball", norm=1.0)


def planned(n, d=32, privacy=PRIVACY, constants=LINEAR):
    return SFW.plan(constants, n, d, privacy, "standard")


def test_check_vector(sine):
    problem = sine.problem(3, "l1_ball", 1.0)
    made = planned(8, 3, constants=problem.constants)
    assert made.step == pytest.approx(0.187030432612, rel=1e-11) and made.vertices == 6 and made.steps == 4
    output, objective = sine.run(SFW, made, problem)
    np.testing.assert_allclose(output, [0, 0.233747675109, -0.411135341500], atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == 12


@pytest.mark.parametrize("n", [1000, 1001])
def test_schedule_and_scales(n):
    made = planned(n)
    (query,) = made.queries
    eta, N = math.log(n / math.log(64)) / n, n // 2
    assert (made.step, made.steps, query.releases, made.gradient_evaluations) == (eta, N, N + 1, 3 * N)
    first = 2 * 1.0 * 2.0 / n
    printed = np.maximum((1 - eta) ** np.arange(1, N + 1) * first, 2 * eta * 2.0)
    scales = query.paper_scale * query.factors(0, N + 1)
    unit = 2 * math.sqrt(n * math.log(1e6))
    np.testing.assert_allclose(scales, unit * np.append(first, printed), rtol=1e-12)
    assert query.paper_scale == pytest.approx(scales[-1], rel=1e-12), "the scale is that of the last release"


def test_the_worst_record_moves_scores_as_declared():
    """L1 > 0: a record of the second half enters with both gradients of its step."""
    query = planned(100, constants=Constants(1.5, 0.5, diameter=2.0, domain="l1_ball", norm=1.0)).queries[0]
    eta = math.log(100 / math.log(64)) / 100
    assert query.first == pytest.approx(2 * 1.5 * 2 / 50)
    assert query.later == pytest.approx(2 * eta * ((1 - eta) * 0.5 * 4 + 1.5 * 2))


class Listed:
    """An objective whose l1 ball is given by its vertices."""

    def __init__(self, objective, domain):
        self._objective, self.domain = objective, domain

    def __getattr__(self, name):
        return getattr(self._objective, name)


def test_listed_vertices_give_what_implicit_ones_give(sine, execute):
    """The l1 ball by its 2d vertices in the same order, with noise: the same vertices win."""
    d = 3
    corners = Polytope(np.concatenate([[row, -row] for row in np.eye(d)]))
    problem = sine.problem(d, "l1_ball", 1.0)
    made = planned(40, d, constants=problem.constants)

    def run_listed(objective, plan, mechanism):
        return SFW.run_function(Listed(objective, corners), plan, mechanism)

    data = problem.draw(40, None)
    implicit = execute(SFW, made, problem, data, scale=0.01, replicates=6)
    entry = type("Entry", (), {"run_function": staticmethod(run_listed)})
    np.testing.assert_allclose(execute(entry, made, problem, data, scale=0.01, replicates=6), implicit, rtol=1e-12)
    assert CrossPolytope(d).count == corners.count


def test_noise_free_run_finds_the_vertex():
    """Few records, a strong mean: all but the first steps go to +e_1."""
    cell = Cell(SFW.id, "needle_l1", n=2000, epsilon=1.0, delta=1e-6, d=8, problem_options={"signal": 1e6})
    _, made = cell.plan("none", 0)
    trace = run_block(cell, cell.plan("none", 1)[1], {"vertex": 0.0}, cell.draw_data(0, 0), root_seed=3, replicates=2)
    reached = 1 - (1 - made.step) ** (made.steps + 1)
    np.testing.assert_allclose(trace.output[:, 0], reached, rtol=1e-9)
    np.testing.assert_allclose(trace.risk[:, -1], 1 - reached, rtol=1e-9)
