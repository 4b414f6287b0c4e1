"""What is recorded of leaderboards, and what counts as a change."""

from dataclasses import replace

from dpsco_bench.leaderboard.standings import Contender, Skipped, changed, read_boards, record_board

from .made_up import ranked, standing

BOARD = "leaderboard.b"
POINT = standing([ranked("a", 0.12345, held_out_loss=0.5), ranked("b", 0.2)], ["a"], runner_up="b")


def test_a_point_is_recorded_with_its_numbers(tmp_path):
    path = tmp_path / "boards" / "ci.json"
    record_board(path, BOARD, [POINT])
    (row,) = read_boards(path)
    assert [row[key] for key in ("instance", "n", "least", "tied", "risk")] == ["i", 64, "a", ["a"], 0.123]
    assert [row[key] for key in ("trivial", "search", "held_out_loss", "contenders")] == [9.0, None, 0.5, []]


def test_absent_data_and_other_boards_stay_recorded(tmp_path):
    path = tmp_path / "ci.json"
    record_board(path, BOARD, [POINT, replace(POINT, instance="real")])
    record_board(path, "leaderboard.c", [POINT])
    record_board(path, BOARD, [Skipped("real", "t", "data absent")])
    assert [(row["board"], row["instance"]) for row in read_boards(path)] == [(BOARD, "real"), ("leaderboard.c", "i")]


def test_only_another_winner_of_a_decided_point_is_a_change(tmp_path):
    path = tmp_path / "ci.json"
    record_board(path, BOARD, [POINT])
    known = read_boards(path)
    other = replace(POINT, winner="b", tied=("b",))
    assert changed(known, BOARD, [other]) == [f"{BOARD} i, n = 64, d = 8, epsilon = 1: a -> b"]
    assert not changed(known, BOARD, [POINT, replace(other, n=128), replace(other, tied=("b", "a"))])
    undecided = replace(other, contenders=(Contender("c", 1, 32, 8, 1.0),))
    assert not changed(known, BOARD, [undecided, Skipped("i", "t", "data absent")])
