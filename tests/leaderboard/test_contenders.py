"""Undecided points: what a limit of time removes, judged where it last ran."""

from dataclasses import replace

from dpsco_bench.leaderboard.standings import Contender, Unrun, contenders, uncompared

from .made_up import ranked, standing


def row(n, risks, left_out=(), tied=("a",), **place):
    """A point's row; a method whose name begins with x is not ranked."""
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


def test_only_time_leaves_a_contender_out():
    gone = [("b", "refused"), ("c", "incomparable"), ("a", "not_run"), ("never", "too_long")]
    assert names(row(384, {"d": 0.1}, gone), SMALL) == []


def test_the_next_smaller_n_where_it_ran_is_looked_at():
    """Not a smaller n where it was the best, not one where it did not run, and no other d."""
    first = row(24, {"d": 0.1})
    gap = row(384, {"a": 0.1}, [("d", "too_long")])
    other = row(1536, {"d": 0.1}, d=2)
    large = row(1536, {"a": 0.1}, [("d", "too_long")])
    assert names(large, first, SMALL, gap, other) == []
    assert names(row(1536, {"a": 0.1}, [("c", "too_long")]), SMALL, gap) == ["c"]


def test_else_the_nearest_point():
    near, far = row(1536, {"d": 0.1}, d=2, tied=("d",)), row(1536, {"a": 1, "b": 2, "c": 3, "d": 4}, d=128)
    point = row(1536, {"a": 0.1}, [("d", "too_long")])
    assert names(point, near, far) == ["d"]
    assert names(point, replace(near, d=1024), far) == []


def test_what_ran_nowhere_was_not_compared():
    gone = [("b", "too_long"), ("never", "too_long"), ("nor", "refused"), ("x", "too_long")]
    point = row(384, {"a": 0.1}, gone)
    assert uncompared(point, [SMALL, point]) == ("never",)
    assert uncompared(point, [point]) == ("b", "never", "x")
