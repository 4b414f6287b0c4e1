"""The leaderboard's tables and phase diagrams, from made-up standings."""

import csv
import io
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS
from dpsco_bench.claims.plan import BoardEntry
from dpsco_bench.cli.describe import describe
from dpsco_bench.cli.verbs.leaderboard import _print
from dpsco_bench.execution.job_results import HeldOut
from dpsco_bench.execution.layout import Layout
from dpsco_bench.jsonio import dumps_pretty, loads, to_jsonable
from dpsco_bench.leaderboard.board import Board, Instance
from dpsco_bench.leaderboard.phases import (
    board_figure,
    collapse_figure,
    competing_text,
    lines_of,
    name_text,
    phase_panels,
    places_of,
    regions,
    tile_colour,
    tile_text,
    uncompared_text,
    winners_text,
)
from dpsco_bench.leaderboard.standings import (
    TRIVIAL,
    BoardResults,
    Contender,
    Searched,
    Skipped,
    Unrun,
)
from dpsco_bench.leaderboard.tables import (
    board_tables,
    nowhere_run,
    points_table,
    wins,
    wins_table,
)
from dpsco_bench.report.drawing import style, svg_text
from dpsco_bench.report.tables import to_csv, to_latex, to_markdown
from dpsco_bench.site.pages.home import START, explained
from dpsco_bench.site.pages.methods import places
from tests.report.legible import faults

from .made_up import ranked, standing


def method(name, risk, status="proven", tied=False):
    more = {"algorithm": f"wang2017.{name}", "ci": (risk / 2, 2 * risk), "privacy_status": status}
    return ranked(name, risk, **more, ranked=status == "proven", tied=tied)


def row(n, epsilon, tied, margin=0.5):
    methods = [method(name, 0.1, tied=True) for name in tied if name != TRIVIAL] + [method("last", 0.3)]
    return standing(
        [*methods, method("law", 0.01, "target_law_only")],
        tied,
        **{"title": "an instance", "n": n, "d": 4, "epsilon": epsilon, "trivial": 0.5, "lower_bound": 0.001},
        left_out=(Unrun("no", "su2023.no", "refused", "lacks eps <= 1"),),
        runner_up="last",
        margin=margin,
        search=Searched("gd", "wang2017.gd", {"steps": 4}, 0.05, (0.0, 0.1), 4),
    )


ROWS = [
    row(128, 1, ["dp_gd"]),
    row(512, 1, ["dp_gd"], 0.9),
    row(128, 4, ["dp_gd", "other_one"], 0.1),
    row(512, 4, [TRIVIAL]),
    Skipped("j", "another", "data absent"),
]


def results(rows=ROWS, data_sets=(), **first):
    """Made-up standings of a board; ``first`` changes its first instance."""
    grids = {"ci": [{"n": [128, 512], "d": [4], "epsilon": [1, 4]}]}
    instances = [
        replace(Instance("i", "an instance", "needle_l1"), **first),
        Instance("j", "another", "covertype"),
    ]
    told = Board("leaderboard.x", "Which?", 1e-6, [], instances, grids, {}, dict(data_sets), {}, {})
    made = BoardResults(BoardEntry(told.id, (), "0", to_jsonable(told)), Layout("ci"))
    made.__dict__["rows"] = rows
    return made


@pytest.fixture
def board():
    return results()


def test_wins_and_ties_are_counted_apart(board):
    assert wins(board) == [("dp_gd", 2, 1), (TRIVIAL, 1, 0), ("other_one", 0, 1)]


def test_winners_lead_to_the_pages_of_their_methods(board, monkeypatch):
    """One winner of a decided point; no page of a method that nobody has, nor of the starting point."""
    monkeypatch.setattr(ALGORITHMS, "names", lambda: ["wang2017.dp_gd"])
    column = wins_table(board).columns["Method"]
    assert [column.link(item) for item in wins(board)] == ["method--wang2017-dp-gd", "", ""]
    winner = points_table(board).columns["Winner"]
    assert [winner.link(row) for row in board.points] == ["method--wang2017-dp-gd"] * 2 + ["", ""]


def test_winners_say_what_they_are(board):
    """The starting point too; nothing is said of a method that is not here."""
    what = explained(board).columns["What it is"]
    known, start, unknown = (what.text(item) for item in wins(board))
    assert known == describe("wang2017.dp_gd")["summary"] and (start, unknown) == (START, "")


def test_places_are_counted_first_at_decided_points_alone(board):
    open_ = replace(ROWS[0], contenders=(Contender("slow", 3, 64, 4, 1.0, ""),))
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results([*ROWS, open_])]))
    (found,) = places(content, "wang2017.dp_gd")
    assert (found["places"], found["decided"]) == ([1, 1, 1, 1], [True, True, True])


def test_a_method_that_the_start_is_below_is_not_first(board):
    """Its place is among the methods that ran; the first place is the winner's, which may be the start."""
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results([row(512, 4, [TRIVIAL])])]))
    (found,) = places(content, "wang2017.last")
    assert (found["places"], found["decided"]) == ([1], [False])


def test_methods_that_never_run_are_told_with_the_reason(board):
    assert nowhere_run(board) == [("no", "lacks ε ≤ 1")]


def test_references_name_their_source():
    board = results(lower_bound="leaderboard.sco_l1")
    (table,) = [to_markdown(t) for t in board_tables(board) if t.id.endswith("references")]
    assert "Table 1 of Bassily, Guzman, Nandi 2021" in table and "none stated in the papers" in table


def test_tables_say_who_wins_who_cannot_and_who_refuses(board):
    text = "\n".join(to_markdown(table) for table in board_tables(board))
    for words in ("tie: dp_gd, other_one", "not ranked: target law only", "lacks ε ≤ 1", "0.500 [0.100, 0.600]"):
        assert words.replace("0.500", "0.50").replace("0.100", "0.10").replace("0.600", "0.60") in text
    assert "Public grid search (not private)" in text and "0.0500 (gd, steps 4)" in text
    for table in board_tables(board):
        assert to_csv(table) and to_latex(table)


def test_every_risk_says_whether_it_is_of_the_sample_or_of_the_population(board):
    board.__dict__["rows"] = [ROWS[0], replace(ROWS[1], risk_kind="excess population")]
    points, methods = (table for table in board_tables(board) if table.id in (board.id, f"{board.id}.methods"))
    for table in (points, methods):
        lines = list(csv.DictReader(io.StringIO(to_csv(table))))
        assert {(line["n"], line["risk_kind"]) for line in lines} == {
            ("128", "excess empirical"),
            ("512", "excess population"),
        }
        assert "| empirical" in to_markdown(table) and "| population" in to_markdown(table)
    board.__dict__["rows"] = [replace(one, risk_kind="excess population") for one in ROWS[:3]]
    ((_, panel),) = phase_panels(board)
    assert "; population risk; " in panel.line
    with style():
        assert any(axes.get_ylabel() == "population risk / start's" for axes in collapse_figure(board).axes)


def test_tiles_of_many_lines_can_be_read(board):
    """As profile full has them: seven lines of several dimensions, and few points at large n."""
    slow = Contender("noisy_sgd_bst14", 1, 1024, 8, 1.0, "about 163 days on one core")
    lines = [(16, 8), (4, 8), (1, 8), (1, 64), (0.25, 8), (1, 1024), (0.0625, 8)]
    names = ["ttz14", "noisy_sgd_bst14", "frank_wolfe_ttz15", "dp_otb", TRIVIAL, "truncated_batched_md", "gg_lmo"]
    rows = [replace(row(1024, eps, [name], 0.9), d=d) for (eps, d), name in zip(lines, names, strict=True)]
    rows += [replace(row(n, 1, ["gg_lmo"]), d=8) for n in (4096, 16384)]
    rows += [replace(row(1048576, 1, ["gg_lmo"]), d=8, contenders=(slow,) * 5)]
    board.__dict__["rows"] = [*rows, *(replace(one, instance="j") for one in rows)]
    with style():
        assert faults(board_figure(board)) == []


def test_regions_say_the_winner_and_tiles_its_margin_and_ties():
    assert (name_text(ROWS[0]), tile_text(ROWS[0])) == ("DP-GD", "−50\u2009%")
    assert (name_text(ROWS[2]), tile_text(ROWS[2])) == ("DP-GD", "= 1 more")
    assert name_text(ROWS[3]) == "nothing beats\nthe start"
    assert name_text(replace(ROWS[3], runner_up=None)) == "none proven\nprivate ran"
    assert name_text(replace(ROWS[3], runner_up=None, methods=())) == "no method\nrun here"
    assert sum(tile_colour(ROWS[1])) < sum(tile_colour(ROWS[0])), "a larger margin is darker"


def test_a_name_stands_once_in_its_region():
    at = places_of(ROWS[:4])
    told = [[(at[place].n, at[place].epsilon) for place in region] for region in regions(at)]
    assert sorted(map(sorted, told)) == [[(128, 1), (128, 4), (512, 1)], [(512, 4)]]
    apart = [
        ROWS[0],
        replace(ROWS[3], n=512, epsilon=1),
        replace(ROWS[3], n=128, epsilon=4),
        replace(ROWS[0], n=512, epsilon=4),
    ]
    assert len(regions(places_of(apart))) == 4, "corners do not touch"


def test_lines_are_in_the_order_of_the_noise():
    rows = [replace(ROWS[0], epsilon=epsilon, d=d) for epsilon, d in ((1, 4), (1, 64), (0.25, 4), (4, 4))]
    assert lines_of(rows) == [(1, 64), (0.25, 4), (1, 4), (4, 4)]


def test_methods_that_share_an_algorithm_are_told_apart(board):
    out = tuple(Unrun(f"otb_{a}", "p.otb", "not_run", f"like {a}") for a in "xy")
    board.__dict__["rows"] = [replace(ROWS[0], left_out=out)]
    text = to_markdown(board_tables(board)[-1])
    assert "p.otb (otb_x)" in text and "p.otb (otb_y)" in text and "like y" in text and "alike at" not in text


UNDECIDED = replace(ROWS[1], contenders=(Contender("app_objp", 2, 128, 4, 1),))


def test_an_undecided_point_has_no_winner_no_margin_and_counts_for_nobody(board):
    board.__dict__["rows"] = [ROWS[0], UNDECIDED]
    assert wins(board) == [("dp_gd", 1, 0)]
    won, points, _, methods, _ = board_tables(board)
    assert "Of the 1 decided points of all instances; 1 more are undecided" in won.note
    text = to_markdown(points)
    assert (
        "undecided; least of those run: dp_gd; contender left out: app_objp (no. 2 at n = 128), too long here" in text
    )
    assert "0.90" not in text and "first of those run" in to_markdown(methods)
    raw = to_csv(points).splitlines()
    assert "app_objp" in raw[-1] and "0.9" not in raw[-1]


def test_an_undecided_tile_is_crossed_and_explained(board):
    assert (name_text(UNDECIDED), tile_text(UNDECIDED)) == ("DP-GD\nor Approx.\nobjective\nperturbation?", "")
    assert sum(tile_colour(UNDECIDED)) > sum(tile_colour(ROWS[0])), "no margin is shown"
    board.__dict__["rows"] = [ROWS[0], UNDECIDED]
    with style(**{"svg.fonttype": "none"}):
        assert "undecided: what might win is too slow; the time that deciding takes" in svg_text(board_figure(board))


def test_a_winner_that_hardly_moves_is_so_described(board):
    still = replace(ROWS[0], methods=tuple(replace(m, at_start=True) for m in ROWS[0].methods))
    assert name_text(still) == "DP-GD\n≈ the start"
    board.__dict__["rows"] = [still]
    assert "first, stays at the starting point" in "".join(to_markdown(table) for table in board_tables(board))


def test_a_cut_lower_bound_is_marked(board):
    board.__dict__["rows"] = [replace(ROWS[0], lower_bound_cut=True)]
    assert "(cut)" in to_markdown(board_tables(board)[1]) and "it is cut at that risk" in board_tables(board)[1].note


def test_the_number_of_methods_that_compete_is_told(board):
    assert [len(one.order) for one in ROWS[:4]] == [2, 2, 3, 1]
    assert competing_text(ROWS[:4]) == "1 to 3 methods compete" and competing_text(ROWS[:2]) == "2 methods compete"
    assert competing_text(ROWS[3:4]) == "one method runs here, against the start"


def test_figures_have_a_panel_per_instance_and_the_same_bytes(board):
    ((instance, panel),) = phase_panels(board)
    assert instance == "i" and panel.line.endswith("; d\u00a0=\u00a04; 1 to 3 methods compete")
    assert panel.title.startswith("DP-GD has the least mean risk at 3 of 4 points, 1 of them ties")
    with style():
        assert svg_text(board_figure(board)) == svg_text(board_figure(board))


def test_what_ran_nowhere_is_named_with_its_diagram(board):
    assert uncompared_text(ROWS[:4]) == ""
    rows = [replace(ROWS[0], uncompared=("slow", "late")), replace(ROWS[1], uncompared=("slow",))]
    assert uncompared_text(rows) == "not compared, too long everywhere: late, slow"
    rows[1] = replace(rows[1], left_out=tuple(Unrun(name, name, "too_long", "") for name in ("slow", "last")))
    assert uncompared_text(rows).endswith("late, slow; too long at some points: 1 method")


def test_an_undecided_tile_says_how_many_are_left_out_and_what_deciding_it_would_take():
    slow = Contender("noisy_sgd", 1, 256, 8, 1.0, "about 3 min 52 s on one core")
    one, two = (replace(ROWS[0], contenders=(slow,) * count) for count in (1, 2))
    assert name_text(one) == "DP-GD\nor Multipass noisy\nSGD?" and name_text(two) == "DP-GD\nor 2 others?"
    assert (tile_text(one), tile_text(two)) == ("3 min 52 s", "7 min 44 s"), "all of them have to run"
    assert tile_text(replace(one, contenders=(replace(slow, cost=""),))) == ""
    long = replace(
        one, winner="output_perturbation_by_somebody", contenders=(replace(slow, method="noisy_descent_of_them"),)
    )
    assert name_text(long).endswith("\nor 1 other?")


def test_a_first_place_that_is_a_tie_is_called_one():
    assert winners_text([ROWS[0]]) == "DP-GD has the least mean risk at 1 of 1 point"
    assert winners_text([ROWS[0], ROWS[2]]) == "DP-GD has the least mean risk at 2 of 2 points, 1 of them ties"
    assert winners_text([ROWS[2]]) == "DP-GD has the least mean risk at 1 of 1 point, all ties"


def test_a_title_counts_what_it_says_of_the_method_that_it_names():
    """Another may share more first places than the one that has most of them alone."""
    rows = [row(128, e, ["dp_gd", "other_one"]) for e in (1, 2)] + [row(128, 4, ["third", "other_one"])]
    open_ = replace(ROWS[0], contenders=(Contender("slow", 3, 64, 4, 1.0, ""),))
    assert winners_text([*rows, open_]) == "DP-GD has the least mean risk at 2 of 3 points, all ties; 1 undecided"


def test_held_out_numbers_stand_beside_what_they_are_held_against(board):
    first, *others = ROWS[0].methods
    beside = {"trivial": HeldOut(0.693, 0.5), "without_privacy": HeldOut(0.422, 0.808)}
    ranked = replace(first, held_out_loss=0.572, held_out_accuracy=0.7)
    made = replace(ROWS[0], methods=(ranked, *others), held_out=beside)
    board.__dict__["rows"] = [made, ROWS[1]]
    (points,) = (table for table in board_tables(board) if table.id == board.id)
    for words in ("0.572 (70 %)", "0.693 (50 %)", "0.422 (80.8 %)"):
        assert words in to_markdown(points).replace("70.0 %", "70 %").replace("50.0 %", "50 %")
    there, without = csv.DictReader(io.StringIO(to_csv(points)))
    names = ("held_out_loss", "held_out_loss_trivial", "held_out_loss_without_privacy")
    assert [float(there[name]) for name in names] == [0.572, 0.693, 0.422]
    assert not any(without[name] for name in names)
    assert type(made).from_json(loads(dumps_pretty(made))) == replace(made, methods=tuple(made.methods))


def test_the_terminal_table_has_a_held_out_column_where_there_are_such_numbers(capsys):
    first, *others = ROWS[0].methods
    ranked = replace(first, held_out_loss=0.572, held_out_accuracy=0.7)
    beside = {"trivial": HeldOut(0.693, 0.5), "without_privacy": HeldOut(0.422, 0.808)}
    made = replace(ROWS[0], methods=(ranked, *others), held_out=beside)
    _print([made, replace(made, epsilon=4.0)], everything=True)
    shown = capsys.readouterr().out
    assert "held out: loss  accuracy" in shown and "0.572       0.7" in shown
    assert shown.count("trivial solution  held out: loss 0.693, accuracy 0.5") == 1, "once for all on these records"
    assert shown.count("without privacy   held out: loss 0.422, accuracy 0.808") == 1
    _print([ROWS[0]], everything=True)
    assert "held out" not in capsys.readouterr().out
