"""Leaderboards: what a file may say, and what becomes of it: jobs, and cells left out with their reason."""

import copy
import json
import math
from contextlib import nullcontext
from dataclasses import replace
from operator import attrgetter
from types import SimpleNamespace

import pytest

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.claims import jobs
from dpsco_bench.claims.jobs import Costs, expected_seconds
from dpsco_bench.claims.plan import SEARCH_MARK
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.predict import predicted_seconds
from dpsco_bench.execution.request import make_cell
from dpsco_bench.leaderboard import board as boards
from dpsco_bench.leaderboard.board import LIMITS, GridPoint, board_plan, parse_board
from dpsco_bench.privacy.plan import make_plan

from .made_up import FILE, REAL, RIDGE, SETTINGS


@pytest.fixture(autouse=True)
def costs_of_the_model(monkeypatch):
    monkeypatch.setattr(jobs, "costs", lambda: Costs({"wang2017.noisy_sgd_bst14": {"row step": 1e-6}}))


SEARCHED = {**RIDGE, "searches": [{"algorithm": "wang2017.dp_gd", "grid": {"steps": [2, 4], "step": [0.1, 1.0]}}]}
LINEAR = {"id": "linear", "title": "l", "problem": "cube_iid", "problem_options": {"p": 2.0}, "signals": [1, 4]}
LINEAR |= {"without_privacy": "bassily2021.gg_lmo"}
BOARD = {
    **FILE,
    "methods": [
        "wang2017.dp_gd_pl",
        {"algorithm": "wang2017.dp_gd", "options": {"steps": 3}},
        "wang2017.dp_gd_nonconvex",
        "bassily2021.noisy_smd",
        "wang2017.noisy_sgd_bst14",
        {"algorithm": "wang2017.dp_gd_pl", "label": "later", "why": "slow"},
    ],
    "grids": {"smoke": [{"n": [64, 128], "d": [3], "epsilon": [1]}, {"n": [64], "d": [3, 4], "epsilon": [1]}]},
    "replicates": {"smoke": 4},
    "most_seconds": {"smoke": 0.012},
    "most_seconds_at_smallest_n": {"smoke": 0.012},
    "instances": [SEARCHED, LINEAR, REAL],
}


def plan(**changes):
    return board_plan(parse_board({**copy.deepcopy(BOARD), **changes}), "smoke", SETTINGS)


def ran(**changes):
    return {(cell.method, cell.n) for job in plan(**changes).jobs for cell in job.cells}


def test_points_are_all_combinations_and_every_method_is_run_or_left_out():
    board, entry = parse_board(BOARD), plan()
    points = [(point.n, point.d, point.epsilon) for point in board.points(board.instances[0], "smoke")]
    assert points == [(64, 3, 1), (128, 3, 1), (64, 4, 1)]
    assert board.points(board.instances[2], "smoke") == [GridPoint(64, 1)]
    found = {(x.instance, x.method): (x.status, x.reason) for x in entry.left_out}
    for name, status, reason in (
        ("noisy_smd", "refused", "lacks an l_p ball"),
        ("dp_gd_nonconvex", "incomparable", "gradient"),
        ("noisy_sgd_bst14", "too_long", ": 4.1e+03 rounds and 4.1e+03 gradients"),
        ("later", "not_run", "slow"),
    ):
        assert found["ridge", name][0] == status and reason in found["ridge", name][1]
    made = {(c.method, c.value) for job in entry.jobs for c in job.cells if not c.method.startswith("real")}
    left = {(f"{x.instance}/{x.method}", x.point) for x in entry.left_out}
    assert not made & left
    names = [m if isinstance(m, str) else m.get("label", m["algorithm"]) for m in BOARD["methods"]]
    expected = {(f"{i}/{n.split('.')[-1]}", float(p)) for i in ("ridge", "linear") for n in names for p in range(3)}
    searched = {(f"ridge/dp_gd#{k}", float(p)) for k in range(4) for p in range(3)}
    assert made | left == expected | searched | {("linear/without_privacy", float(p)) for p in range(3)}


def test_the_smallest_n_of_an_instance_has_a_limit_of_its_own():
    found = ran(most_seconds_at_smallest_n={"smoke": 0.02})
    assert ("ridge/noisy_sgd_bst14", 64) in found and ("ridge/noisy_sgd_bst14", 128) not in found


def test_methods_of_order_n_squared_end_at_the_n_that_is_given(monkeypatch):
    """BST14 has n^2 rounds; gradient descent's rounds grow with the logarithm of n. What is quick runs all the same."""
    seconds = {key: {"smoke": 100} for key in LIMITS}
    small = {**seconds, "quadratic_to": {"smoke": 64}}
    everywhere = {(f"ridge/{name}", n) for name in ("noisy_sgd_bst14", "dp_gd_pl") for n in (64, 128)}
    assert everywhere <= ran(**seconds) and everywhere <= ran(**small)
    monkeypatch.setattr(boards, "QUICK", 0.0)
    assert everywhere <= ran(**seconds) and everywhere - ran(**small) == {("ridge/noisy_sgd_bst14", 128)}


def test_what_alone_leaves_a_point_undecided_runs_on_to_the_n_that_is_given(monkeypatch):
    """Beyond the limit of order n^2 and that of seconds, on its instance and in its profile alone."""
    monkeypatch.setattr(boards, "QUICK", 0.0)
    limits = {"most_seconds": {"smoke": 1e-9}, "quadratic_to": {"smoke": 1}}

    def given(**runs_to):
        own = {profile: {"noisy_sgd_bst14": n} for profile, n in runs_to.items()}
        return {**limits, "instances": [{**SEARCHED, "runs_to": own}, LINEAR, REAL]}

    name, before = "ridge/noisy_sgd_bst14", ran(**given())
    assert (name, 128) not in before
    assert ran(**given(smoke=128)) == before | {(name, 64), (name, 128)}
    assert ran(**given(smoke=127)) == before | {(name, 64)} and ran(**given(full=128)) == before
    left = [{f"{x.instance}/{x.method}" for x in plan(**own).left_out} for own in (given(), given(smoke=128))]
    assert name in left[0] and name not in left[1]


@pytest.mark.parametrize(
    ("count", "quadratic", "unplanned"),
    [
        (lambda n: n ** (5 / 3) * math.log(n), False, ()),
        (lambda n: n**2 / math.log(n), True, ()),
        (lambda n: n ** (5 / 3) * math.log(n), False, (0.5,)),
        (lambda n: 0.1 * n**2, True, (0.5,)),
        (lambda n: 3 * n * math.log(n), False, (0.5, 2.0)),
        (lambda n: n**2, True, (0.5, 2.0)),
    ],
)
def test_neither_a_logarithm_nor_a_refused_size_tips_an_order(monkeypatch, count, quadratic, unplanned):
    def planned(cell, job):
        if cell.n in [share * 4096 for share in unplanned]:
            raise boards.Unfit("refused", "no such size")
        return cell, make_plan(gradient_evaluations=count(cell.n))

    monkeypatch.setattr(boards, "planned", planned)
    cell = Cell(algorithm="wang2017.dp_gd", problem="ridge_logistic", n=4096, epsilon=1.0, delta=1e-5)
    assert boards.is_quadratic(cell, None, planned(cell, None)[1]) == quadratic


def test_a_job_is_a_method_on_an_instance_and_noise_off_runs_and_searches_lie_apart():
    jobs = {(job.part, job.calibration): job for job in plan().jobs}
    assert len(jobs) == len(plan().jobs)
    assert ("linear+without_privacy", "none") in jobs and ("linear+noisy_smd", "accounted") in jobs
    for (part, calibration), job in jobs.items():
        methods = {cell.method.partition(SEARCH_MARK)[0] for cell in job.cells}
        assert methods == {part.removesuffix("+search").replace("+", "/", 1)}
        assert part.endswith("+search") == all(SEARCH_MARK in cell.method for cell in job.cells)
        assert (calibration == "none") == part.endswith("+without_privacy")
        assert [cell.cell for cell in job.cells] == list(range(len(job.cells)))
        assert job.skipped.startswith("data absent") == part.startswith("real+")
    searched = {cell.method for cell in jobs["ridge+dp_gd+search", "accounted"].cells}
    assert searched == {f"ridge/dp_gd{SEARCH_MARK}{setting}" for setting in range(4)}
    assert {cell.signal for cell in jobs["linear+noisy_smd", "accounted"].cells} == {1.0, 4.0}


def test_keys_follow_the_numbers_and_not_the_words_or_predictions(monkeypatch):
    long = {key: {"smoke": 100} for key in LIMITS}
    entry, key = plan(**long), attrgetter("part", "key", "calibration_key")
    named, other = (plan(**long, **own) for own in ({"title": "another"}, {"delta": 1e-6}))
    assert [*map(key, named.jobs)] == [*map(key, entry.jobs)] and named.digest != entry.digest
    assert all(more.key != job.key for more, job in zip(other.jobs, entry.jobs, strict=True))
    monkeypatch.setattr(jobs, "costs", lambda: Costs(dict.fromkeys(list_algorithms(), {"cell": 0.002})))
    cheap = plan(**long)
    assert [*map(key, cheap.jobs)] == [*map(key, entry.jobs)]
    assert [job.seconds for job in cheap.jobs] != [job.seconds for job in entry.jobs]


def test_what_a_method_was_found_to_take_counts(monkeypatch):
    cell = Cell("su2023.kj16", "logistic_glm", 64, 1.0, 1e-5, 3, problem_options={"domain": "l2_ball"})
    plan = cell.plan("accounted", 1)[1]
    assert expected_seconds(cell, plan, 4) == predicted_seconds(cell, plan, 4)
    own = {"su2023.kj16": {"cell": 0.5, "row n": 3.0}}
    families = [{"su2023.kj16": {f"logistic_glm on {ball}": {"row ddd": 2.0}}} for ball in ("l2_ball", "l1_ball")]
    for known, seconds in (
        (Costs(own), 0.5 + 3.0 * 4 * 64),
        (Costs(own, families=families[0]), 2.0 * 4 * 3**3),
        (Costs(own, families=families[1]), 0.5 + 3.0 * 4 * 64),
        (Costs({"su2023.kj16": {"row step dd": 1e-99}}), jobs.CELL_SECONDS),
    ):
        monkeypatch.setattr(jobs, "costs", lambda known=known: known)
        assert expected_seconds(cell, plan, 4) == seconds
        assert expected_seconds(cell, plan, 4, fused=False) == predicted_seconds(cell, plan, 4, fused=False)


GD = {"algorithm": "wang2017.dp_gd"}
SEARCH = {**GD, "grid": {"steps": [2]}}


def ridge(**changes):
    return {"instances": [{**SEARCHED, **changes}]}


WRONG = [
    ({"methods": ["wang2017.dp_gd", "wang2017.dp_gd"]}, "methods = .*distinct names"),
    ({"speed": 3}, "key = 'speed': must be one of id, title"),
    ({"delta": "small"}, "delta = 'small': must be a number"),
    ({"grids": {"quick": [{"n": [1], "epsilon": [1]}]}}, "grids = 'quick': must be one of smoke, ci, full"),
    ({"grids": {"smoke": [{"n": [1]}]}}, "must be a mapping with lists n, epsilon"),
    ({"replicates": {}}, "replicates = 'smoke': must be given"),
    ({"quadratic_to": {"smoke": 0}}, "quadratic_to = 0: must be an integer >= 1"),
    ({"delta": 2, **ridge(id="a/b")}, "delta = 2: .*; .*id = 'a/b'"),  # all at once
    (ridge(signals=[2, 1]), "signals = \\[2, 1\\]: must be increasing"),
    (ridge(id="a/b"), "id = 'a/b': must be letters"),
    (ridge(problem_options={"d": 3}), "problem_options = 'd': must be an option"),
    (ridge(excluded={"x": "y"}), "excluded = 'x': must be a method of the board"),
    (ridge(runs_to={"smoke": {"x": 64}}), "runs_to = 'x': must be a method of the board"),
    (ridge(runs_to={"quick": {"dp_gd": 64}}), "runs_to = 'quick': must be one of smoke, ci, full"),
    (ridge(runs_to={"smoke": {"dp_gd": 0}}), "runs_to, smoke: dp_gd = 0: must be an integer >= 1"),
    *(({"delta": delta}, "delta = ") for delta in (0, 1, -1e-6)),
    *(({"replicates": {"smoke": count}}, "replicates = ") for count in (0, 1.5)),
    *(({key: {"smoke": 0}}, f"{key} = 0: must be a number > 0") for key in LIMITS),
    *(({"grids": {"smoke": [{"n": n, "epsilon": [1]}]}}, "n = ") for n in ([], [0], [2, 1], [2, 2], [1.5], 64)),
    *(({"grids": {"smoke": [{"n": [64], "epsilon": [value]}]}}, "epsilon = ") for value in (0, math.inf, "1")),
    ({"grids": {"smoke": [{"n": [64], "d": [0], "epsilon": [1]}]}}, "d = "),
    *(({"instances": instances}, "instances = ") for instances in ([], [SEARCHED] * 2)),
    ({"methods": [{**GD, "options": [3]}]}, "options = "),
    (ridge(signals=[1, 1]), "signals = "),
    (ridge(searches=[{**SEARCH, "grid": {"steps": 3}}]), "grid = "),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_mistakes_are_named_in_one_line(changes, message):
    with pytest.raises(InputError, match=message):
        parse_board({**copy.deepcopy(BOARD), **changes})


UNKNOWN = [
    ({"methods": ["wang2017.dp_dg"]}, "'wang2017.dp_dg': must be a known one, such as "),
    ({"methods": [{**GD, "options": {"stepz": 3}}]}, "method dp_gd: option = 'stepz'"),
    ({"methods": [{**GD, "variant": "exact"}]}, "method dp_gd: variant = 'exact'"),
    (ridge(searches=[{**SEARCH, "grid": {"stepz": [2]}}]), "instance ridge, dp_gd: option = 'stepz'"),
    (ridge(searches=[{**SEARCH, "beside": [{"steps": "many"}]}]), "instance ridge, dp_gd: steps = 'many'"),
    (ridge(without_privacy={"algorithm": "bassily2021.gg_lmo", "options": {"x": 1}}), "gg_lmo: option = 'x'"),
    (ridge(problem_options={"pp": 1}), "instance ridge: option of problem ridge_logistic = 'pp'"),
    (ridge(problem_options={"constants": {"gradient_rnge": 4.0}}), "instance ridge: problem constant = "),
    (ridge(signals=[1]), "signals of ridge = .*: must be none: ridge_logistic has no free signal"),
]


@pytest.mark.parametrize(("changes", "message"), UNKNOWN, ids=[message for _, message in UNKNOWN])
def test_what_an_algorithm_does_not_have_stops_the_board(changes, message):
    with pytest.raises(InputError, match=message):
        plan(**changes)


def test_values_that_a_method_does_not_take_are_said(capfd):
    method = {**GD, "label": "zero", "options": {"steps": 0}}
    search = {**SEARCH, "grid": {"steps": [0, 2], "step": [0.1]}}
    entry = plan(methods=[method, "wang2017.dp_gd"], instances=[{**SEARCHED, "searches": [search]}])
    said = capfd.readouterr().err
    assert "left out: ridge/zero: steps = 0" in said and "left out: ridge/dp_gd#0: steps = 0" in said
    assert {cell.method for job in entry.jobs for cell in job.cells} >= {"ridge/dp_gd", "ridge/dp_gd#1"}


def test_least_numbers_are_taken_and_what_is_left_out_is_usual():
    file = {key: BOARD[key] for key in ("instances", "grids")} | {"delta": 1 - 1e-9, "most_seconds": 1e-9}
    board = parse_board({**file, "methods": ["wang2017.dp_gd"], "replicates": 1, "data_sets": 1, "id": "a_b"})
    assert board.id == "leaderboard.a_b" and "a b" in board.title and board.most_seconds_at_smallest_n["ci"] == 1e-9
    usual = parse_board({**file, "methods": [GD]}, "x")
    assert (usual.replicates["full"], usual.data_sets["full"], usual.quadratic_to) == (16, 1, {})


def test_settings_of_a_search_are_all_combinations_and_further_ones_with_whole_steps():
    search = {**GD, "grid": {"steps": [2.0, 4], "step": [1.0, 2]}, "options": {"step": 0.5}, "beside": [{"steps": 5}]}
    jobs = plan(methods=["wang2017.dp_gd_pl"], **ridge(searches=[search])).jobs
    (found,) = [job.cells for job in jobs if job.part == "ridge+dp_gd+search"]
    own = [dict(cell.options) for cell in found if cell.value == 0]
    assert own == [{"steps": s, "step": t} for s in (2, 4) for t in (1.0, 2)] + [{"steps": 5, "step": 0.5}]
    assert all(type(one["steps"]) is int for one in own) and type(own[0]["step"]) is float


def test_what_is_too_long_says_the_seconds_of_all_its_signals(monkeypatch):
    monkeypatch.setattr(jobs, "costs", lambda: Costs({"bassily2021.noisy_smd": {"cell": 2.0}}))

    def told(signals, most):
        limits = {key: {"smoke": most} for key in LIMITS}
        left = plan(instances=[{**LINEAR, "signals": signals}], methods=["bassily2021.noisy_smd"], **limits).left_out
        return [item.reason.partition(" on ")[0] for item in left if item.method == "noisy_smd"]

    assert (told([1], 1.99), told([1, 2, 4], 1.99)) == (["about 2.0 s"] * 3, ["about 6.0 s"] * 3)
    assert told([1, 2, 4], 2.0) == [], "the limit is of one signal"


def test_a_board_needs_points_on_some_instance(tmp_path):
    file, elsewhere = tmp_path / "b.yaml", {"full": [{"n": [64], "d": [3], "epsilon": [1]}]}
    made = {**BOARD, "id": "leaderboard.b", "instances": [{**RIDGE, "grids": elsewhere}, LINEAR]}
    settings = replace(SETTINGS, boards=(str(file),))
    file.write_text(json.dumps(made))
    (entry,) = boards.plan_boards("smoke", settings, ["leaderboard.b"])
    assert entry.jobs and all(job.part.startswith("linear+") for job in entry.jobs)
    file.write_text(json.dumps({**made, "instances": made["instances"][:1]}))
    with pytest.raises(InputError, match="^profile = 'smoke': must be one in whose grids"):
        boards.plan_boards("smoke", settings, ["leaderboard.b"])


def test_records_of_ones_own_board_are_found_beside_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "own" / "b.yaml"
    own = {"id": "own", "problem": "data_file", "problem_options": {"path": "a.csv", "label": "y"}}
    file.parent.mkdir()
    file.write_text(json.dumps({**BOARD, "id": "b", "instances": [own]}))
    beside = str(file.with_name("a.csv"))
    for place, found in (("no.csv", "a.csv"), (beside, beside), ("a.csv", "a.csv")):
        (tmp_path / place).write_text("x,y")
        (board,) = boards.own_boards([file]).values()
        assert board.instances[0].problem_options["path"] == found
    with pytest.raises(InputError, match="id in .*b.yaml = 'leaderboard.b'"):
        boards.own_boards([file, file])


def test_more_records_than_a_file_has_are_refused_when_a_board_is_planned(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "0.5,1\n-0.5,-1\n" * 8)
    own = {"path": str(tmp_path / "a.csv"), "label": "y", "clip": 1, "domain": "l2_ball"}
    cell = make_cell("bassily2021.noisy_sgd", "data_file", {**own, "n": 16})
    job = SimpleNamespace(data_root="", calibration="accounted", seed=0)
    for n, refused in ((16, False), (17, True)):
        with pytest.raises(boards.Unfit, match="n = 17") if refused else nullcontext():
            boards.planned(replace(cell, n=n), job)
