"""The race: whoever is clearly behind is not run to the end, and an interrupt changes no byte."""

import numpy as np
import pytest
from scipy.stats import t

from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import race_ends, stage_ends
from dpsco_bench.execution.store import Store
from dpsco_bench.execution.worker import make_all
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.leaderboard.board import board_plan, parse_board
from dpsco_bench.leaderboard.standings import Standing, race, raced, standings, survivors

from .made_up import FILE, RIDGE, SETTINGS

BOARD = {
    **FILE,
    "methods": ["wang2017.dp_gd_pl", "wang2017.dp_gd", "wang2017.output_perturbation_zhang17", "wang2017.dp_svrg"],
    "grids": {"smoke": [{"n": [128, 4096], "d": [3], "epsilon": [1]}]},
    "replicates": {"smoke": 12},
    "most_seconds": {"smoke": 60},
    "most_seconds_at_smallest_n": {"smoke": 60},
    "instances": [{**RIDGE, "searches": [{"algorithm": "wang2017.dp_gd", "grid": {"steps": [2]}, "beside": [{}]}]}],
}


def test_stages_end_at_a_quarter_a_half_and_all_and_searches_are_not_raced(entry):
    assert [race_ends(count) for count in (3, 4, 8, 12, 16)] == [[3], [2, 4], [2, 4, 8], [3, 6, 12], [4, 8, 16]]
    for job in entry.jobs:
        ends = [block.end for block in job.blocks]
        assert ends == ([3, 6, 12] if job.races else stage_ends(12))
    assert {job.part for job in entry.jobs if not job.races} == {"ridge+dp_gd+search"}


def test_a_method_is_dropped_just_beyond_the_quantile():
    """Two rows of variance 1 a method: the standard error of a difference of means is 1."""
    started, limit = 5, t.ppf(1 - 0.0025 / 4, 2)
    around = np.array([-1.0, 1.0]) / np.sqrt(2.0)
    risks = {"lead": around, "second": 50.0 + around, "near": limit - 0.01 + around, "far": limit + 0.01 + around}
    assert survivors(risks, started) == {"lead", "near"}
    assert survivors({name: risks[name] for name in ("lead", "second")}, started) == {"lead", "second"}
    grid = np.stack([around, around + limit + 0.01])  # the largest mean over the signals counts
    assert survivors({"a": around, "b": around, "grid": grid}, started) == {"a", "b"}


def test_equal_methods_are_dropped_no_more_often_than_is_said():
    rng, lost = np.random.default_rng(3), 0
    for _ in range(2000):
        risks = rng.standard_normal((6, 3))
        lost += len(survivors(dict(enumerate(risks)), 6)) < 6
    assert lost / 2000 < 0.03, "the least of six leads, so that a comparison with it is no comparison of two"


@pytest.fixture(scope="module")
def entry():
    return board_plan(parse_board(BOARD), "smoke", SETTINGS)


def run(entry, store, stop=None):
    calls, measured = 0, Measured(Store(store))

    def make(jobs):
        nonlocal calls
        if calls == stop:
            raise KeyboardInterrupt
        calls += 1
        make_all(jobs, measured, lambda line: None)

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
