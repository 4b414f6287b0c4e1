"""Undecided points, who can win, and what is recorded of a board."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.analysis.races import Ran
from dpsco_bench.analysis.record import changed_points, read_points, record_points
from dpsco_bench.leaderboard import standings
from dpsco_bench.leaderboard.standings import Contender, Unrun, best_search, contenders
from dpsco_bench.privacy.ledger import SEVERITY

from .made_up import ranked, standing


def row(n, risks, left_out=(), tied=("a",), **place):
    methods = [ranked(name, risk, ranked=name[0] != "x") for name, risk in risks.items()]
    out = tuple(Unrun(name, f"p.{name}", status, "about 9 s: 7 rounds") for name, status in left_out)
    return standing(methods, tied, n=n, left_out=out, **place)


SMALL = row(96, {"a": 0.1, "b": 0.2, "x": 0.05, "c": 0.3, "d": 2.0, "e": 3.0}, tied=("a", "e"))


def names(point, *others):
    return [found.method for found in contenders(point, [*others, point])]


def test_the_tied_and_those_that_can_catch_up_contend_the_best_first():
    """Not one that is 20 times behind where n grows by 4."""
    gone = [(name, "too_long") for name in "edcbax"]
    large = row(384, {"f": 0.1}, gone)
    assert names(large, SMALL) == ["a", "b", "c", "e"]
    assert contenders(large, [SMALL])[2] == Contender("c", 3, 96, 8, 1, "about 9 s")


def test_what_contends_at_other_sizes():
    gone = [("b", "refused"), ("c", "incomparable"), ("a", "not_run"), ("never", "too_long")]
    assert names(row(384, {"d": 0.1}, gone), SMALL) == []
    gap = row(384, {"a": 0.1}, [("d", "too_long")])  # a point where it did not run is not looked at
    assert names(row(1536, {"a": 0.1}, [("d", "too_long")]), row(24, {"d": 0.1}), SMALL, gap) == []
    gone = [("x", "too_long"), ("never", "too_long"), ("nor", "refused"), ("b", "too_long")]
    point = row(384, {"a": 0.1}, gone)
    assert standings.uncompared(point, [SMALL, point]) == ("never",)
    assert standings.uncompared(point, [point]) == ("b", "never", "x")


def left(point, *costs):
    out = tuple(Unrun(f"m{i}", "p.m", "too_long", "", seconds=seconds) for i, seconds in enumerate(costs))
    slow = tuple(Contender(one.method, 1, 96, 8, 1.0) for one in out)
    return replace(point, contenders=slow, left_out=(*out, Unrun("never", "p.never", "too_long", "", seconds=1e9)))


FIRST, MIDDLE, LARGE = (replace(row(n, {"a": 0.1}), runner_up="the next") for n in (1024, 16384, 1048576))
LATE = left(LARGE, 200.0, 40.0)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], r""),
        ([FIRST, MIDDLE], r"The largest n .* is 16,384, which is the largest that was run\."),
        ([MIDDLE, left(MIDDLE, 9.0), LATE], r".* is 16,384; 1 above it is undecided\."),
        ([FIRST, left(MIDDLE, 7500.0), LATE], r".* is 1,024; 2 above it are undecided\."),
        ([FIRST, replace(MIDDLE, runner_up=None)], r".* is 1,024; at larger n no method of proven privacy ran\."),
        ([replace(MIDDLE, runner_up=None)], r"No point is decided, since no method of proven privacy ran\."),
        ([left(FIRST, 8.0)], r"No point is decided\."),
    ],
)
def test_the_largest_decided_n_and_what_is_above_it(rows, said):
    assert re.fullmatch(said, standings.decided_text(rows))
    assert standings.cost_text(LATE) == "4 min 00 s", "all contenders and nothing else count"


BOARD = "leaderboard.b"
RECORDED = standing([ranked("a", 0.12345, held_out_loss=0.5), ranked("b", 0.2)], ["a"], runner_up="b")


def test_a_point_is_recorded_with_its_numbers_and_absent_data_and_other_boards_stay(tmp_path):
    path = tmp_path / "boards" / "ci.json"
    record_points(path, BOARD, [one.recorded(BOARD) for one in (RECORDED, replace(RECORDED, instance="real"))], ())
    record_points(path, "leaderboard.c", [RECORDED.recorded("leaderboard.c")], ())
    row = read_points(path)[0]
    assert [row[key] for key in ("instance", "n", "least", "tied", "risk")] == ["i", 64, "a", ["a"], 0.123]
    assert [row[key] for key in ("trivial", "search", "held_out_loss", "contenders")] == [9.0, None, 0.5, []]
    record_points(path, BOARD, [], {"real"})
    assert [(row["board"], row["instance"]) for row in read_points(path)] == [(BOARD, "real"), ("leaderboard.c", "i")]


def test_only_another_winner_of_a_decided_point_is_a_change(tmp_path):
    record_points(tmp_path / "ci.json", BOARD, [RECORDED.recorded(BOARD)], ())
    known = read_points(tmp_path / "ci.json")
    other = replace(RECORDED, winner="b", tied=("b",))
    undecided = replace(other, contenders=(Contender("c", 1, 32, 8, 1.0),))
    assert [*changed_points(known, [other.recorded(BOARD)])] == [f"{BOARD} i, n = 64, d = 8, epsilon = 1: a -> b"]
    for same in (RECORDED, replace(other, n=128), replace(other, tied=("b", "a")), undecided):
        assert not [*changed_points(known, [same.recorded(BOARD)])]


def run(status="proven", setting=None, halves=(1.0, 1.0)):
    risks = np.repeat(np.array(halves), 8)[None, None, :]
    calibrated = SimpleNamespace(privacy_status=status)
    entry = SimpleNamespace(algorithm="a.b", options={"setting": setting})
    return Ran("i", f"m{setting}", setting, 0, SimpleNamespace(risks=risks, calibrated=calibrated, entry=entry))


@pytest.mark.parametrize("status", SEVERITY)
def test_only_what_is_proven_and_not_searched_can_win(status):
    """Nor does a setting without a proof count as a search."""
    proven = status == "proven"
    assert run(status).ranked == proven and not run(status, setting=0).ranked
    found = best_search([run(status, 0, (0.1, 0.1)), run("proven", 1, (2.0, 3.0))])
    assert (found.method, found.settings) == (("m0", 2) if proven else ("m1", 1))
    assert (best_search([run(status, 0)]) is None) != proven


def test_a_search_chooses_on_one_half_and_is_measured_on_the_other():
    """Take the worst signal; where there are several data sets, of all of them."""
    found = best_search([run(setting=0, halves=(1.0, 9.0)), run(setting=1, halves=(2.0, 3.0)), run(halves=(0.1, 0.1))])
    assert (found.method, found.risk, found.settings) == ("m0", 9.0, 2)
    tried = [run(setting=number) for number in range(2)]
    for one, risks in zip(tried, ([[1.0, 9.0]], [[0.5, 3.0], [2.0, 3.0]]), strict=True):  # signals, data sets
        one.cell.risks = np.repeat(np.array(risks)[:, :, None], 4, axis=2)
    assert (best_search(tried).method, best_search(tried).risk) == ("m0", 9.0)


@pytest.mark.parametrize(
    ("others", "near"),
    [
        ([(96, 8, 1), (192, 8, 1), (384, 8, 1.1)], (192, 8, 1)),  # the next smaller n of the same d and epsilon
        ([(3072, 8, 1), (768, 8, 1), (384, 8, 3)], (768, 8, 1)),
        ([(384, 2, 1), (384, 16, 1)], (384, 16, 1)),
        ([(24, 9, 1), (384, 9, 1)], (384, 9, 1)),
        ([(768, 16, 1), (1152, 8, 1)], (1152, 8, 1)),
        ([(384, 8, 1 / 3), (384, 8, 3.5)], (384, 8, 1 / 3)),
        ([(768, 8, 1), (384, 16, 1)], (384, 16, 1)),  # of equal distances the smaller n
    ],
)
def test_a_contender_is_held_against_the_nearest_point_where_it_ran(others, near):
    point = row(384, {"a": 0.1}, [("d", "too_long")])
    for order in (others, others[::-1]):
        ran = [row(n, {"a": 0.1, "d": 0.1}, d=d, epsilon=epsilon) for n, d, epsilon in order]
        (found,) = contenders(point, ran)
        assert (found.n, found.d, found.epsilon, found.place) == (*near, 2)


def test_what_is_behind_by_no_more_than_n_has_grown_contends():
    point = row(384, {"a": 0.1}, [("d", "too_long")])
    for n, times, contends in ((96, 4.0, True), (96, 4.01, False), (1536, 1.0, True), (1536, 1.01, False)):
        assert bool(contenders(point, [row(n, {"a": 0.125, "d": 0.125 * times})])) == contends
