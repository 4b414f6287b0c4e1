"""Single rules of a board: the margin of one replicate, where a name stands, and how far one's own method is behind."""

import math
from types import SimpleNamespace

import numpy as np

from dpsco_bench.execution.jobs import part_of
from dpsco_bench.leaderboard import choose
from dpsco_bench.leaderboard.phases import _middle
from dpsco_bench.leaderboard.standings import compare


def test_one_replicate_bounds_a_margin_from_above_alone():
    assert compare({"a": np.full((1, 1, 1), 0.2), "b": np.ones((1, 1, 1))}, 9.0).margin_ci == (-math.inf, 1.0)


def test_a_name_stands_in_the_longest_line_of_its_region():
    assert _middle([(0, 0), (1, 0), (1, 1), (2, 1), (3, 1), (5, 1)]) == (2.5, 1.5)


def test_ones_own_method_is_held_against_the_best(monkeypatch):
    monkeypatch.setattr(choose, "get_algorithm", lambda id: SimpleNamespace(module=choose.PLUGIN + "own"))

    def own(best, tied):
        given = [("a", 1, best), ("b", 2, 0.6)]
        methods = [
            SimpleNamespace(
                method=name, algorithm=name, place=place, risk=risk, ranked=True, dropped=0, tied=name in tied
            )
            for name, place, risk in given
        ]
        return choose.Choice.own.fget(SimpleNamespace(methods=methods, order=methods, refused=[], tied=tied))[1]

    assert own(0.2, "a").endswith(", 3 times the least risk.") and "times" not in own(0.0, "a")
    assert own(0.5, "ab").endswith(", tied for the least risk.")


def test_a_job_is_of_an_instance_a_group_or_its_own_part():
    given = [("ranking", "ridge+dp_gd", ""), ("ranking", "ridge", ""), ("rate", "n+d", "both"), ("rate", "n+d", "")]
    jobs = [SimpleNamespace(kind=kind, part=part, group=group) for kind, part, group in given]
    assert [*map(part_of, jobs)] == ["ridge", "ridge", "both", "n+d"]
