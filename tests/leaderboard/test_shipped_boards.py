"""The boards that ship: every instance has a search and its references, and every search runs."""

import math
from contextlib import suppress

import pytest

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.claims.plan import SEARCH_MARK
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.cell import located
from dpsco_bench.leaderboard.board import board_ids, board_plan, load_board
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.registry import problem_class

from .made_up import SETTINGS


def test_the_boards_that_are_shipped():
    assert board_ids() == ["leaderboard.common"]
    entry = board_plan(load_board("leaderboard.common"), "smoke", SETTINGS)
    measured = {cell.method.partition("/")[0] for job in entry.jobs for cell in job.cells}
    assert {"linear-l1", "linear-l1.5", "linear-l2", "logistic-l2", "ridge"} <= measured


def test_every_instance_of_the_common_board_has_a_search_and_its_bounds_are_orders():
    """The column with a public grid search has a method for every instance; bounds are those cited."""
    board = load_board("leaderboard.common")
    assert all(instance.searches for instance in board.instances)
    ends = [(x, profile, n) for x in board.instances for profile, to in x.runs_to.items() for n in to.values()]
    for instance, profile, n in ends:  # else it says nothing
        assert n in {point.n for point in board.points(instance, profile)} and n > board.quadratic_to[profile]
    assert ends and board.quadratic_to == {"ci": 2048, "full": 4096}
    assert all(board.most_seconds_at_smallest_n[profile] >= seconds for profile, seconds in board.most_seconds.items())
    assert {f"linear-l{p}" for p in ("1", "1.5", "2", "inf")} < {instance.id for instance in board.instances}
    c = Constants(2.0, 1.0, strong_convexity=0.5, diameter=2.0, norm=1.5, domain="lp_ball:1.5")
    context = BoundContext(100, 9, 0.2, 1e-6, c, "paper", {}, {})
    values = {"sco_l1": (math.log(9) / 100) ** 0.5, "sco_p_below_2": max(0.1, 0.5 * 3 / 20), "sco_linf": 0.3}
    values |= {"erm_l2": 2.0 * 3 / 20, "erm_strongly_convex": 8.0 * 9 / 400}
    values |= {"sco_strongly_convex": 8.0 * max(0.01, 9 / 400)}
    for name, value in values.items():
        assert get_bound(f"leaderboard.{name}").value(context) == pytest.approx(value), name


@pytest.fixture(scope="module")
def common():
    return board_plan(load_board("leaderboard.common"), "ci", SETTINGS)


def test_every_search_of_the_common_board_runs_and_has_an_accountant(common):
    """A search whose every setting is refused, in the plan or when its noise is fixed, is an empty column."""
    searched = {}
    for job in common.jobs:
        for cell in job.cells:
            instance, _, method = cell.method.partition("/")
            if SEARCH_MARK in method and not job.skipped:
                searched.setdefault((instance, method.partition(SEARCH_MARK)[0]), []).append(cell)
    board = load_board("leaderboard.common")
    for instance in board.instances:
        for search in instance.searches if not problem_class(instance.problem).needs_data_root else ():
            assert any(map(proven, searched[instance.id, search.name])), (instance.id, search.name)


def proven(cell):
    _, plan = located(cell, "absent").plan("accounted", 1)
    with suppress(DpscoError):
        return calibrate(plan, PrivacySpec(cell.epsilon, cell.delta), "accounted").privacy_status == "proven"


def test_references_without_privacy_are_sample_minimisers(common):
    """Each is a closed form of the sample alone: none has steps that follow epsilon with the noise off."""
    silent = [cell for job in common.jobs if job.calibration == "none" for cell in job.cells]
    closed = {"bassily2021.gg_lmo", "bassily2021.sample_minimiser", "gopi2022.exp_mech_sc"}
    assert {cell.algorithm for cell in silent} == closed
    assert {"linear-linf", "heavy", "strong-ball"} <= {cell.method.partition("/")[0] for cell in silent}
