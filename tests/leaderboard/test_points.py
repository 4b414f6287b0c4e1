"""One point for all methods: what its keys may be, who runs, which lower bound stands beside it, what is answered."""

import math
import re
from types import SimpleNamespace

import pytest

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.claims.bounds.orders import lower_bound_name
from dpsco_bench.errors import InputError
from dpsco_bench.execution.request import CONSTANT, PROBLEM
from dpsco_bench.leaderboard import choose
from dpsco_bench.leaderboard.board import Board, load_board
from dpsco_bench.leaderboard.choose import candidates, choice_entry, contestants, make_point
from dpsco_bench.leaderboard.standings import Unrun
from dpsco_bench.problems.base import Trait
from dpsco_bench.problems.registry import get_problem

from .made_up import SETTINGS, ranked

BALL = {"problem": "logistic_glm", "domain": "l2_ball", "n": 1000, "d": 5}
CUBE = {"problem": "cube_iid", "p": 2, "n": 200, "d": 5}


def test_every_method_is_run_or_left_out_with_a_line():
    found, left_out = candidates(make_point(BALL).board, SETTINGS)
    names = [one.job.part for one in found] + [item.method for item in left_out]
    assert sorted(names) == sorted(method.name for method in contestants()) and len(set(names)) == len(names)
    assert {method.algorithm for method in contestants()} == set(list_algorithms())
    assert all(item.reason and "\n" not in item.reason for item in left_out)
    assert [one.seconds for one in found] == sorted(one.seconds for one in found)


def test_the_limit_and_the_board_leave_methods_out():
    """The limit is of all methods together."""
    every = [job.seconds[0] for job in choice_entry(make_point(BALL), SETTINGS, math.inf).jobs]
    limit = every[0] + every[1] + every[2]
    for seconds, left in ((limit, 3), (limit * (1 - 1e-9), 2)):
        entry = choice_entry(make_point(BALL), SETTINGS, seconds)
        assert len(entry.jobs) == left and sum(sum(job.seconds) for job in entry.jobs) <= seconds
        assert sum(item.status == "too_long" for item in entry.left_out) == len(every) - left
    long = {item.method: item for item in choice_entry(make_point({**BALL, "n": 10_000}), SETTINGS, 20.0).left_out}
    assert long["noisy_sgd"].status == "too_long" and re.match("about .*1e[+]08 rounds", long["noisy_sgd"].reason)
    _, left_out = candidates(make_point(CUBE).board, SETTINGS)
    (item,) = [item for item in left_out if item.method == "dp_svrg_pp"]
    assert item.status == "refused" and "draws apart" in item.reason


def test_a_risk_of_the_population_gets_a_run_without_noise():
    entry = choice_entry(make_point(CUBE), SETTINGS, 5.0)
    assert [job.calibration for job in entry.jobs].count("none") == 1
    assert Board.of(entry).instances[0].without_privacy.algorithm == "bassily2021.gg_lmo"
    assert all(job.calibration == "accounted" for job in choice_entry(make_point(BALL), SETTINGS, 5.0).jobs)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"problem": "nowhere"}, "problem = 'nowhere'"),
        ({"steps": 3}, "steps = 3: must be a known key of the problem"),
        ({"n": None}, "n is missing"),
        ({"n": 0}, "n = 0"),
        ({"epsilon": -1.0}, "epsilon = -1"),
        ({"domain": "cube"}, "domain = 'cube'"),
        *(({"constants.domain": "l2_ball"}, "constants.domain"), ({"replicates": 0}, "replicates = 0")),
    ],
)
def test_a_wrong_key_is_one_line(changes, text):
    with pytest.raises(InputError, match=text):
        make_point({key: value for key, value in {**BALL, **changes}.items() if value is not None})


def test_the_class_of_a_problem_gives_the_lower_bound_that_the_board_names():
    for instance in load_board("leaderboard.common").instances:
        if instance.problem != "covertype":  # needs its data
            problem = get_problem(instance.problem, None, **instance.problem_options)
            assert lower_bound_name(problem) == instance.lower_bound, instance.id


def test_one_mechanism_under_two_names_is_run_once():
    """Two streams of noise of one law would be two chances to be the best."""
    keys = {"problem": "cube_iid", "n": 512, "d": 8, "epsilon": 1.0, "delta": 1e-6}
    cube, ball = (make_point({**keys, "p": p}, "data").board for p in (1.5, 2.0))
    found, left_out = candidates(cube, SETTINGS)
    assert "lp_exact" in {one.job.part for one in found}
    (same,) = [item for item in left_out if item.method == "reg_exp_mech"]
    assert (same.status, same.reason) == ("not_run", "it is the same mechanism as lp_exact")
    names = [one.job.part for one in candidates(ball, SETTINGS)[0]]
    assert len(names) == len({*names}), "other plans, or other runs, are other mechanisms"


@pytest.mark.parametrize(
    ("traits", "population", "numbers", "name"),
    [
        ("", False, (2.0, "l2_ball", 3.0, 5.0, 0.0), "erm_l2"),
        *(("", False, own, "") for own in ((2.0, "space", 1.0, 0.0, 0.0), (1.0, "l2_ball", 1.0, 2.0, 0.0))),
        ("STRONGLY_CONVEX", False, (2.0, "space", 1.0, 0.0, 0.1), "erm_strongly_convex"),
        ("STRONGLY_CONVEX", True, (2.0, "l2_ball", 3.0, 5.0, 0.1), "sco_strongly_convex"),
        ("STRONGLY_CONVEX", True, (1.0, "l1_ball", 1.0, 2.0, 0.1), ""),
        ("STRONGLY_CONVEX", True, (2.0, "l2_ball", 1.0, 2.0, 0.0), "sco_l2"),
        *(("", True, (p, "lp_ball", 1.0, 2.0, 0.0), name) for p, name in ((1.0, "sco_l1"), (1.5, "sco_p_below_2"))),
        *(("", True, (p, "lp_ball", 1.0, 2.0, 0.0), name) for p, name in ((math.inf, "sco_linf"), (3.0, ""))),
        *(("", True, (2.0, *own, 0.0), "") for own in (("l2_ball", 2, 2), ("l2_ball", 1, 1), ("space", 1, 2))),
    ],
)
def test_lower_bounds_are_named_for_their_class_alone(traits, population, numbers, name):
    keys = ("norm", "domain", "lipschitz", "diameter", "strong_convexity")
    constants = SimpleNamespace(**dict(zip(keys, numbers, strict=True)))
    own = {Trait.CONVEX, Trait.LIPSCHITZ, *([Trait[traits]] if traits else [])}
    problem = SimpleNamespace(constants=constants, properties=own, population=population)
    assert lower_bound_name(problem) == (name and f"leaderboard.{name}")
    for lost in (Trait.CONVEX, Trait.LIPSCHITZ):
        assert lower_bound_name(SimpleNamespace(**{**vars(problem), "properties": own - {lost}})) == ""


def test_constants_and_options_of_a_problem_have_a_prefix_or_none():
    keys = {key: value for key, value in BALL.items() if key != "domain"}
    for constant in ("smoothness", f"{CONSTANT}.smoothness"):
        options = make_point({**keys, f"{PROBLEM}.domain": "l2_ball", constant: 0.5}).options
        assert options == {"domain": "l2_ball", "constants": {"smoothness": 0.5}}


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
        risk, proven, dropped = given if isinstance(given, tuple) else (given, True, 0)
        methods.append(ranked(name, risk, algorithm=name, ranked=proven, dropped=dropped, tied=name in tied))
    order, refused = [method for method in methods if method.ranked], [Unrun("d", "d", "failed", "slipped")]
    choice = SimpleNamespace(methods=methods, order=order, refused=refused, tied=tuple(tied))
    for text, own in zip(choose.Choice.own.fget(choice), [*said, "d: did not run: slipped."], strict=True):
        assert own in text


def test_the_answer_says_how_near_the_start_is_and_who_had_no_time():
    def answer(risk=0.5, tied=("a",), late=0, proven=True, margin=0.5):
        methods = [ranked(name, 2 * risk, ranked=proven) for name in "ab"]
        told = {"trivial": 2.0, "margin": margin, "margin_ci": (0.4, 0.6), "late": [None] * late, "warnings": ()}
        point = SimpleNamespace(problem="logistic_glm", options={"domain": "l2_ball"})
        return choose.Choice.answer.fget(SimpleNamespace(methods=methods, tied=tied, point=point, **told))

    assert answer().startswith("p.a ") and "50 % [40, 60]" in answer() and answer().endswith("next.")
    assert answer(margin=math.nan) == "a alone was run."
    assert answer(tied=("a", "b")).startswith("Tied for the least risk: a, b")
    assert "; 1 other method had" in answer(late=1) and "; 2 other methods had" in answer(late=2)
    for tied in (("a",), ("a", "b")):
        assert "within" not in answer(0.94, tied) and "within 5 %" in answer(0.951, tied)
        assert "within 3 %" in answer(0.97, tied) and "within 1 %" in answer(0.9999, tied)
    assert "trivial" in answer(0.97, (choose.TRIVIAL,)) and "p.a" not in answer(0.97, (choose.TRIVIAL,))
    assert "within" not in answer(0.97, ("a", choose.TRIVIAL)) and answer(proven=False).endswith("proven ran.")


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
