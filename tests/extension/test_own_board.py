"""A leaderboard in one's own file: by the verb, in the plan, in the workflow; what is wrong in it is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_bench.cli.verbs import plan as planning
from dpsco_bench.errors import DpscoError
from dpsco_bench.leaderboard.board import contestants, own_boards

ROOT = Path(__file__).resolve().parents[2]
METHOD, BOARD = "examples/own_method.py", "examples/own_board.yaml"
SMALL = {
    "delta": 1e-6,
    "replicates": 2,
    "methods": ["wang2017.dp_gd_pl"],
    "grids": [{"n": [32], "d": [2], "epsilon": [1]}],
    "instances": [{"id": "ridge", "problem": "ridge_logistic"}],
}


def written(**changes):
    path = Path("mine.yaml")
    path.write_text(json.dumps({**SMALL, **changes}))
    return str(path)


def test_the_example_is_run_by_its_path(dpsco, examples):
    outcome = dpsco("leaderboard", BOARD, "--plugin", METHOD, "--json")
    rows = json.loads(outcome.out)
    assert outcome.code == 0 and [row["instance"] for row in rows] == ["flipped"] * 4 + ["customers"] * 2
    ran = {method["algorithm"] for row in rows for method in row["methods"]}
    assert ran == {"mine.noisy_gd", "wang2017.dp_gd_pl", "wang2017.dp_gd", "wang2017.output_perturbation_zhang17"}
    assert rows[0]["lower_bound"] and rows[-1]["search"]["settings"] == 4
    again = dpsco("leaderboard", BOARD, f"plugins=[{METHOD}]", "--all")
    assert again.err == "" and "dp_gd_20" in again.out, "finished jobs are not run again"
    assert "\nexcess empirical risks: flipped, customers\n" in again.out
    reason = "wang2017.dp_gd_pl on flipped_labels refused"
    assert again.out.count(reason) == 1 and again.out.count("refused (1)") == 4, "a reason stands once, and whole"
    short = dpsco("leaderboard", BOARD, "--plugin", METHOD).out
    for row in rows:
        place = f"{row['instance']}, n = {row['n']}, d = {row['d']}, epsilon = {row['epsilon']:g}:"
        assert (place in short) == (len(row["tied"]) > 1 or bool(row["contenders"]))
        assert all(method in short for method in row["tied"]), "names are whole"


FAILING = """
from dpsco_bench import GaussianQuery, Trait, algorithm, make_plan


@algorithm("mine.failing", source="docs/own.md", needs=(Trait.LIPSCHITZ,))
def plan(given):
    query = GaussianQuery("gradient", 2 * given.constants.lipschitz / given.n, 1, paper_scale=1.0)
    return make_plan(query, gradient_evaluations=given.n, n=given.n)


@plan.run
def run(objective, plan, mechanism):
    return mechanism.release("gradient", objective.mean_gradient(objective.start)).nowhere
"""


def test_a_method_that_fails_is_told_and_the_others_are_ranked(dpsco):
    Path("failing.py").write_text(FAILING)
    board = written(methods=["mine.failing", "wang2017.dp_gd_pl"])
    outcome = dpsco("leaderboard", board, "--plugin", "failing.py", "--json")
    (row,) = json.loads(outcome.out)
    assert outcome.code == 0 and "failing" in outcome.err and "Traceback" not in outcome.err
    assert [method["method"] for method in row["methods"]] == ["dp_gd_pl"]
    assert [(left["method"], left["status"]) for left in row["left_out"]] == [("failing", "failed")]
    shown = dpsco("leaderboard", board, "--plugin", "failing.py").out
    assert "failing failed: algorithm mine.failing: its run failed with AttributeError" in " ".join(shown.split())
    alone = dpsco("leaderboard", written(methods=["mine.failing"]), "--plugin", "failing.py")
    assert alone.code == 2 and "its run failed with AttributeError" in alone.err.splitlines()[-1]


def test_data_beside_a_board_are_found_from_elsewhere(tmp_path, monkeypatch):
    """A path counts from the working directory, or else from the board's folder."""
    monkeypatch.chdir(tmp_path)
    Path("boards").mkdir()
    options = {"path": "my.csv", "label": "y", "clip": 1}
    instances = [{"id": "mine", "problem": "data_file", "problem_options": options}, *SMALL["instances"]]
    board = Path("boards/mine.yaml")
    board.write_text(json.dumps({**SMALL, "instances": instances}))

    def found():
        (made,) = own_boards([board]).values()
        assert made.instances[1].problem_options == {}
        return made.instances[0].problem_options["path"]

    assert found() == "my.csv", "the error of the run names it"
    Path("boards/my.csv").write_text("x,y\n1,0\n2,1\n")
    assert found() == "boards/my.csv"
    Path("my.csv").write_text("x,y\n1,0\n2,1\n")
    assert found() == "my.csv"


def test_it_stands_in_the_plan_beside_those_that_ship(dpsco, monkeypatch):
    from dpsco_bench.leaderboard import board

    monkeypatch.setattr(planning, "profile_claims", lambda profile: [])
    monkeypatch.setattr(board, "board_ids", list)
    file = written()
    stamp = planning.plan_stamp("smoke", [f"boards=[{file}]"])
    plan = planning.make_plan("smoke", [f"boards=[{file}]"])
    assert [entry.id for entry in plan.boards] == ["leaderboard.mine"]
    assert [len(job.cells) for job in plan.boards[0].jobs] == [1]
    written(delta=1e-5)
    assert planning.plan_stamp("smoke", [f"boards=[{file}]"]) != stamp


def test_the_page_shows_the_example_as_it_is():
    assert f"```yaml\n{(ROOT / BOARD).read_text()}```" in (ROOT / "docs" / "choosing.md").read_text()


def test_all_methods_are_one_word(dpsco):
    (board,) = own_boards([written(methods="all")]).values()
    assert {method.name for method in board.methods} == {method.name for method in contestants()}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"colour": "red"}, "mine.yaml: leaderboard.mine: key = 'colour'"),
        ({"delta": "small"}, "delta = 'small': must be a number"),
        ({"methods": []}, "methods = []"),
        ({"methods": ["wang2017.dp_gdd"]}, "mine.yaml: algorithm = 'wang2017.dp_gdd'"),
        ({"instances": [{"id": "x", "problem": "ridge"}]}, "mine.yaml: problem = 'ridge'"),
        ({"instances": [{**SMALL["instances"][0], "lower_bound": "none"}]}, "mine.yaml: bound = 'none'"),
        ({"delta": 2}, "mine.yaml: leaderboard.mine: delta = 2: must be in (0, 1)"),
        ({"replicates": 0}, "mine.yaml: leaderboard.mine: replicates = 0: must be an integer >= 1"),
        ({"data_sets": 0}, "mine.yaml: leaderboard.mine: data_sets = 0: must be an integer >= 1"),
        ({"most_seconds": -5}, "mine.yaml: leaderboard.mine: most_seconds = -5: must be a number > 0"),
        (
            {"grids": [{"n": [64.5], "d": [2], "epsilon": [1]}]},
            "leaderboard.mine, ridge, grid of smoke: n = 64.5: must be an integer >= 1",
        ),
        ({"instances": [{"id": "x"}]}, "instance x: problem = 'missing'"),
        ({"instances": [{"id": "x", "problem": "ridge_logistic", "problem_options": {"rigde": 1}}]}, "'rigde'"),
        ({"grids": [{"n": [32, 16], "epsilon": [1]}]}, "increasing numbers"),
        ({"grids": {"smoke": [{"n": [32], "epsilon": [1]}]}}, "profile = 'ci'"),
        ({"replicates": "many"}, "replicates = "),
        ({"id": "common"}, "one that no other leaderboard has"),
        ({"id": "a/b"}, "letters, digits, - and _"),
    ],
)
def test_what_is_wrong_is_one_line(dpsco, changes, text):
    outcome = dpsco("leaderboard", written(**changes))
    assert outcome.code == 2 and outcome.err.count("\n") == 1 and text in outcome.err, outcome.err


def test_a_board_on_which_every_method_refuses_says_so_with_the_reasons(dpsco):
    board = written(methods=["bassily2021.noisy_sfw", "bassily2021.noisy_sgd"])
    for options in ((), ("--all",)):
        outcome = dpsco("leaderboard", board, *options)
        first, second = outcome.out.splitlines()
        assert outcome.code == 0 and first == "no method ran at any point"
        assert second.startswith("ridge: skipped: n = 32, d = 2, epsilon = 1: no method runs: noisy_sfw: ")
        assert "; noisy_sgd: " in second
    rows = json.loads(dpsco("leaderboard", board, "--json").out)
    assert [row["instance"] for row in rows] == ["ridge"] and "noisy_sgd: " in rows[0]["skipped"]


def test_a_file_that_is_absent_or_no_board_is_one_line(dpsco):
    assert "boards = 'none.yaml': must be a list of existing YAML files" in dpsco("leaderboard", "none.yaml").err
    Path("list.yaml").write_text("- a\n")
    with pytest.raises(DpscoError, match=r"list.yaml: leaderboard = \['a'\]"):
        own_boards(["list.yaml"])


@pytest.mark.slow
def test_snakemake_plans_it_by_its_target(tmp_path, examples):
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "1", "--dry-run"]
    config = ["--config", "profile=smoke", f"plugins={METHOD}", f"boards={BOARD}", "--", "leaderboards/own_board"]
    made = subprocess.run([*command, *config], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    said = made.stdout + made.stderr
    assert made.returncode == 0, said
    assert "rule rank:" in said and "standings/leaderboard.own_board.json" in said and "common" not in said
