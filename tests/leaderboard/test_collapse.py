"""Whether points fall on one curve, on made-up standings of a known law."""

import math
from dataclasses import replace

import pytest

from dpsco_bench.leaderboard.phases import collapse_figure, known, ratio, share, spread, spread_text
from dpsco_bench.leaderboard.standings import Contender
from dpsco_bench.report.drawing import style
from tests.leaderboard.test_tables import ROWS, results
from tests.report.legible import faults

POINTS = [(256, 8, 1.0), (1024, 8, 0.25), (1024, 8, 1.0), (4096, 8, 0.25), (4096, 8, 1.0), (1024, 32, 0.5)]


def standing(n, d, epsilon, risk):
    methods = tuple(replace(method, risk=risk) if method.ranked else method for method in ROWS[0].methods)
    return replace(ROWS[0], n=n, d=d, epsilon=epsilon, methods=methods, trivial=1.0)


LAW = [standing(n, d, epsilon, 3.0 * (n * epsilon / math.sqrt(d)) ** -1.5) for n, d, epsilon in POINTS]


def test_a_law_of_the_ratio_is_one_curve_and_undecided_points_say_nothing():
    assert spread(LAW) == pytest.approx(1.0) and spread_text(LAW).startswith("One curve")
    assert spread([standing(256, 8, epsilon, 0.1) for epsilon in (1, 1.2, 1.4)]) is None and spread_text([])
    rows = [standing(row.n, row.d, row.epsilon, 0.0) if row.n == 256 else row for row in LAW]
    assert share(rows[0]) == 0.0 and len(known(rows)) == len(rows) and math.isinf(spread(rows))
    off = replace(standing(4096, 8, 0.25, 0.9), contenders=(Contender("slow", 1, 256, 8, 1.0, "3 h"),))
    assert spread([*LAW, off]) == pytest.approx(1.0)
    assert spread([*LAW, replace(off, contenders=())]) > 2


def test_a_statistical_term_is_seen():
    rows = [standing(n, d, epsilon, math.sqrt(1 / n)) for n, d, epsilon in POINTS]
    assert spread(rows) > 1.9 and spread_text(rows).startswith("Not one curve")


def test_the_share_is_of_the_start_and_of_methods_of_proven_privacy():
    assert share(ROWS[0]) == pytest.approx(0.1 / 0.5) and ratio(ROWS[0]) == pytest.approx(128 / 2)
    assert math.isnan(share(replace(ROWS[0], trivial=0.0)))


def test_zeros_are_drawn_at_the_foot_and_undecided_points_hollow():
    off = replace(standing(4096, 8, 1.0, 0.1), contenders=(Contender("slow", 1, 256, 8, 1.0, "3 h"),))
    assert collapse_figure(results(ROWS[:2])) is None
    with style():
        figure = collapse_figure(results([*ROWS[:3], standing(1024, 8, 1.0, 0.0), off]))
        axes = figure.axes[0]
        points = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
        low, _ = axes.get_ylim()
        assert any(line.get_marker() == "v" and line.get_ydata()[0] > low for line in points)
        assert any(line.get_markerfacecolor() == "white" for line in points)
        assert faults(figure) == []
