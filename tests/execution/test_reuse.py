"""Cells with the same objective share their data and its minimum; no number depends on it."""

from collections import Counter
from dataclasses import replace
from unittest import mock

import numpy as np

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import Reuse, run_block
from dpsco_bench.problems.registry import problem_class

CELL = Cell(algorithm="wang2017.dp_gd_pl", problem="ridge_logistic", n=64, d=3, epsilon=1.0, delta=1e-6)
SAME = [replace(CELL, epsilon=0.5), replace(CELL, algorithm="wang2017.dp_svrg"), replace(CELL, delta=1e-4)]
OTHER = [replace(CELL, n=65), replace(CELL, d=4), replace(CELL, problem_options={"constants": {"regularisation": 0.5}})]


def test_objectives_are_told_apart_by_all_that_they_depend_on():
    for same in SAME:
        assert same.objective_key(0) == CELL.objective_key(0)
    assert len({cell.objective_key(0) for cell in (CELL, *OTHER)} | {CELL.objective_key(1)}) == 5
    family = type(CELL.problem_entry)
    with mock.patch.object(family, "at", lambda problem, n, epsilon, delta: problem):
        assert len({cell.objective_key(0) for cell in (CELL, *SAME)}) == 3


def test_data_and_minimum_are_made_once_and_no_number_changes() -> None:
    calls: Counter[str] = Counter()
    kind = problem_class(CELL.problem)

    def counted(name: str) -> mock._patch:
        original = getattr(kind, name)

        def count(problem: object, *args: object) -> object:
            calls[name] += 1
            return original(problem, *args)

        return mock.patch.object(kind, name, count)

    cells = [CELL, replace(CELL, epsilon=0.5)]
    scales = {"gradient": 1.0}
    reuse = Reuse(0)
    with counted("draw"), counted("optimal_risk"):
        shared = [
            run_block(c, c.plan("paper", 0)[1], scales, reuse.data(c, 0), root_seed=0, reuse=reuse) for c in cells
        ]
        assert calls == {"draw": 1, "optimal_risk": 1}
    alone = [run_block(c, c.plan("paper", 0)[1], scales, c.draw_data(0, 0), root_seed=0) for c in cells]
    for one, other in zip(shared, alone, strict=True):
        np.testing.assert_array_equal(one.risk, other.risk)


def test_other_objectives_have_minima_of_their_own() -> None:
    reuse, scales = Reuse(0), {"gradient": 1.0}
    for cell, data_set in [(CELL, 0), (CELL, 1), *((cell, 0) for cell in OTHER), (CELL, 0)]:
        plan = cell.plan("paper", 0)[1]
        shared = run_block(cell, plan, scales, reuse.data(cell, data_set), root_seed=0, data_set=data_set, reuse=reuse)
        alone = run_block(cell, plan, scales, cell.draw_data(0, data_set), root_seed=0, data_set=data_set)
        np.testing.assert_array_equal(shared.risk, alone.risk)
