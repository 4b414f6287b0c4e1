"""The leaderboard's tables and phase diagrams, from made-up standings."""

from pathlib import Path

import pytest

from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.report.board import board_tables, data_note, nowhere_run, wins
from dpsco_bench.report.drawing import style, svg_text
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.phases import board_figure, page_phases, phase_panels, tile_colour, tile_text
from dpsco_bench.report.tables import to_csv, to_latex, to_markdown


def method(name, risk, status="proven", tied=False):
    numbers = {"risk": risk, "ci": [risk / 2, 2 * risk], "gradient_evaluations": 1000.0, "signal": None}
    privacy = {
        "epsilon_real": 1.0,
        "epsilon_real_kind": "exact",
        "privacy_status": status,
        "ranked": status == "proven",
    }
    return {"method": name, "algorithm": f"wang2017.{name}", "variant": "v", **numbers, **privacy, "tied": tied}


def row(n, epsilon, tied, margin=0.5):
    methods = [method(name, 0.1, tied=True) for name in tied if name != TRIVIAL] + [method("last", 0.3)]
    refused = {"method": "no", "algorithm": "su2023.no", "status": "refused", "reason": "lacks eps <= 1"}
    return {
        "instance": "i",
        "title": "an instance",
        **{"n": n, "d": 4, "epsilon": epsilon, "delta": 1e-6, "p": 2.0},
        "methods": [*methods, method("law", 0.01, "target_law_only")],
        "left_out": [refused],
        "trivial": 0.5,
        "without_privacy": {"risk": 0.0, "ci": [0.0, 0.0]},
        "lower_bound": 0.001,
        "winner": tied[0],
        "runner_up": "last",
        "margin": margin,
        "margin_ci": [0.1, 0.6],
        "tied": tied,
        "search": {"method": "gd", "algorithm": "wang2017.gd", "options": {"steps": 4}, "risk": 0.05, "ci": [0.0, 0.1]},
        "skipped": "",
    }


ROWS = [
    row(128, 1, ["dp_gd"]),
    row(512, 1, ["dp_gd"], 0.9),
    row(128, 4, ["dp_gd", "other_one"], 0.1),
    row(512, 4, [TRIVIAL]),
    {"instance": "j", "title": "another", "skipped": "data absent"},
]
INSTANCES = [
    {"id": "i", "title": "an instance", "grids": {}, "note": ""},
    {"id": "j", "title": "another", "grids": {}, "note": ""},
]


@pytest.fixture
def board():
    grids = {"ci": [{"n": [128, 512], "d": [4], "epsilon": [1, 4]}]}
    data = {"instances": [dict(instance) for instance in INSTANCES], "grids": grids, "delta": 1e-6}
    results = BoardResults("leaderboard.x", "Which?", data, [], [], Path(), "ci")
    results.__dict__["rows"] = ROWS
    return results


def test_wins_and_ties_are_counted_apart(board):
    assert wins(board) == [("dp_gd", 2, 1), (TRIVIAL, 1, 0), ("other_one", 0, 1)]


def test_methods_that_never_run_are_told_with_the_reason(board):
    assert nowhere_run(board) == [("no", "lacks ε ≤ 1")]


def test_references_name_their_source(board):
    board.board["instances"][0] |= {"lower_bound": "leaderboard.sco_l1", "problem": "needle_l1"}
    (table,) = [to_markdown(t) for t in board_tables(board) if t.id.endswith("references")]
    assert "Table 1 of Bassily, Guzman, Nandi 2021" in table and "none stated in the papers" in table


def test_the_number_of_data_sets_is_told(board):
    assert data_note(board) == ""
    board.board["data_sets"] = {"ci": 1}
    assert "one data set, so that intervals there speak of the noise alone" in data_note(board)


def test_tables_say_who_wins_who_cannot_and_who_refuses(board):
    text = "\n".join(to_markdown(table) for table in board_tables(board))
    for words in ("tie: dp_gd, other_one", "not ranked: target law only", "lacks ε ≤ 1", "0.500 [0.100, 0.600]"):
        assert words.replace("0.500", "0.50").replace("0.100", "0.10").replace("0.600", "0.60") in text
    assert "Public grid search (not private)" in text and "0.0500 (gd, steps 4)" in text
    for table in board_tables(board):
        assert to_csv(table) and to_latex(table)


def test_tiles_say_the_winner_its_margin_and_ties():
    assert tile_text(ROWS[0]) == "dp gd\n−50\u2009%"
    assert tile_text(ROWS[2]) == "dp gd\n= 1 more"
    assert tile_text(ROWS[3]).startswith("stay at\nthe start")
    assert tile_text({**ROWS[3], "runner_up": None}) == "no method\nrun here"
    assert sum(tile_colour(ROWS[1])) < sum(tile_colour(ROWS[0])), "a larger margin is darker"


def test_figures_have_a_panel_per_plane_and_the_same_bytes(board):
    ((instance, panel),) = phase_panels(board)
    assert (instance, [line.text for line in panel.lines]) == ("i", ["d\u00a0=\u00a04"])
    with style():
        assert svg_text(board_figure(board)) == svg_text(board_figure(board))
    (svg,) = page_phases(board)["i"]
    assert "dp gd" in svg and 'role="img"' in svg
