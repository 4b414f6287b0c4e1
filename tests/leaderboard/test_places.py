"""Single rules of a board: the margin of one replicate, where a name stands, and how far one's own method is behind."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.execution.jobs import part_of
from dpsco_bench.leaderboard import choose
from dpsco_bench.leaderboard.standings import Unrun, compare


def test_one_replicate_bounds_a_margin_from_above_alone():
    assert compare({"a": np.full((1, 1, 1), 0.2), "b": np.ones((1, 1, 1))}, 9.0).margin_ci == (-math.inf, 1.0)


@pytest.mark.parametrize(
    ("rows", "tied", "said"),
    [
        ([0.2, 0.6], "a", ["place 1 of 2 of proven privacy, the best", "place 2 of 2 of proven privacy, 3 times the"]),
        ([0.0, 0.6], "a", ["place 1 of 2 of proven privacy, the best", "place 2 of 2 of proven privacy."]),
        ([0.5, 0.6], "ab", [", tied for the least risk.", ", tied for the least risk."]),
        ([1.0, (0.5, False, 0), (4.0, True, 3)], "a", ["place 1 of 2 ", "not proven", "after 3 replicates, 4 times"]),
    ],
)
def test_ones_own_method_is_held_against_the_best_or_says_why_not(monkeypatch, rows, tied, said):
    monkeypatch.setattr(choose, "get_algorithm", lambda id: SimpleNamespace(module=choose.PLUGIN + "own"))
    methods = []
    for name, given in zip("abc", rows, strict=False):
        risk, ranked, dropped = given if isinstance(given, tuple) else (given, True, 0)
        own = {"method": name, "algorithm": name, "risk": risk, "ranked": ranked, "dropped": dropped}
        methods.append(SimpleNamespace(**own, tied=name in tied))
    order, refused = [method for method in methods if method.ranked], [Unrun("d", "d", "failed", "slipped")]
    choice = SimpleNamespace(methods=methods, order=order, refused=refused, tied=tuple(tied))
    for text, own in zip(choose.Choice.own.fget(choice), [*said, "d: did not run: slipped."], strict=True):
        assert own in text


def test_a_job_is_of_an_instance_a_group_or_its_own_part():
    given = [("ranking", "ridge+dp_gd", ""), ("ranking", "ridge", ""), ("rate", "n+d", "both"), ("rate", "n+d", "")]
    jobs = [SimpleNamespace(kind=kind, part=part, group=group) for kind, part, group in given]
    assert [*map(part_of, jobs)] == ["ridge", "ridge", "both", "n+d"]


def test_the_answer_says_how_near_the_start_is_and_who_had_no_time():
    def answer(risk=0.5, tied=("a",), late=0, ranked=True, margin=0.5):
        methods = [SimpleNamespace(method=name, algorithm=f"p.{name}", risk=2 * risk, ranked=ranked) for name in "ab"]
        told = {"trivial": 2.0, "margin": margin, "margin_ci": (0.4, 0.6), "late": [None] * late, "warnings": ()}
        point = SimpleNamespace(problem="logistic_glm", options={"domain": "l2_ball"})
        return choose.Choice.answer.fget(SimpleNamespace(methods=methods, tied=tied, point=point, **told))

    assert answer().startswith("p.a ") and "50 % [40, 60]" in answer() and answer().endswith("next.")
    assert answer(margin=math.nan) == "a alone was run."
    assert answer(tied=("a", "b")).startswith("Tied for the least risk: a, b")
    assert "; 1 other method had" in answer(late=1) and "; 2 other methods had" in answer(late=2)
    for risk, near in ((0.94, None), (0.951, "5"), (0.97, "3"), (0.9999, "1")):
        for text in (answer(risk), answer(risk, ("a", "b"))):
            assert (f"within {near} %" in text) if near else ("within" not in text)
    assert "trivial" in answer(0.97, (choose.TRIVIAL,)) and "p.a" not in answer(0.97, (choose.TRIVIAL,))
    assert "within" not in answer(0.97, ("a", choose.TRIVIAL)) and answer(ranked=False).endswith("proven ran.")


def test_a_cure_is_named_for_what_was_computed_from_the_data():
    def cures(*warnings, **options):
        return choose.cures_of(SimpleNamespace(problem="data_file", options={"domain": "l2_ball", **options}), warnings)

    rows, labels = "rows, computed from the data", "labels, computed from the data"
    assert cures() == cures("rows that are bounded by clip") == [] != cures(domain="none")
    assert cures(rows)[0].endswith(" clip=") and cures(labels)[0].endswith(" label_clip=")
    assert cures(rows, labels)[0].endswith(" clip= and label_clip=")
    assert "positive=" in cures("labels coded as they came")[0]
    assert cures(domain="none") == choose.cures_of(SimpleNamespace(problem="data_file", options={}), ())
    assert not choose.cures_of(SimpleNamespace(problem="ridge_logistic", options={}), ())
