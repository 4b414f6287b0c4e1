"""Standings and the race: the winner, ties, what cannot win, and who is not run to the end."""

import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from unittest.mock import DEFAULT, Mock

import numpy as np
import pytest
from scipy.stats import t

from dpsco_bench.analysis.bootstrap import student_factor
from dpsco_bench.analysis.races import Ran, race, raced, so_far, survivors
from dpsco_bench.claims.bounds.registry import BoundContext
from dpsco_bench.claims.plan import BoardEntry
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.cell import EPSILONS, RefusedCell
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import part_of, race_ends, stage_ends
from dpsco_bench.execution.store import Store
from dpsco_bench.execution.worker import make_all
from dpsco_bench.jsonio import dumps_canonical, dumps_pretty, loads
from dpsco_bench.leaderboard import standings as ranking
from dpsco_bench.leaderboard.board import Entrant, Instance, board_plan, parse_board
from dpsco_bench.leaderboard.standings import TRIVIAL, RankedBoard, Standing, compare, standings
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.registry import get_problem

from .made_up import FILE, REAL, RIDGE, SETTINGS


def noisy(mean, seed, spread=0.1, size=(1, 1, 24)):
    return mean * (1 + spread * np.random.default_rng(seed).standard_normal(size))


def test_a_clear_winner_has_a_margin_beyond_doubt_and_the_comparison_is_paired():
    outcome = compare({"a": noisy(1.0, 1), "b": noisy(2.0, 2)}, 5.0)
    assert (outcome.winner, outcome.runner_up, outcome.tied) == ("a", "b", ("a",))
    low, high = outcome.margin_ci
    assert 0 < low < outcome.margin < high < 1 and outcome.margin == pytest.approx(0.5, abs=0.05)
    # A common factor per replicate hides nothing.
    common = np.exp(np.random.default_rng(0).standard_normal((1, 1, 24)))
    assert compare({"a": common, "b": 1.1 * common}, 100.0).tied == ("a",)
    strong, weak = noisy(1.0, 1), noisy(0.1, 2)
    worst = {"a": np.concatenate([strong, weak]), "b": np.concatenate([weak, 3 * strong])}
    assert compare(worst, 9.0).winner == "a"
    rare = np.array([[[0.0, 0.0, 0.0, 0.2, 0.0, 0.0]]])
    outcome = compare({"a": rare, "b": noisy(1.0, 2, 0.05, (1, 1, 6))}, 9.0)
    assert outcome.margin < outcome.margin_ci[1] <= 1.0


def test_the_starting_point_takes_part_and_a_single_replicate_decides_nothing():
    assert compare({"a": noisy(2.0, 1)}, 1.0).tied == (TRIVIAL,)
    assert compare({}, 1.0).runner_up is None
    one = np.ones((1, 1, 1))
    assert sorted(compare({"a": one, "b": 2 * one}, 3.0).tied) == sorted(["a", "b", TRIVIAL])
    assert compare({"a": 0.2 * one, "b": one}, 9.0).margin_ci == (-math.inf, 1.0), "bounded from above alone"


def test_a_lower_bound_is_cut_at_the_starting_risk():
    constants = Constants(2.0, 1.0, diameter=2.0, domain="l2_ball")
    context = BoundContext(10, 50, 0.1, 1e-6, constants, "paper", {}, {}, start_risk=0.3)
    assert ranking._lower_bound("leaderboard.erm_l2", context) == (0.3, True)
    found, cut = ranking._lower_bound("leaderboard.erm_l2", replace(context, start_risk=1e9))
    assert not cut and found > 0.3
    assert ranking._lower_bound("", context) == (None, False)


def test_ends_of_an_interval_are_those_of_all_resamples_there_are():
    """Six replicates have 6^6 resamples; so many are drawn that another stream would hardly move an end."""
    a, b = noisy(1.0, 1, 0.3, (1, 1, 6)), noisy(1.2, 2, 0.3, (1, 1, 6))
    every = np.array(list(product(range(6), repeat=6)))
    shares = 1 - a.ravel()[every].mean(axis=1) / b.ravel()[every].mean(axis=1)
    share = 1 - a.mean() / b.mean()
    factor = math.sqrt(6 / 5) * student_factor(5)
    exact = [share + factor * (end - share) for end in np.quantile(shares, [0.025, 0.975])]
    found = compare({"a": a, "b": b}, 9.0).margin_ci
    np.testing.assert_allclose(found, [exact[0], min(1.0, exact[1])], atol=0.03 * shares.std())


def test_methods_that_do_the_same_are_tied_and_one_that_does_nothing_neither_wins_nor_ties():
    """Their sums come from one product of matrices, which may round them differently."""
    risks = noisy(1.0, 1, 0.3, (1, 2, 7)) / 3
    others = {f"other{i}": noisy(5.0, i, 0.1, (1, 2, 7)) for i in range(2, 9)}
    assert sorted(compare({"a": risks, **others, "z": risks.copy()}, 9.0).tied) == ["a", "z"]
    # Its mean may differ from the starting risk by a rounding, on either side; its name decides nothing.
    for risk in (1.0, 1.0 - 1e-15, 1.0 + 1e-15):
        outcome = compare({"a": np.full((1, 1, 24), risk), "b": noisy(3.0, 1)}, 1.0)
        assert (outcome.winner, outcome.tied, outcome.runner_up) == (TRIVIAL, (TRIVIAL,), "b")
    still = np.ones((1, 1, 24))
    outcome = compare({"a": still}, 1.0)
    assert (outcome.winner, outcome.tied, outcome.runner_up) == (TRIVIAL, (TRIVIAL,), "a")
    tied = compare({"a": still, "c": noisy(0.99, 2, 0.5)}, 1.0).tied
    assert sorted(tied) == ["c", TRIVIAL], "shared with the starting point, which it is"


@pytest.mark.parametrize(("shape", "copies"), [((2, 2, 1), 1), ((2, 2, 1), 5), ((2, 1, 2), 1)])
def test_units_are_resampled_whole_and_the_worst_signal_of_each_resample_counts(shape, copies):
    """Two units have 4 resamples: risks of 3, 3 and twice 2, beside one that is always 4."""
    risks = np.array([[1.0, 3.0], [3.0, 1.0]]).reshape(shape).repeat(copies, axis=2)
    outcome = compare({"a": risks, "b": np.full((1, *risks.shape[1:]), 4.0)}, 9.0)
    low = 0.5 - math.sqrt(2) * student_factor(1) * 0.25
    assert outcome.margin == 0.5 and outcome.margin_ci == pytest.approx((low, 0.5))


def test_methods_that_cannot_be_told_apart_are_tied_whatever_their_unit_and_the_order_of_their_names():
    risks = {"a": noisy(1.0, 1, 0.5), "b": noisy(1.02, 2, 0.5), "c": noisy(3.0, 3)}
    found = compare(risks, 5.0)
    assert sorted(found.tied) == ["a", "b"] and found.margin_ci[0] <= 0
    other = compare({name: 1024 * risks[name] for name in "cba"}, 5120.0)
    assert found[:2] == other[:2] and found.tied == other.tied
    assert (other.margin, *other.margin_ci) == pytest.approx((found.margin, *found.margin_ci), rel=1e-9)


def test_a_margin_is_a_share_of_the_runner_up():
    full = {name: np.full((1, 1, 3), risk) for name, risk in (("a", 1.0), ("b", 4.0), ("c", 5.0))}
    assert compare(full, 2.0)[:4] == ("a", TRIVIAL, 0.5, (0.5, 0.5))
    assert compare(full, 0.25)[:4] == (TRIVIAL, "a", 0.75, (0.75, 0.75))
    by_signal = {"a": np.array([[[1.0] * 3], [[3.0] * 3]]), "b": np.full((1, 1, 3), 2.0)}
    assert compare(by_signal, 9.0)[:3] == ("b", "a", pytest.approx(1 / 3)), "by the worst signal"
    none = {"a": np.zeros((1, 1, 3)), "b": np.zeros((1, 1, 3)), "c": np.ones((1, 1, 3))}
    assert compare(none, 9.0) == ("a", "b", 0.0, (0.0, 0.0), ("a", "b"))


SEARCH = {"algorithm": "wang2017.dp_gd", "grid": {"steps": [2, 8], "step": [0.1, 1.0]}}
SEARCHED = {**RIDGE, "lower_bound": "leaderboard.erm_strongly_convex", "searches": [SEARCH]}
METHODS = [f"wang2017.{name}" for name in ("dp_gd_pl", "output_perturbation_zhang17", "objective_perturbation_cms11")]
BOARD = {
    **FILE,
    "methods": [*METHODS, "bassily2021.noisy_smd"],
    "grids": {"smoke": [{"n": [128, 1024], "d": [3], "epsilon": [1]}]},
    "replicates": {"smoke": 6},
    "data_sets": {"smoke": 2},
    "instances": [SEARCHED, REAL],
}
ONE_POINT = {"grids": {"smoke": [{"n": [128], "d": [3], "epsilon": [1]}]}}


def planned(board):
    return board_plan(parse_board(board), "smoke", SETTINGS)


def load(job):
    fixed = calibrate_job(job)
    return execute(job, fixed), fixed


@pytest.fixture(scope="module")
def rows():
    rows = standings(BoardEntry.from_json(loads(dumps_canonical(planned(BOARD)))), load)
    kept = loads(dumps_pretty(RankedBoard("leaderboard.b", "1", tuple(rows))))
    read = list(RankedBoard.from_json(kept).standings)
    assert dumps_pretty(read) == dumps_pretty(rows)
    return read


def test_one_row_per_point_with_its_references(rows):
    found = [(row.instance, getattr(row, "n", None), bool(row.skipped)) for row in rows]
    assert found == [("ridge", 128, False), ("ridge", 1024, False), ("real", None, True)]
    small, large = rows[:2]
    assert small.without_privacy.risk == 0.0 and small.trivial > 0
    assert small.lower_bound / large.lower_bound == pytest.approx(64)
    assert [item.method for item in small.left_out] == ["noisy_smd"]
    assert large.winner != TRIVIAL and large.margin > 0
    assert small.contenders == large.contenders == (), "a refusal is no matter of time"


def test_a_job_is_of_an_instance_a_group_or_its_own_part():
    given = [("ranking", "ridge+dp_gd", ""), ("ranking", "ridge", ""), ("rate", "n+d", "both"), ("rate", "n+d", "")]
    jobs = [SimpleNamespace(kind=kind, part=part, group=group) for kind, part, group in given]
    assert [*map(part_of, jobs)] == ["ridge", "ridge", "both", "n+d"]


def test_an_instance_of_which_some_results_lack_is_skipped_whole():
    whole = planned(BOARD)
    lost, *others = whole.jobs
    found = standings(replace(whole, jobs=(*others, replace(lost, skipped="data absent"))), load)
    assert [row.instance for row in found] == ["ridge", "real"] and found[0].skipped == "data absent"


def test_only_proven_methods_are_ranked(rows):
    for row in rows[:2]:
        status = {m.method: (m.privacy_status, m.ranked) for m in row.methods}
        assert status["objective_perturbation_cms11"] == ("target_law_only", False)
        assert status["dp_gd_pl"] == ("proven", True)
        assert "objective_perturbation_cms11" not in row.tied and row.winner != "objective_perturbation_cms11"
        assert all(m.epsilon_real <= 1 + 1e-9 for m in row.methods if m.ranked)


@pytest.mark.parametrize(("part", "told"), [(0.0005, True), (0.002, False), (0.05, False)])
def test_a_method_is_at_the_start_within_a_thousandth_of_its_risk(part, told):
    calibrated = SimpleNamespace(variant="", privacy_status="proven", **dict.fromkeys(EPSILONS, 1.0))
    entry, risks = SimpleNamespace(algorithm="wang2017.dp_gd"), np.full((1, 1, 4), 2.0 * (1.0 - part))
    made = {"calibrated": calibrated, "entry": entry, "risks": risks, "signal": None, "extras": {}}
    cell = SimpleNamespace(**made, curve_evaluations=np.ones((1, 4)))
    assert ranking._method(Ran("i", "m", None, 0, cell), (), 2.0, 4).at_start == told


def test_a_reference_that_is_refused_is_unknown_and_not_zero():
    assert math.isnan(ranking._without_privacy(Instance(*"abc", without_privacy=Entrant(algorithm="a.b")), None).risk)
    assert ranking._without_privacy(Instance(*"abc"), None).risk == 0.0


def test_a_setting_that_a_method_is_runs_once_and_counts_for_both():
    """The words of a run do not depend on its name, so a second one would be the first again."""
    ridge = {**SEARCHED, "searches": [{"algorithm": "wang2017.dp_gd_pl", "grid": {}, "beside": [{}]}]}
    found = []
    for methods, ran in ((METHODS[1:2], ["ridge/dp_gd_pl#0", "ridge/dp_gd_pl#1"]), (METHODS[:2], ["ridge/dp_gd_pl"])):
        entry = planned({**BOARD, **ONE_POINT, "methods": methods, "instances": [ridge]})
        assert sorted(cell.method for job in entry.jobs for cell in job.cells if "dp_gd_pl" in cell.method) == ran
        found += standings(entry, load)
    assert found[0].search == found[1].search


def test_held_out_numbers_of_the_start_and_without_privacy_stand_beside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(5).standard_normal((40, 2))
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["a,b,y", *(f"{a:.3f},{b:.3f},{int(a > 0)}" for a, b in rows)]))
    options = {"path": "t.csv", "label": "y", "clip": 2.0, "split": 0.25}
    instance = {"id": "own", "title": "o", "problem": "data_file", "problem_options": options}
    grids = {"smoke": [{"n": [30], "d": [2], "epsilon": [1, 2]}]}
    entry = planned({**BOARD, "methods": METHODS[:1], "grids": grids, "data_sets": 1, "instances": [instance]})
    done = {job.key: load(job) for job in entry.jobs}
    problem = get_problem("data_file", **options)
    data = problem.draw(30, None)
    best = problem.beside(problem.minimiser(data)[None], data)
    for row in standings(entry, lambda job: done[job.key]):
        trivial, without = row.held_out["trivial"], row.held_out["without_privacy"]
        assert (trivial.loss, trivial.accuracy) == (pytest.approx(math.log(2.0)), 0.5)
        assert (without.loss, without.accuracy) == (best["held_out_loss"][0], best["held_out_accuracy"][0])
        assert row.methods[0].held_out.loss == row.methods[0].held_out_loss
    file.unlink()
    assert [row.held_out for row in standings(entry, lambda job: done[job.key])] == [{}, {}]


RACE = {
    **FILE,
    "methods": [*METHODS[:2], "wang2017.dp_gd", "wang2017.dp_svrg"],
    "grids": {"smoke": [{"n": [128, 4096], "d": [3], "epsilon": [1]}]},
    "replicates": {"smoke": 12},
    "most_seconds": {"smoke": 60},
    "most_seconds_at_smallest_n": {"smoke": 60},
    "instances": [{**RIDGE, "searches": [{"algorithm": "wang2017.dp_gd", "grid": {"steps": [2]}, "beside": [{}]}]}],
}


def test_stages_end_at_a_quarter_a_half_and_all_and_searches_are_not_raced(entry):
    assert [race_ends(count) for count in (3, 4, 8, 12, 13)] == [[3], [2, 4], [2, 4, 8], [3, 6, 12], [4, 7, 13]]
    for job in entry.jobs:
        ends = [block.end for block in job.blocks]
        assert ends == ([3, 6, 12] if job.races else stage_ends(12))
    assert {job.part for job in entry.jobs if not job.races} == {"ridge+dp_gd+search"}


@pytest.mark.parametrize("started", [1, 2, 3, 5])
def test_a_method_is_dropped_just_beyond_the_quantile(started):
    """Two rows of variance 1 a method: the standard error of a difference of means is 1."""
    limit = t.ppf(1 - 0.0025 / max(1, started - 1), 2)
    around = np.array([-1.0, 1.0]) / np.sqrt(2.0)
    risks = {"lead": around, "level": around, "near": limit - 0.01 + around, "far": limit + 0.01 + around}
    risks["second"] = 50.0 + around
    assert survivors(risks, started) == {"lead", "level", "near"}, "two always go on"
    assert survivors({name: risks[name] for name in ("lead", "second")}, started) == {"lead", "second"}
    grid = np.stack([around, around + limit + 0.01])  # the largest mean over the signals counts
    assert survivors({"a": around, "b": around, "grid": grid}, started) == {"a", "b"}


def test_equal_methods_are_dropped_no_more_often_than_is_said():
    every = np.random.default_rng(3).standard_normal((2000, 6, 3))
    lost = np.mean([len(survivors(dict(enumerate(risks)), 6)) < 6 for risks in every])
    assert lost < 0.03, "the least of six leads, so that a comparison with it is no comparison of two"


@pytest.fixture(scope="module")
def entry():
    return planned(RACE)


def run(entry, store, stop=None):
    measured = Measured(Store(store))
    ends = [*[DEFAULT] * stop, KeyboardInterrupt] if stop else None
    make = Mock(wraps=lambda jobs: make_all(jobs, measured, lambda line: None), side_effect=ends)
    return race(entry, measured, make), measured


def contents(store):
    return {path.name: path.read_bytes() for path in (store / "runs").rglob("*.parquet")}


def test_an_interrupt_changes_no_byte_and_no_word(entry, tmp_path):
    whole, measured = run(entry, tmp_path / "whole")
    for stop in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            run(entry, tmp_path / str(stop), stop)
        again, _ = run(entry, tmp_path / str(stop))
        assert dumps_canonical(again) == dumps_canonical(whole)
        assert contents(tmp_path / str(stop)) == contents(tmp_path / "whole")
    assert dumps_canonical(raced(entry, measured)) == dumps_canonical(whole)


def test_who_is_dropped_stays_in_the_ranking_and_wins_nothing(entry, tmp_path):
    whole, measured = run(entry, tmp_path)
    rows = [row for row in standings(whole, measured.load) if isinstance(row, Standing)]
    dropped = [(row.n, method.method, method.dropped) for row in rows for method in row.methods if method.dropped]
    assert dropped and {count for *_, count in dropped} <= {3, 6}
    for row in rows:
        names = [method.method for method in row.methods if method.dropped]
        assert not {*names} & {*row.tied, row.winner, row.runner_up} and len(row.methods) == 4
        assert [method.method for method in row.order][-len(names) :] == names or not names
        assert "dp_gd" not in names, "a search tries it too"
    (searched,) = [job for job in whole.jobs if not job.races]
    assert so_far(searched, measured)[2] == 12, "what does not race is summarised too"


def test_a_point_where_every_method_is_refused_says_why():
    def refused(job):
        fixed = tuple(RefusedCell("no noise") for _ in job.cells)
        return execute(job, fixed), fixed

    (row,) = standings(planned({**BOARD, **ONE_POINT, "methods": METHODS, "instances": [RIDGE]}), refused)
    assert row.skipped == "n = 128, d = 3, epsilon = 1: no method runs: no noise (3 of 3 methods)"
