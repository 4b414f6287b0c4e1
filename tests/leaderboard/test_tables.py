"""The leaderboard's tables and phase diagrams, and whether points fall on one curve, from made-up standings."""

import csv
import io
import math
import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsco_bench.claims.plan import BoardEntry
from dpsco_bench.cli.verbs.leaderboard import screen
from dpsco_bench.execution.job_results import HeldOut
from dpsco_bench.execution.layout import Layout
from dpsco_bench.jsonio import dumps_pretty, loads, to_jsonable
from dpsco_bench.leaderboard import phases
from dpsco_bench.leaderboard.board import Board, Instance
from dpsco_bench.leaderboard.phases import Diagram, board_figure, collapse_figure, name_text, phase_panel, share, spread
from dpsco_bench.leaderboard.standings import TRIVIAL, Contender, Searched, Skipped, Unrun
from dpsco_bench.leaderboard.tables import board_tables, nowhere_run, winner_text, wins_table
from dpsco_bench.report.drawing import style, svg_text
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.tables import to_csv, to_latex, to_markdown
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
    grids = {"ci": [{"n": [128, 512], "d": [4], "epsilon": [1, 4]}]}
    instances = [replace(Instance("i", "an instance", "needle_l1"), **first), Instance("j", "another", "covertype")]
    told = Board("leaderboard.x", "Which?", 1e-6, [], instances, grids, {}, dict(data_sets), {}, {})
    made = BoardResults(BoardEntry(told.id, (), "0", to_jsonable(told)), Layout("ci"))
    made.__dict__["rows"] = rows
    return made


BOARD = results()


def lines_of(table):
    return list(csv.DictReader(io.StringIO(to_csv(table))))


def slow(*methods, cost=""):
    return tuple(Contender(name, 2, 64, 4, 1, cost) for name in methods)


def test_wins_and_ties_are_counted_apart_and_methods_that_never_run_are_told():
    assert wins_table(BOARD).rows == [("dp_gd", 2, 1), (TRIVIAL, 1, 0), ("other_one", 0, 1)]
    assert nowhere_run(BOARD) == [("no", "lacks ε ≤ 1")]
    tied = (["b"], ["a"], ["a", "c", "d"], ["e", "d"], ["z"], ["z"])
    won = wins_table(results([row(128, 1, own) for own in tied])).rows
    assert [name for name, *_ in won] == ["z", "a", "b", "d", "c", "e"]


def test_places_are_counted_first_at_decided_points_alone():
    """The first place is the winner's, which may be the start."""

    def found(rows, name):
        (told,) = places(SimpleNamespace(inputs=SimpleNamespace(boards=[results(rows)])), f"wang2017.{name}")
        return told["places"], told["decided"]

    assert found([*ROWS, replace(ROWS[0], contenders=slow("slow"))], "dp_gd") == ([1, 1, 1, 1], [True, True, True])
    assert found([row(512, 4, [TRIVIAL])], "last") == ([1], [False])


def test_tables_say_who_wins_who_cannot_and_who_refuses():
    text = "\n".join(to_markdown(table) for table in board_tables(BOARD))
    assert winner_text(row(512, 4, ["dp_gd"])) == "dp_gd"
    for words in ("tie: dp_gd, other_one", "not ranked: target law only", "lacks ε ≤ 1", "0.50 [0.10, 0.60]"):
        assert words in text
    assert "Public grid search (not private)" in text and "0.0500 (gd, steps 4)" in text
    assert all(to_csv(table) and to_latex(table) for table in board_tables(BOARD))


def test_every_risk_says_whether_it_is_of_the_sample_or_of_the_population():
    board = results([ROWS[0], replace(ROWS[1], risk_kind="excess population")])
    for table in (table for table in board_tables(board) if table.id in (board.id, f"{board.id}.methods")):
        kinds = {(line["n"], line["risk_kind"]) for line in lines_of(table)}
        assert kinds == {("128", "excess empirical"), ("512", "excess population")}
    figure = collapse_figure(results([replace(one, risk_kind="excess population") for one in ROWS[:3]]))
    assert any("population risk" in axes.get_ylabel() for axes in figure.axes)


UNDECIDED = replace(ROWS[1], contenders=(Contender("app_objp", 2, 128, 4, 1),))
TWO = tuple(Unrun(name, f"bassily2021.{name}", "too_long", "", seconds=232.0) for name in ("noisy_sgd", "noisy_smd"))
LATE = replace(ROWS[0], contenders=slow(*(one.method for one in TWO)), left_out=TWO)
STILL = replace(ROWS[0], methods=tuple(replace(m, at_start=True) for m in ROWS[0].methods))


@pytest.mark.parametrize(
    ("row", "name", "tile"),
    [
        (ROWS[0], "DP-GD", "−50\u2009%"),
        (ROWS[2], "DP-GD", "= 1 more"),
        (ROWS[3], "nothing beats\nthe start", None),
        (replace(ROWS[3], runner_up=None), "none proven\nprivate ran", ""),
        (replace(ROWS[3], runner_up=None, methods=()), "no method\nrun here", ""),
        (STILL, "DP-GD\n≈ the start", None),
        (replace(ROWS[0], margin=math.nan), "DP-GD", ""),
        (UNDECIDED, "DP-GD\nor Approx.\nobjective\nperturbation?", None),
        (LATE, "DP-GD\nor 2 others?", "7 min 44 s"),  # all of them have to run
    ],
)
def test_regions_say_the_winner_and_tiles_its_margin_its_ties_or_what_deciding_takes(row, name, tile):
    assert name_text(row) == name and tile in (None, phases.tile_text(row))


def test_a_name_stands_once_in_its_region_and_lines_are_in_the_order_of_the_noise():
    diagram = Diagram(ROWS[:4])
    told = [[(diagram.at[place].n, diagram.at[place].epsilon) for place in region] for region in diagram.regions]
    assert sorted(map(sorted, told)) == [[(128, 1), (128, 4), (512, 1)], [(512, 4)]]
    corners = [row(128, 1, ["dp_gd"]), row(512, 1, [TRIVIAL]), row(128, 4, [TRIVIAL]), row(512, 4, ["dp_gd"])]
    assert len(Diagram(corners).regions) == 4
    rows = [replace(ROWS[0], epsilon=epsilon, d=d) for epsilon, d in ((1, 4), (1, 64), (0.25, 4), (4, 4))]
    assert Diagram(rows).lines == [(1, 64), (0.25, 4), (1, 4), (4, 4)]
    assert phases.middle([(0, 0), (1, 0), (1, 1), (2, 1), (3, 1), (5, 1)]) == (2.5, 1.5), "the longest line"


def test_an_undecided_point_has_no_winner_no_margin_and_counts_for_nobody():
    won, points, _, methods, _ = board_tables(results([ROWS[0], UNDECIDED]))
    assert won.rows == [("dp_gd", 1, 0)]
    assert "Of the 1 decided points of all instances; 1 more are undecided" in won.note
    text = to_markdown(points)
    assert "undecided; least of those run: dp_gd; contender left out: app_objp" in text and "0.90" not in text
    assert re.findall("[^|,]*of those run", to_markdown(methods)) == [" first of those run"], "of one method alone"
    raw = to_csv(points).splitlines()[-1]
    assert "app_objp" in raw and "0.9" not in raw


def test_figures_have_a_panel_per_instance_and_the_same_bytes():
    ((instance, rows),) = BOARD.by_instance
    assert instance.id == "i" and "at 3 of 4 points, 1 of them ties" in phase_panel(instance.title, rows).title
    with style():
        assert svg_text(board_figure(BOARD)) == svg_text(board_figure(BOARD))


SHARED = [row(128, e, ["dp_gd", "other_one"]) for e in (1, 2)] + [row(128, 4, ["third", "other_one"])]


@pytest.mark.parametrize(
    ("rows", "title", "competing"),
    [
        ([ROWS[0]], "DP-GD has the least mean risk at 1 of 1 point", "; 2 methods compete"),
        ([ROWS[0], ROWS[2]], "DP-GD has the least mean risk at 2 of 2 points, 1 of them ties", "; 2 to 3 methods"),
        ([*SHARED, replace(ROWS[0], contenders=slow("slow"))], "at 2 of 3 points, all ties; 1 undecided", ""),
        ([ROWS[3]], "Nothing beats the start at 1 of 1 point", "; one method runs here"),
        ([UNDECIDED], "No point of 1 is decided", ""),
    ],
)
def test_a_title_counts_first_places_and_ties_and_a_line_who_competes(rows, title, competing):
    """The counts are of the method that it names: another may share more first places than it has alone."""
    panel = phase_panel("t", rows)
    assert panel.title.endswith(title) and competing in panel.line


@pytest.mark.parametrize(
    ("rows", "first", "decided"),
    [(ROWS, "2 methods", "4 decided"), (ROWS[:2], "One method", "2 d"), ([*ROWS[:2], UNDECIDED], "One method", "2 d")],
)
def test_the_header_of_a_board_counts_its_winners(rows, first, decided):
    figure = board_figure(results(rows))
    header = " ".join(figure.texts[0].get_text().split())
    assert first in header and decided in header
    assert figure.legends[0].get_texts()[0].get_text() == "wang2017", "the papers of winners have a colour in the key"


def test_held_out_numbers_stand_beside_what_they_are_held_against():
    first, *others = ROWS[0].methods
    beside = {"trivial": HeldOut(0.693, 0.5), "without_privacy": HeldOut(0.422, 0.808)}
    ranked = replace(first, held_out_loss=0.572, held_out_accuracy=0.7)
    made = replace(ROWS[0], methods=(ranked, *others), held_out=beside)
    _, points, *_ = board_tables(results([made, ROWS[1]]))
    names = ("held_out_loss", "held_out_loss_trivial", "held_out_loss_without_privacy")
    there, without = ([line[name] for name in names] for line in lines_of(points))
    assert [float(number) for number in there] == [0.572, 0.693, 0.422] and not any(without)
    assert type(made).from_json(loads(dumps_pretty(made))) == replace(made, methods=tuple(made.methods))
    shown = "\n".join(screen([made, replace(made, epsilon=4.0)], everything=True))
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    for own in ("trivial solution held out: loss 0.693, accuracy 0.5", "without privacy held out: loss 0.422"):
        assert sum(line.startswith(own) for line in lines) == 1, "once for all on these records"


POINTS = [(256, 8, 1.0), (1024, 8, 0.25), (1024, 8, 1.0), (4096, 8, 0.25), (4096, 8, 1.0), (1024, 32, 0.5)]


def at_ratio(n, d, epsilon, risk):
    methods = tuple(replace(method, risk=risk) if method.ranked else method for method in ROWS[0].methods)
    return replace(ROWS[0], n=n, d=d, epsilon=epsilon, methods=methods, trivial=1.0)


def on_the_law(n, d, epsilon):
    return at_ratio(n, d, epsilon, 3.0 * (n * epsilon / math.sqrt(d)) ** -1.5)


LAW = [on_the_law(*point) for point in POINTS]


def test_a_law_of_the_ratio_is_one_curve_and_undecided_points_say_nothing():
    assert spread(LAW) == pytest.approx(1.0) and phases.spread_text(LAW).startswith("One curve")
    near = [on_the_law(512, 8, 0.6), on_the_law(64, 8, 1.4)]
    assert spread([*LAW, *near]) == pytest.approx(1.0), "within a factor of each other, the slope taken out"
    assert spread([at_ratio(256, 8, 1.0, 0.2), at_ratio(1024, 8, 0.25, 0.3)]) == pytest.approx(1.5)
    assert spread([at_ratio(256, 8, epsilon, 0.1) for epsilon in (1, 1.2, 1.4)]) is None and phases.spread_text([])
    rows = [at_ratio(row.n, row.d, row.epsilon, 0.0) if row.n == 256 else row for row in LAW]
    assert share(rows[0]) == 0.0 and math.isinf(spread(rows))
    off = replace(at_ratio(4096, 8, 0.25, 0.9), contenders=slow("slow"))
    assert spread([*LAW, off]) == pytest.approx(1.0)
    assert spread([*LAW, replace(off, contenders=())]) > 2
    statistical = [at_ratio(n, d, epsilon, math.sqrt(1 / n)) for n, d, epsilon in POINTS]
    assert spread(statistical) > 1.9 and phases.spread_text(statistical).startswith("Not one curve")


def test_the_share_is_of_the_start_and_of_methods_of_proven_privacy():
    assert share(ROWS[0]) == pytest.approx(0.1 / 0.5) and phases.ratio(ROWS[0]) == pytest.approx(128 / 2)
    assert math.isnan(share(replace(ROWS[0], trivial=0.0)))
    first, last, law = ROWS[0].methods
    assert share(replace(ROWS[0], methods=(replace(first, dropped=3), last, law))) == pytest.approx(0.3 / 0.5)


def test_zeros_are_drawn_at_the_foot_and_undecided_points_hollow():
    off = replace(at_ratio(4096, 8, 1.0, 0.1), contenders=slow("slow"))
    assert collapse_figure(results(ROWS[:2])) is None
    with style():
        figure = collapse_figure(results([*ROWS[:3], at_ratio(1024, 8, 1.0, 0.0), off]))
        axes = figure.axes[0]
        points = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
        low, _ = axes.get_ylim()
        assert any(line.get_marker() == "v" and low < line.get_ydata()[0] < 0.05 for line in points)
        assert any(line.get_markerfacecolor() == "white" for line in points)
        assert faults(figure) == []
        many = collapse_figure(results([at_ratio(2**k, 8, 1.0, 0.1) for k in range(3, 14)]))
        assert len({line.get_color() for line in many.axes[0].get_lines()}) == 1 + len(phases.SHADES)


def test_a_tile_is_as_dark_as_its_margin_and_that_of_a_tie_never_dark():
    def blue(row, margin):
        return 1 - phases.tile_colour(replace(row, margin=margin))[2]

    for margin, part in ((math.nan, 0), (-3.0, 0), (0.0, 0), (0.5, 0.5), (1.0, 1), (7.0, 1)):
        alone, tied = (blue(row, margin) / blue(ROWS[0], 1.0) for row in (ROWS[0], ROWS[2]))
        expected = phases.PALEST + part * (1 - phases.PALEST)
        assert (alone, tied) == pytest.approx((expected, min(expected, phases.TIED)))
    assert phases.tile_colour(UNDECIDED) == (1, 1, 1), "no margin is shown"


def test_what_is_left_out_is_told_once_for_alike_points_and_the_hardest_reason_of_what_never_ran():
    def out(*items):
        return tuple(Unrun(name, f"p.{name}", status, reason) for name, status, reason in items)

    first = out(("no", "refused", "lacks a"), ("m", "refused", "r"), ("dp_gd", "refused", "r"))
    second = out(("no", "refused", "lacks b"), ("m", "too_long", "long"), ("s", "incomparable", "i"))
    third = out(("no", "refused", "lacks b"), ("s", "refused", "r"))
    board = results([replace(row, left_out=left) for row, left in zip(ROWS, (first, second, third), strict=False)])
    assert nowhere_run(board) == [("m", "too long here: long"), ("no", "lacks b"), ("s", "bounds another quantity: i")]
    lines = lines_of(board_tables(board)[-1])
    told = [tuple(line[key] for key in ("algorithm", "status", "points", "reason")) for line in lines]
    assert ("p.no", "refused", "all", "lacks a, and alike at 2 more") in told
    assert ("p.m", "too_long", "1 of 3", "long") in told and len(told) == 6
    alike = results([replace(row, left_out=third) for row in ROWS[:2]])
    assert "alike" not in to_csv(board_tables(alike)[-1])


def test_files_have_each_number_of_a_point_and_numbers_stand_to_the_right():
    first, *others = ROWS[0].methods
    held = replace(first, held_out_loss=0.572, held_out_accuracy=0.7)
    cut = replace(ROWS[0], methods=(held, *others), lower_bound_cut=True)
    won, points, _, methods, _ = board_tables(results([cut, *ROWS[1:4]]))
    told = "i,128,4,1,dp_gd,dp_gd,,,2,0.1,excess empirical,0.5,0.1,0.6,1000.0,0.572,,,0.05,0.0,0.5,0.001,True"
    assert to_csv(points).splitlines()[1] == told
    told = "i,128,4,1,wang2017.dp_gd,dp_gd,0.1,excess empirical,0.05,0.2,1000.0,1.0,"
    assert to_csv(methods).splitlines()[1].startswith(told)
    assert "(cut)" in to_markdown(points) and "0.572 (70 %)" in to_markdown(points) and "(70 %)" in to_markdown(methods)
    for table in (points, methods, won):
        for (title, column), cells in zip(table.columns.items(), zip(*table.shown, strict=True), strict=True):
            text = "".join(cells).replace("(cut)", "")
            number = bool(text) and not any(letter.isalpha() and letter not in "ε" for letter in text)
            assert column.numeric == number, title
    winner = points.columns["Winner"]
    assert [bool(winner.link(row)) for row in (*ROWS[:4], UNDECIDED)] == [True, True, False, False, False]
    none = [winner.text(replace(ROWS[3], runner_up=None, **own)) for own in ({}, {"methods": ()})]
    assert "proven" in none[0] and none[1] == "no method was run"


def test_tiles_stand_at_their_sizes_and_a_line_runs_round_each_region():
    """An edge is drawn where one tile of a region has it: two that touch have it in common."""
    with style():
        axes = board_figure(BOARD).axes[0]
    diagram = Diagram(ROWS[:4])
    assert [diagram.at[place].n for place in sorted(diagram.at)] == [128, 128, 512, 512]
    for axis, texts in ((axes.xaxis, ["128", "512"]), (axes.yaxis, ["1", "4"])):
        assert axis.get_ticklocs().tolist() == [0.5, 1.5]
        assert [label.get_text() for label in axis.get_ticklabels()] == texts
    assert (*axes.get_xlim(), *axes.get_ylim()) == (0, 2, 0, 2)
    assert not any(line.get_visible() for line in (*axes.get_xgridlines(), *axes.get_ygridlines()))
    faces = {patch.get_xy(): patch.get_facecolor()[:3] for patch in axes.patches if patch.get_width() == 1}
    assert faces == {place: pytest.approx(phases.tile_colour(row)) for place, row in diagram.at.items()}
    hatched = [(int(one.get_x()), int(one.get_y()), one.get_hatch()) for one in axes.patches if one.get_hatch()]
    assert hatched == [(0, 1, phases.STRIPES[0])]
    expected = set()
    for region in diagram.regions:
        corners = [((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)) for x, y in region]
        edges = Counter(frozenset(pair) for four in corners for pair in zip(four, four[1:] + four[:1], strict=True))
        expected |= {edge for edge, count in edges.items() if count == 1}
    assert {frozenset(map(tuple, line.get_xydata().astype(int))) for line in axes.get_lines()} == expected
